// SPDX-License-Identifier: MIT
// HIP's entry points as test_sim_hip*.c call them: by C types, without HIP's headers.
#ifndef HIP_CALLS_H
#define HIP_CALLS_H
#include <stddef.h>
#include <stdint.h>
typedef void *ptr;
typedef struct dim {
    uint32_t x, y, z;
} dim;

int hipInit(unsigned), hipGetLastError(void), hipPeekAtLastError(void);
const char *hipGetErrorName(int), *hipGetErrorString(int);
int hipGetDeviceCount(int *), hipGetDevice(int *), hipSetDevice(int), hipDeviceGet(int *, int);
int hipDeviceGetName(char *, int, int), hipDeviceGetAttribute(int *, int, int);
int hipDeviceTotalMem(size_t *, int), hipGetDeviceProperties(void *, int);
int hipGetDevicePropertiesR0600(void *, int), hipDeviceSynchronize(void);
int hipDeviceGetByPCIBusId(int *, const char *), hipDeviceGetPCIBusId(char *, int, int);

int hipMalloc(ptr *, size_t), hipFree(ptr), hipMallocManaged(ptr *, size_t, unsigned);
int hipHostMalloc(ptr *, size_t, unsigned), hipHostFree(ptr);
int hipMallocPitch(ptr *, size_t *, size_t, size_t), hipMemGetInfo(size_t *, size_t *);
int hipHostRegister(ptr, size_t, unsigned), hipHostUnregister(ptr);
int hipMemGetAddressRange(ptr *, size_t *, const void *);
int hipPointerGetAttributes(void *, const void *);
int hipMallocAsync(ptr *, size_t, ptr), hipFreeAsync(ptr, ptr);
int hipDeviceGetDefaultMemPool(ptr *, int), hipMallocFromPoolAsync(ptr *, size_t, ptr, ptr);

int hipMemcpy(ptr, const void *, size_t, int), hipMemcpyAsync(ptr, const void *, size_t, int, ptr);
int hipMemcpyHtoD(ptr, const void *, size_t), hipMemcpyDtoH(ptr, const void *, size_t);
int hipMemcpyHtoDAsync(ptr, const void *, size_t, ptr);
int hipMemcpyDtoHAsync(ptr, const void *, size_t, ptr);
int hipMemcpy2D(ptr, size_t, const void *, size_t, size_t, size_t, int);
int hipMemset(ptr, int, size_t), hipMemsetAsync(ptr, int, size_t, ptr);
int hipMemsetD16(ptr, unsigned short, size_t), hipMemsetD32(ptr, int, size_t);
int hipMemset2D(ptr, size_t, int, size_t, size_t);
int hipMemcpyToSymbol(const void *, const void *, size_t, size_t, int);
int hipMemcpyFromSymbol(ptr, const void *, size_t, size_t, int);
int hipGetSymbolAddress(ptr *, const void *), hipGetSymbolSize(size_t *, const void *);

int hipStreamCreate(ptr *), hipStreamCreateWithFlags(ptr *, unsigned), hipStreamDestroy(ptr);
int hipStreamSynchronize(ptr), hipStreamQuery(ptr), hipStreamGetFlags(ptr, unsigned *);
int hipStreamWaitEvent(ptr, ptr, unsigned), hipLaunchHostFunc(ptr, void (*)(void *), void *);
int hipStreamAddCallback(ptr, void (*)(void *, int, void *), void *, unsigned);
int hipEventCreate(ptr *), hipEventCreateWithFlags(ptr *, unsigned), hipEventDestroy(ptr);
int hipEventRecord(ptr, ptr), hipEventSynchronize(ptr), hipEventQuery(ptr);
int hipEventElapsedTime(float *, ptr, ptr);

int hipStreamBeginCapture(ptr, int), hipStreamEndCapture(ptr, ptr *);
int hipStreamIsCapturing(ptr, int *), hipThreadExchangeStreamCaptureMode(int *);
int hipGraphInstantiate(ptr *, ptr, ptr *, char *, size_t), hipGraphLaunch(ptr, ptr);
int hipGraphDestroy(ptr), hipGraphExecDestroy(ptr), hipGraphCreate(ptr *, unsigned);
int hipGraphAddKernelNode(ptr *, ptr, const ptr *, size_t, const void *);
int hipGraphAddMemcpyNode1D(ptr *, ptr, const ptr *, size_t, ptr, const void *, size_t, int);
int hipGraphAddMemsetNode(ptr *, ptr, const ptr *, size_t, const void *);
int hipGraphAddEmptyNode(ptr *, ptr, const ptr *, size_t);
int hipGraphAddDependencies(ptr, const ptr *, const ptr *, size_t);
int hipGraphGetNodes(ptr, ptr *, size_t *), hipGraphNodeGetType(ptr, int *);
int hipGraphExecKernelNodeSetParams(ptr, ptr, const void *);

int hipModuleLoad(ptr *, const char *), hipModuleLoadData(ptr *, const void *);
int hipModuleUnload(ptr), hipModuleGetFunction(ptr *, ptr, const char *);
int hipModuleGetGlobal(ptr *, size_t *, ptr, const char *);
int hipModuleLaunchKernel(ptr, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                          ptr, ptr *, ptr *);
int hipModuleLaunchCooperativeKernel(ptr, unsigned, unsigned, unsigned, unsigned, unsigned,
                                     unsigned, unsigned, ptr, ptr *);
int hipFuncGetAttribute(int *, int, ptr);
int hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int *, ptr, int, size_t);
int hipLaunchKernel(const void *, dim, dim, ptr *, size_t, ptr), hipLaunchByPtr(const void *);
int hipConfigureCall(dim, dim, size_t, ptr), hipSetupArgument(const void *, size_t, size_t);
int hipGetFuncBySymbol(ptr *, const void *);
int __hipPushCallConfiguration(dim, dim, size_t, ptr);
int __hipPopCallConfiguration(dim *, dim *, size_t *, ptr *);
ptr *__hipRegisterFatBinary(const void *);
void __hipUnregisterFatBinary(ptr *);
void __hipRegisterFunction(ptr *, const void *, char *, const char *, unsigned, ptr, ptr, dim *,
                           dim *, int *);
void __hipRegisterVar(ptr *, ptr, char *, char *, int, size_t, int, int);
void __hipRegisterManagedVar(ptr, ptr *, ptr, const char *, size_t, unsigned);
void __hipRegisterTexture(ptr *, ptr, char *, char *, int, int, int);

int hipHostGetFlags(unsigned *, ptr), hipDeviceEnablePeerAccess(int, unsigned);
int hipDeviceDisablePeerAccess(int), hipDeviceGetP2PAttribute(int *, int, int, int);
int hipExtGetLinkTypeAndHopCount(int, int, uint32_t *, uint32_t *);
int hipMallocArray(void), hipIpcGetMemHandle(void), hiprtcCompileProgram(void);
int hiprtcVersion(int *, int *);
const char *hiprtcGetErrorString(int), *hipApiName(uint32_t), *hipKernelNameRef(const void *);
const char *hipKernelNameRefByPtr(const void *, ptr);
float __gnu_h2f_ieee(unsigned short);
unsigned short __gnu_f2h_ieee(float);

int hipCtxCreate(ptr *, unsigned, int), hipCtxDestroy(ptr), hipCtxGetDevice(int *);
int hipCtxPopCurrent(ptr *), hipCtxGetCurrent(ptr *);

enum { H2H, H2D, D2H, D2D, BY_ADDRESS };
#endif
