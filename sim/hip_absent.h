// SPDX-License-Identifier: MIT
// Entry points of HIP and hiprtc that the simulator exports and does not do: programs that name
// them load and run, and who calls one is told (hip_absent.c).  All of ROCm 5.2's library that are
// nowhere else, and those that were added until 6.3.  One that is done moves to its own file, and
// kilnsim.map keeps its line.
#ifndef KS_HIP_ABSENT_H
#define KS_HIP_ABSENT_H
// clang-format off

/* Textures, surfaces, arrays */
#define KHIP_ABSENT_IMAGES(X)                                                                        \
    X(hipArray3DCreate) X(hipArray3DGetDescriptor) X(hipArrayCreate) X(hipArrayDestroy)            \
    X(hipArrayGetDescriptor) X(hipArrayGetInfo) X(hipBindTexture) X(hipBindTexture2D)              \
    X(hipBindTextureToArray) X(hipBindTextureToMipmappedArray) X(hipCreateTextureObject)           \
    X(hipDestroyTextureObject) X(hipDeviceGetTexture1DLinearMaxWidth) X(hipFreeArray)              \
    X(hipFreeMipmappedArray) X(hipGetChannelDesc) X(hipGetMipmappedArrayLevel)                     \
    X(hipGetTextureAlignmentOffset) X(hipGetTextureObjectResourceDesc)                             \
    X(hipGetTextureObjectResourceViewDesc) X(hipGetTextureObjectTextureDesc)                       \
    X(hipGetTextureReference) X(hipMalloc3DArray) X(hipMallocArray) X(hipMallocMipmappedArray)     \
    X(hipMemMapArrayAsync) X(hipMemcpy2DArrayToArray) X(hipMemcpy2DFromArray)                      \
    X(hipMemcpy2DFromArrayAsync) X(hipMemcpy2DFromArrayAsync_spt) X(hipMemcpy2DFromArray_spt)      \
    X(hipMemcpy2DToArray) X(hipMemcpy2DToArrayAsync) X(hipMemcpy2DToArrayAsync_spt)                \
    X(hipMemcpy2DToArray_spt) X(hipMemcpyAtoA) X(hipMemcpyAtoD) X(hipMemcpyAtoH)                   \
    X(hipMemcpyAtoHAsync) X(hipMemcpyDtoA) X(hipMemcpyFromArray) X(hipMemcpyFromArray_spt)         \
    X(hipMemcpyHtoA) X(hipMemcpyHtoAAsync) X(hipMemcpyToArray) X(hipMipmappedArrayCreate)          \
    X(hipMipmappedArrayDestroy) X(hipMipmappedArrayGetLevel) X(hipModuleGetTexRef)                 \
    X(hipTexObjectCreate) X(hipTexObjectDestroy) X(hipTexObjectGetResourceDesc)                    \
    X(hipTexObjectGetResourceViewDesc) X(hipTexObjectGetTextureDesc) X(hipTexRefGetAddress)        \
    X(hipTexRefGetAddressMode) X(hipTexRefGetArray) X(hipTexRefGetBorderColor)                     \
    X(hipTexRefGetFilterMode) X(hipTexRefGetFlags) X(hipTexRefGetFormat)                           \
    X(hipTexRefGetMaxAnisotropy) X(hipTexRefGetMipMappedArray) X(hipTexRefGetMipmapFilterMode)     \
    X(hipTexRefGetMipmapLevelBias) X(hipTexRefGetMipmapLevelClamp) X(hipTexRefSetAddress)          \
    X(hipTexRefSetAddress2D) X(hipTexRefSetAddressMode) X(hipTexRefSetArray)                       \
    X(hipTexRefSetBorderColor) X(hipTexRefSetFilterMode) X(hipTexRefSetFlags)                      \
    X(hipTexRefSetFormat) X(hipTexRefSetMaxAnisotropy) X(hipTexRefSetMipmapFilterMode)             \
    X(hipTexRefSetMipmapLevelBias) X(hipTexRefSetMipmapLevelClamp) X(hipTexRefSetMipmappedArray)   \
    X(hipUnbindTexture)

