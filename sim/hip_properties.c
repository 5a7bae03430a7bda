// SPDX-License-Identifier: MIT
// hipDeviceProp_t in its two layouts (ROCm to 5.x; 6 and later, "R0600") and hipDeviceGetAttribute.
// Members that a device without textures, managers and PCI has nothing to say of are zero.
#include <stdio.h>
#include <string.h>
#include "hip.h"

enum {
    WARP = 64,
    THREADS_OF_GROUP = 1024,
    GRID_X = 0x7fffffff,
    GRID_YZ = 65536,
    THREADS_OF_UNIT = 2048,
    REGISTERS = 65536, /* of a group, 32-bit */
    PITCH = 0x7fffffff,
    CLOCK64 = 100000,     /* kHz of the counter that s_memrealtime reads */
    ARCH_FLAGS = 0x17fff, /* hipDeviceArch_t's bits 0..14 and 3-D grids (16): all but surfaces,
                             dynamic parallelism */
    PCI_BUS = 0x80,
};

/* ---- the layouts ---- */

typedef struct properties_5 {
    char name[256];
    size_t total_memory, lds;
    int registers, warp, threads, block[3], grid[3], clock, memory_clock, bus;
    size_t constants;
    int major, minor, units, l2, threads_of_unit, compute_mode, clock_instruction;
    unsigned arch;
    int concurrent_kernels, pci_domain, pci_bus, pci_device;
    size_t lds_of_unit;
    int multi_gpu_board, map_host, gcn_number;
    char gcn_name[256];
    int integrated, cooperative, cooperative_multi;
    int texture_1d_linear, texture_1d, texture_2d[2], texture_3d[3];
    unsigned *hdp[2];
    size_t pitch, texture_alignment, texture_pitch_alignment;
    int timeout, ecc, tcc, unmatched[4], large_bar, revision, managed, direct_managed,
        concurrent_managed, pageable, pageable_tables;
} properties_5;

typedef struct properties_6 {
    char name[256], uuid[16], luid[8];
    unsigned luid_mask;
    size_t total_memory, lds;
    int registers, warp;
    size_t pitch;
    int threads, block[3], grid[3], clock;
    size_t constants;
    int major, minor;
    size_t texture_alignment, texture_pitch_alignment;
    int overlap, units, timeout, integrated, map_host, compute_mode;
    int texture_1d[3], texture_2d[2], texture_2d_mipmap[2], texture_2d_linear[3],
        texture_2d_gather[2], texture_3d[3], texture_3d_alternate[3], texture_cube,
        texture_1d_layered[2], texture_2d_layered[3], texture_cube_layered[2];
    int surface_1d, surface_2d[2], surface_3d[3], surface_1d_layered[2], surface_2d_layered[3],
        surface_cube, surface_cube_layered[2];
    size_t surface_alignment;
    int concurrent_kernels, ecc, pci_bus, pci_device, pci_domain, tcc, async_engines,
        unified_addressing, memory_clock, bus, l2, persisting_l2, threads_of_unit, priorities,
        global_l1, local_l1;
    size_t lds_of_unit;
    int registers_of_unit, managed, multi_gpu_board, board_group, host_atomics, double_ratio,
        pageable, concurrent_managed, preemption, registered_pointer, cooperative,
        cooperative_multi;
    size_t lds_opt_in;
    int pageable_tables, direct_managed, groups_of_unit, window;
    size_t lds_reserved;
    int host_register, sparse, host_register_read_only, timeline, pools, rdma;
    unsigned rdma_flush;
    int rdma_order;
    unsigned pool_handles;
    int deferred, ipc_event, cluster, function_pointers, reserved[63], hip_reserved[32];
    char gcn_name[256];
    size_t lds_of_unit_again;
    int clock_instruction;
    unsigned arch;
    unsigned *hdp[2];
    int unmatched[4], large_bar, revision;
} properties_6;
/* Places that programs built against AMD's headers use. */
_Static_assert(offsetof(properties_5, gcn_name) == 396, "5.x layout");
_Static_assert(sizeof(properties_5) == 792, "5.x layout");
_Static_assert(offsetof(properties_6, gcn_name) == 1160, "6.x layout");
_Static_assert(sizeof(properties_6) == 1472, "6.x layout");

