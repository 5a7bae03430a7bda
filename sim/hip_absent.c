// SPDX-License-Identifier: MIT
// Entry points that stand in the table of hip_absent.h: each names itself and returns
// hipErrorNotSupported, or what hiprtc has in its place.  None reads its arguments, so that no
// declaration has to be HIP's.  And the few whose answer is a text.
#include <string.h>
#include "hip.h"
#include "hip_absent.h"
#include "vec_table.h"

static int absent(const char *name, const char *why)
{
    const int unusable = khip_usable();
    return unusable ? unusable : khip_refuse(E_NotSupported, "%s: %s", name, why);
}

#define IMAGES   "the simulator has no texture units and no arrays: use linear memory"
#define GRAPHS   "the simulator has not this function of graphs: capture a stream instead"
#define EXTERNAL "the simulator shares no memory with other interfaces: copy it"
#define GRAPHICS "the simulator draws nothing: copy the memory"
#define IPC      "the simulator's devices are this process's own: use threads instead of processes"
#define MAPPING  "the simulator maps no addresses by hand: use hipMalloc"
#define TRACING  "the simulator calls no tools: KILN_SIM=cost=on prices launches"
#define OTHERS   "the simulator has not this function"
#define RTC      "the simulator has no compiler: compile with hipcc --genco and load the file"

#define REFUSE(name, why)                                                                          \
    KHIP_API int name(void);                                                                       \
    int name(void)                                                                                 \
    {                                                                                              \
        return khip_last(absent(#name, why));                                                      \
    }
#define X(name) REFUSE(name, IMAGES)
KHIP_ABSENT_IMAGES(X)
REFUSE(_Z22hipCreateSurfaceObjectPP13__hip_surfacePK15hipResourceDesc, IMAGES)
REFUSE(_Z23hipDestroySurfaceObjectP13__hip_surface, IMAGES)
#undef X
#define X(name) REFUSE(name, GRAPHS)
KHIP_ABSENT_GRAPHS(X)
#undef X
#define X(name) REFUSE(name, EXTERNAL)
KHIP_ABSENT_EXTERNAL(X)
#undef X
#define X(name) REFUSE(name, GRAPHICS)
KHIP_ABSENT_GRAPHICS(X)
#undef X
#define X(name) REFUSE(name, IPC)
KHIP_ABSENT_IPC(X)
#undef X
#define X(name) REFUSE(name, MAPPING)
KHIP_ABSENT_MAPPING(X)
#undef X
#define X(name) REFUSE(name, TRACING)
KHIP_ABSENT_TRACING(X)
#undef X
#define X(name) REFUSE(name, OTHERS)
KHIP_ABSENT_OTHERS(X)
#undef X

/* ---- hiprtc ---- */

/* hiprtcResult: number, name */
#define RTC_RESULTS(X)                                                                             \
    X(0, "HIPRTC_SUCCESS")                                                                         \
    X(1, "HIPRTC_ERROR_OUT_OF_MEMORY")                                                             \
    X(2, "HIPRTC_ERROR_PROGRAM_CREATION_FAILURE")                                                  \
    X(3, "HIPRTC_ERROR_INVALID_INPUT")                                                             \
    X(4, "HIPRTC_ERROR_INVALID_PROGRAM")                                                           \
    X(5, "HIPRTC_ERROR_INVALID_OPTION")                                                            \
    X(6, "HIPRTC_ERROR_COMPILATION")                                                               \
    X(7, "HIPRTC_ERROR_BUILTIN_OPERATION_FAILURE")                                                 \
    X(8, "HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION")                                     \
    X(9, "HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION")                                       \
    X(10, "HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID")                                                \
    X(11, "HIPRTC_ERROR_INTERNAL_ERROR")                                                           \
    X(100, "HIPRTC_ERROR_LINKING")
enum { RTC_INVALID_INPUT = 3, RTC_INTERNAL_ERROR = 11 };

#define X(name)                                                                                    \
    KHIP_API int name(void);                                                                       \
    int name(void)                                                                                 \
    {                                                                                              \
        absent(#name, RTC);                                                                        \
        return RTC_INTERNAL_ERROR;                                                                 \
    }
KHIP_ABSENT_RTC(X)
#undef X

KHIP_API const char *hiprtcGetErrorString(int code);
const char *hiprtcGetErrorString(int code)
{
    static const struct {
        int number;
        const char *name;
    } row[] = {
#define X(number, name) {number, name},
        RTC_RESULTS(X)
#undef X
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        if (row[i].number == code) return row[i].name;
    return "unknown hiprtcResult";
}

KHIP_API int hiprtcVersion(int *major, int *minor);
int hiprtcVersion(int *major, int *minor)
{
    if (!major || !minor) return RTC_INVALID_INPUT;
    *major = khip_abi();
    *minor = 0;
    return 0;
}

/* ---- those that return texts ---- */

KHIP_API const char *hipApiName(uint32_t id);
KHIP_API const char *hipGetCmdName(unsigned op);
KHIP_API const char *hipKernelNameRef(const void *function);
KHIP_API const char *hipKernelNameRefByPtr(const void *host, void *stream);
KHIP_API void __hipGetPCH(const char **text, unsigned *size);

/* A tracer's numbers, which nothing here gives out. */
const char *hipApiName(uint32_t id)
{
    (void)id;
    return "unknown";
}

const char *hipGetCmdName(unsigned op)
{
    (void)op;
    return "unknown";
}

const char *hipKernelNameRef(const void *function)
{
    return khip_handle_is(function, KHIP_FUNCTION) ? ((const khip_function *)function)->kernel->name
                                                   : NULL;
}

const char *hipKernelNameRefByPtr(const void *host, void *stream)
{
    khip_function *f;
    (void)stream;
    return khip_registered_function(host, &f) ? NULL : f->kernel->name;
}

/* hiprtc's compiled headers */
void __hipGetPCH(const char **text, unsigned *size)
{
    if (text) *text = NULL;
    if (size) *size = 0;
}

/* ---- what older compilers call for _Float16 on the host ---- */

KHIP_API float __gnu_h2f_ieee(unsigned short half);
KHIP_API unsigned short __gnu_f2h_ieee(float value);

float __gnu_h2f_ieee(unsigned short half)
{
    return ks_f16_to_f32(half);
}

unsigned short __gnu_f2h_ieee(float value)
{
    return (unsigned short)ks_f32_to_f16(value);
}