/* Graphs: all but capture and the commonest nodes */
#define KHIP_ABSENT_GRAPHS(X)                                                                        \
    X(hipDeviceGetGraphMemAttribute) X(hipDeviceGraphMemTrim) X(hipDeviceSetGraphMemAttribute)     \
    X(hipDrvGraphAddMemFreeNode) X(hipDrvGraphAddMemcpyNode) X(hipDrvGraphAddMemsetNode)           \
    X(hipDrvGraphExecMemcpyNodeSetParams) X(hipDrvGraphExecMemsetNodeSetParams)                    \
    X(hipDrvGraphMemcpyNodeGetParams) X(hipDrvGraphMemcpyNodeSetParams)                            \
    X(hipGraphAddChildGraphNode) X(hipGraphAddEventWaitNode) X(hipGraphAddMemAllocNode)            \
    X(hipGraphAddMemFreeNode) X(hipGraphAddMemcpyNodeFromSymbol)                                   \
    X(hipGraphAddMemcpyNodeToSymbol) X(hipGraphAddNode) X(hipGraphChildGraphNodeGetGraph)          \
    X(hipGraphClone) X(hipGraphDebugDotPrint) X(hipGraphDestroyNode)                               \
    X(hipGraphEventRecordNodeGetEvent) X(hipGraphEventRecordNodeSetEvent)                          \
    X(hipGraphEventWaitNodeGetEvent) X(hipGraphEventWaitNodeSetEvent)                              \
    X(hipGraphExecChildGraphNodeSetParams) X(hipGraphExecEventRecordNodeSetEvent)                  \
    X(hipGraphExecEventWaitNodeSetEvent) X(hipGraphExecGetFlags)                                   \
    X(hipGraphExecHostNodeSetParams) X(hipGraphExecMemcpyNodeSetParams)                            \
    X(hipGraphExecMemcpyNodeSetParams1D) X(hipGraphExecMemcpyNodeSetParamsFromSymbol)              \
    X(hipGraphExecMemcpyNodeSetParamsToSymbol) X(hipGraphExecMemsetNodeSetParams)                  \
    X(hipGraphExecNodeSetParams) X(hipGraphExecUpdate) X(hipGraphGetEdges)                         \
    X(hipGraphHostNodeGetParams) X(hipGraphHostNodeSetParams) X(hipGraphInstantiateWithParams)     \
    X(hipGraphKernelNodeCopyAttributes) X(hipGraphKernelNodeGetAttribute)                          \
    X(hipGraphKernelNodeGetParams) X(hipGraphKernelNodeSetAttribute)                               \
    X(hipGraphMemAllocNodeGetParams) X(hipGraphMemFreeNodeGetParams)                               \
    X(hipGraphMemcpyNodeGetParams) X(hipGraphMemcpyNodeSetParams)                                  \
    X(hipGraphMemcpyNodeSetParams1D) X(hipGraphMemcpyNodeSetParamsFromSymbol)                      \
    X(hipGraphMemcpyNodeSetParamsToSymbol) X(hipGraphMemsetNodeGetParams)                          \
    X(hipGraphMemsetNodeSetParams) X(hipGraphNodeFindInClone) X(hipGraphNodeGetDependencies)       \
    X(hipGraphNodeGetDependentNodes) X(hipGraphNodeGetEnabled) X(hipGraphNodeSetEnabled)           \
    X(hipGraphNodeSetParams) X(hipGraphReleaseUserObject) X(hipGraphRemoveDependencies)            \
    X(hipGraphRetainUserObject) X(hipStreamBeginCaptureToGraph) X(hipStreamGetCaptureInfo_v2)      \
    X(hipStreamGetCaptureInfo_v2_spt) X(hipStreamUpdateCaptureDependencies)                        \
    X(hipUserObjectCreate) X(hipUserObjectRelease) X(hipUserObjectRetain)