/* Members of the same name and meaning in both. */
#define COMMON(p, d, ordinal)                                                                      \
    do {                                                                                           \
        const khip_chip *c_ = (d)->chip;                                                           \
        memset((p), 0, sizeof *(p));                                                               \
        snprintf((p)->name, sizeof(p)->name, "%s", c_->name);                                      \
        snprintf((p)->gcn_name, sizeof(p)->gcn_name, "%s", c_->target);                            \
        (p)->total_memory = khip_total_memory(d);                                                  \
        (p)->lds = (p)->lds_of_unit = KS_MAX_LDS;                                                  \
        (p)->registers = REGISTERS;                                                                \
        (p)->warp = WARP;                                                                          \
        (p)->threads = THREADS_OF_GROUP;                                                           \
        (p)->block[0] = (p)->block[1] = (p)->block[2] = THREADS_OF_GROUP;                          \
        (p)->grid[0] = GRID_X;                                                                     \
        (p)->grid[1] = (p)->grid[2] = GRID_YZ;                                                     \
        (p)->clock = c_->clock;                                                                    \
        (p)->memory_clock = c_->memory_clock;                                                      \
        (p)->bus = c_->bus;                                                                        \
        (p)->constants = 0x7fffffff;                                                               \
        (p)->major = c_->major;                                                                    \
        (p)->minor = c_->minor;                                                                    \
        (p)->units = khip_units(c_);                                                               \
        (p)->l2 = c_->l2;                                                                          \
        (p)->threads_of_unit = THREADS_OF_UNIT;                                                    \
        (p)->clock_instruction = CLOCK64;                                                          \
        (p)->arch = ARCH_FLAGS;                                                                    \
        (p)->concurrent_kernels = (p)->map_host = (p)->cooperative = (p)->ecc = (p)->large_bar =   \
            (p)->managed = 1;                                                                      \
        (p)->concurrent_managed = (p)->direct_managed = 1;                                         \
        (p)->pitch = PITCH;                                                                        \
        (p)->pci_bus = PCI_BUS + (ordinal);                                                        \
    } while (0)

HIP(hipGetDeviceProperties, (properties_5 * p, int device), (p, device))
{
    const khip_device *d = khip_device_of(device);
    if (!p) return E_InvalidValue;
    if (!d) return E_InvalidDevice;
    COMMON(p, d, device);
    p->gcn_number = d->chip->number;
    return 0;
}
HIP_TOO(hipGetDevicePropertiesR0000, hipGetDeviceProperties, (properties_5 * p, int device))

HIP(hipGetDevicePropertiesR0600, (properties_6 * p, int device), (p, device))
{
    const khip_device *d = khip_device_of(device);
    if (!p) return E_InvalidValue;
    if (!d) return E_InvalidDevice;
    COMMON(p, d, device);
    khip_device_uuid(p->uuid, device);
    p->lds_opt_in = p->lds_of_unit_again = KS_MAX_LDS;
    p->registers_of_unit = REGISTERS;
    p->unified_addressing = p->priorities = p->host_register = p->pools = p->registered_pointer = 1;
    p->groups_of_unit = 32;
    return 0;
}

/* The device that has at least what the asked-for properties say: all have the same. */
static int choose(int *device, const void *wanted)
{
    if (!device || !wanted) return E_InvalidValue;
    *device = 0;
    return 0;
}
HIP(hipChooseDevice, (int *device, const void *wanted), (device, wanted))
{
    return choose(device, wanted);
}
HIP_TOO(hipChooseDeviceR0000, hipChooseDevice, (int *device, const void *wanted))
HIP(hipChooseDeviceR0600, (int *device, const void *wanted), (device, wanted))
{
    return choose(device, wanted);
}

/* ---- attributes: hipDeviceAttribute_t's numbers (those of 5.2; later versions only add to them)
 * ---- */