/* Memory and semaphores of other APIs */
#define KHIP_ABSENT_EXTERNAL(X)                                                                      \
    X(hipDestroyExternalMemory) X(hipDestroyExternalSemaphore)                                     \
    X(hipExternalMemoryGetMappedBuffer) X(hipGraphAddExternalSemaphoresSignalNode)                 \
    X(hipGraphAddExternalSemaphoresWaitNode)                                                       \
    X(hipGraphExecExternalSemaphoresSignalNodeSetParams)                                           \
    X(hipGraphExecExternalSemaphoresWaitNodeSetParams)                                             \
    X(hipGraphExternalSemaphoresSignalNodeGetParams)                                               \
    X(hipGraphExternalSemaphoresSignalNodeSetParams)                                               \
    X(hipGraphExternalSemaphoresWaitNodeGetParams)                                                 \
    X(hipGraphExternalSemaphoresWaitNodeSetParams) X(hipImportExternalMemory)                      \
    X(hipImportExternalSemaphore) X(hipSignalExternalSemaphoresAsync)                              \
    X(hipWaitExternalSemaphoresAsync)

/* OpenGL */
#define KHIP_ABSENT_GRAPHICS(X)                                                                      \
    X(hipGLGetDevices) X(hipGraphicsGLRegisterBuffer) X(hipGraphicsGLRegisterImage)                \
    X(hipGraphicsMapResources) X(hipGraphicsResourceGetMappedPointer)                              \
    X(hipGraphicsSubResourceGetMappedArray) X(hipGraphicsUnmapResources)                           \
    X(hipGraphicsUnregisterResource)

/* Other processes */
#define KHIP_ABSENT_IPC(X)                                                                           \
    X(hipIpcCloseMemHandle) X(hipIpcGetEventHandle) X(hipIpcGetMemHandle)                          \
    X(hipIpcOpenEventHandle) X(hipIpcOpenMemHandle) X(hipMemExportToShareableHandle)               \
    X(hipMemImportFromShareableHandle) X(hipMemPoolExportPointer)                                  \
    X(hipMemPoolExportToShareableHandle) X(hipMemPoolImportFromShareableHandle)                    \
    X(hipMemPoolImportPointer)

/* Virtual memory management */
#define KHIP_ABSENT_MAPPING(X)                                                                       \
    X(hipMemAddressFree) X(hipMemAddressReserve) X(hipMemCreate) X(hipMemGetAccess)                \
    X(hipMemGetAllocationGranularity) X(hipMemGetAllocationPropertiesFromHandle) X(hipMemMap)      \
    X(hipMemRelease) X(hipMemRetainAllocationHandle) X(hipMemSetAccess) X(hipMemUnmap)

/* Profilers */
#define KHIP_ABSENT_TRACING(X)                                                                       \
    X(hipEnableActivityCallback) X(hipInitActivityCallback) X(hipRegisterActivityCallback)         \
    X(hipRegisterApiCallback) X(hipRegisterTracerCallback) X(hipRemoveActivityCallback)            \
    X(hipRemoveApiCallback)

/* Others */
#define KHIP_ABSENT_OTHERS(X)                                                                        \
    X(hipDrvMemcpy2DUnaligned) X(hipDrvMemcpy3D) X(hipDrvMemcpy3DAsync)                            \
    X(hipDrvPointerGetAttributes) X(hipExtLaunchMultiKernelMultiDevice) X(hipExtStreamGetCUMask)   \
    X(hipGetProcAddress) X(hipLaunchCooperativeKernelMultiDevice) X(hipMemRangeGetAttribute)       \
    X(hipMemRangeGetAttributes) X(hipModuleLaunchCooperativeKernelMultiDevice)                     \
    X(hipPointerSetAttribute) X(hipSetValidDevices)

/* The compiler at run time: these return a hiprtcResult */
#define KHIP_ABSENT_RTC(X)                                                                           \
    X(hiprtcAddNameExpression) X(hiprtcCompileProgram) X(hiprtcCreateProgram)                      \
    X(hiprtcDestroyProgram) X(hiprtcGetBitcode) X(hiprtcGetBitcodeSize) X(hiprtcGetCode)           \
    X(hiprtcGetCodeSize) X(hiprtcGetLoweredName) X(hiprtcGetProgramLog)                            \
    X(hiprtcGetProgramLogSize) X(hiprtcLinkAddData) X(hiprtcLinkAddFile) X(hiprtcLinkComplete)     \
    X(hiprtcLinkCreate) X(hiprtcLinkDestroy)
// clang-format on
#endif