#define ATTRIBUTES(X)                                                                              \
    X(0, 1)                 /* EccEnabled */                                                       \
    X(2, 0)                 /* AsyncEngineCount */                                                 \
    X(3, 1)                 /* CanMapHostMemory */                                                 \
    X(4, 1)                 /* CanUseHostPointerForRegisteredMem */                                \
    X(5, c->clock)          /* ClockRate */                                                        \
    X(6, 0)                 /* ComputeMode */                                                      \
    X(7, 0)                 /* ComputePreemptionSupported */                                       \
    X(8, 1)                 /* ConcurrentKernels */                                                \
    X(9, 1)                 /* ConcurrentManagedAccess */                                          \
    X(10, 1)                /* CooperativeLaunch */                                                \
    X(11, 0)                /* CooperativeMultiDeviceLaunch */                                     \
    X(12, 0)                /* DeviceOverlap */                                                    \
    X(13, 1)                /* DirectManagedMemAccessFromHost */                                   \
    X(14, 1)                /* GlobalL1CacheSupported */                                           \
    X(15, 0)                /* HostNativeAtomicSupported */                                        \
    X(16, 0)                /* Integrated */                                                       \
    X(17, 0)                /* IsMultiGpuBoard */                                                  \
    X(18, 0)                /* KernelExecTimeout */                                                \
    X(19, c->l2)            /* L2CacheSize */                                                      \
    X(20, 1)                /* LocalL1CacheSupported */                                            \
    X(23, c->major)         /* ComputeCapabilityMajor */                                           \
    X(24, 1)                /* ManagedMemory */                                                    \
    X(25, 32)               /* MaxBlocksPerMultiProcessor */                                       \
    X(26, THREADS_OF_GROUP) /* MaxBlockDimX */                                                     \
    X(27, THREADS_OF_GROUP) /* MaxBlockDimY */                                                     \
    X(28, THREADS_OF_GROUP) /* MaxBlockDimZ */                                                     \
    X(29, GRID_X)           /* MaxGridDimX */                                                      \
    X(30, GRID_YZ)          /* MaxGridDimY */                                                      \
    X(31, GRID_YZ)          /* MaxGridDimZ */                                                      \
    X(55, THREADS_OF_GROUP) /* MaxThreadsDim */                                                    \
    X(56, THREADS_OF_GROUP) /* MaxThreadsPerBlock */                                               \
    X(57, THREADS_OF_UNIT)  /* MaxThreadsPerMultiProcessor */                                      \
    X(58, PITCH)            /* MaxPitch */                                                         \
    X(59, c->bus)           /* MemoryBusWidth */                                                   \
    X(60, c->memory_clock)  /* MemoryClockRate */                                                  \
    X(61, c->minor)         /* ComputeCapabilityMinor */                                           \
    X(62, 0)                /* MultiGpuBoardGroupID */                                             \
    X(63, khip_units(c))    /* MultiprocessorCount */                                              \
    X(65, 0)                /* PageableMemoryAccess */                                             \
    X(66, 0)                /* PageableMemoryAccessUsesHostPageTables */                           \
    X(67, PCI_BUS + device) /* PciBusId */                                                         \
    X(68, 0)                /* PciDeviceId */                                                      \
    X(69, 0)                /* PciDomainID */                                                      \
    X(70, 0)                /* PersistingL2CacheMaxSize */                                         \
    X(71, REGISTERS)        /* MaxRegistersPerBlock */                                             \
    X(72, REGISTERS)        /* MaxRegistersPerMultiprocessor */                                    \
    X(73, 0)                /* ReservedSharedMemPerBlock */                                        \
    X(74, KS_MAX_LDS)       /* MaxSharedMemoryPerBlock */                                          \
    X(75, KS_MAX_LDS)       /* SharedMemPerBlockOptin */                                           \
    X(76, KS_MAX_LDS)       /* SharedMemPerMultiprocessor */                                       \
    X(77, 1)                /* SingleToDoublePrecisionPerfRatio */                                 \
    X(78, 1)                /* StreamPrioritiesSupported */                                        \
    X(79, 0)                /* SurfaceAlignment */                                                 \
    X(80, 0)                /* TccDriver */                                                        \
    X(81, 256)              /* TextureAlignment */                                                 \
    X(82, 256)              /* TexturePitchAlignment */                                            \
    X(83, 0x7fffffff)       /* TotalConstantMemory */                                              \
    X(84, memory)           /* TotalGlobalMem */                                                   \
    X(85, 1)                /* UnifiedAddressing */                                                \
    X(87, WARP)             /* WarpSize */                                                         \
    X(88, 1)                /* MemoryPoolsSupported */                                             \
    X(89, 0)                /* VirtualMemoryManagementSupported */                                 \
    X(90, 1)                /* HostRegisterSupported */                                            \
    X(91, 0)                /* MemoryPoolSupportedHandleTypes */                                   \
    X(10000, CLOCK64)       /* ClockInstructionRate */                                             \
    X(10002, KS_MAX_LDS)    /* MaxSharedMemoryPerMultiprocessor */                                 \
    X(10003, c->number)     /* GcnArch */                                                          \
    X(10007, 0)             /* CooperativeMultiDeviceUnmatchedFunc */                              \
    X(10008, 0)             /* CooperativeMultiDeviceUnmatchedGridDim */                           \
    X(10009, 0)             /* CooperativeMultiDeviceUnmatchedBlockDim */                          \
    X(10010, 0)             /* CooperativeMultiDeviceUnmatchedSharedMem */                         \
    X(10011, 1)             /* IsLargeBar */                                                       \
    X(10012, 0)             /* AsicRevision */                                                     \
    X(10013, 1)             /* CanUseStreamWaitValue */                                            \
    X(10014, 0)             /* ImageSupport */                                                     \
    X(10015, khip_units(c)) /* PhysicalMultiProcessorCount */                                      \
    X(10016, 1)             /* FineGrainSupport */                                                 \
    X(10017, CLOCK64)       /* WallClockRate */

HIP(hipDeviceGetAttribute, (int *value, int attribute, int device), (value, attribute, device))
{
    const khip_device *d = khip_device_of(device);
    if (!value) return E_InvalidValue;
    if (!d) return E_InvalidDevice;
    const khip_chip *c = d->chip;
    const uint64_t bytes = khip_total_memory(d);
    const int memory = bytes > INT32_MAX ? INT32_MAX : (int)bytes;
    const struct {
        int number, value;
    } row[] = {
#define X(number, value) {number, value},
        ATTRIBUTES(X)
#undef X
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        if (row[i].number != attribute) continue;
        *value = row[i].value;
        return 0;
    }
    return E_InvalidValue;
}
