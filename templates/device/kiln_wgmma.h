// SPDX-License-Identifier: MIT
// What kernels for Hopper's matrix unit need beyond kiln_cluster.h: tiles by tensor map (TMA), the order
// around wgmma, and how swizzled tiles lie.  C++, sm_90a.  Addresses of shared memory are 32 bits here.
// Instructions: PTX ISA, sections of the same names.
#ifndef KILN_WGMMA_H
#define KILN_WGMMA_H
#include "kiln_cluster.h"
#include "kiln_wgmma_tile.h"

typedef struct __attribute__((aligned(64))) kiln_tensor_map {
    unsigned char opaque[128];
} kiln_tensor_map;

// Two neighbouring elements of a row of E, as a thread holds them of wgmma's result.
struct __attribute__((aligned(8))) kiln_pair {
    float v[2];
};

// The same in every lane of a warp, though the compiler may not see it.
static KILN_DEVICE int kiln_uniform(int x)
{
    return __shfl_sync(0xffffffffu, x, 0);
}
// x of another lane of the warp.
static KILN_DEVICE int kiln_of_lane(int x, int lane)
{
    return __shfl_sync(0xffffffffu, x, lane);
}
// True in one lane of the warp, always the same one; all lanes ask together.  ptxas knows then that one thread is left,
// and issues what it asks of a tensor map without a loop over lanes (elect.sync).
static KILN_DEVICE bool kiln_elect(void)
{
    unsigned elected;
    asm volatile("{\n.reg .pred p;\nelect.sync _|p, 0xffffffff;\nselp.u32 %0, 1, 0, p;\n}" : "=r"(elected));
    return elected != 0;
}
// Does `condition` hold in any lane of the warp?
static KILN_DEVICE bool kiln_any_lane(bool condition)
{
    unsigned any;
    asm volatile("{\n.reg .pred p, q;\nsetp.ne.u32 p, %1, 0;\nvote.sync.any.pred q, p, 0xffffffff;\n"
                 "selp.u32 %0, 1, 0, q;\n}" : "=r"(any) : "r"((unsigned)condition));
    return any != 0;
}
// How many have asked before; of the whole grid.
static KILN_DEVICE unsigned kiln_ticket(unsigned *counter)
{
    unsigned before;
    asm volatile("atom.global.add.u32 %0, [%1], 1;"
                 : "=r"(before) : "l"(__cvta_generic_to_global(counter)) : "memory");
    return before;
}
static KILN_DEVICE void kiln_warp_barrier(void)
{
    asm volatile("bar.warp.sync 0xffffffff;" ::: "memory");
}
// Of `threads` threads of the block; id 1 to 15.
static KILN_DEVICE void kiln_barrier_of(int id, int threads)
{
    asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
static KILN_DEVICE void kiln_barrier_arrive_of(int id, int threads)
{
    asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

/* ---- tiles by tensor map; coordinates in elements, the contiguous dimension first ---- */

static KILN_DEVICE void kiln_tma_prefetch_map(const kiln_tensor_map *map)
{
    asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}
// What lies outside the matrix arrives as zeros, and is counted by the barrier as if it had been there.
static KILN_DEVICE void kiln_tma_load(unsigned to, const kiln_tensor_map *map, int inner, int outer,
                                      int batch, unsigned barrier)
{
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes"
                 " [%0], [%1, {%2, %3, %4}], [%5];"
                 ::"r"(to), "l"(map), "r"(inner), "r"(outer), "r"(batch), "r"(barrier) : "memory");
}
// To the same place of the cluster's blocks in `mask`, and to the same barrier of each.
static KILN_DEVICE void kiln_tma_load_all(unsigned to, const kiln_tensor_map *map, int inner,
                                          int outer, int batch, unsigned barrier, unsigned mask)
{
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
                 " [%0], [%1, {%2, %3, %4}], [%5], %6;"
                 ::"r"(to), "l"(map), "r"(inner), "r"(outer), "r"(batch), "r"(barrier), "h"((unsigned short)mask)
                 : "memory");
}
// Of an operand with planes: four dimensions.
static KILN_DEVICE void kiln_tma_load_plane(unsigned to, const kiln_tensor_map *map, int inner, int outer, int plane,
                                            int batch, unsigned barrier)
{
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes"
                 " [%0], [%1, {%2, %3, %4, %5}], [%6];"
                 ::"r"(to), "l"(map), "r"(inner), "r"(outer), "r"(plane), "r"(batch), "r"(barrier) : "memory");
}
// The same to all of the cluster's blocks in `mask`.
static KILN_DEVICE void kiln_tma_load_plane_all(unsigned to, const kiln_tensor_map *map, int inner, int outer,
                                                int plane, int batch, unsigned barrier, unsigned mask)
{
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
                 " [%0], [%1, {%2, %3, %4, %5}], [%6], %7;"
                 ::"r"(to), "l"(map), "r"(inner), "r"(outer), "r"(plane), "r"(batch), "r"(barrier),
                 "h"((unsigned short)mask) : "memory");
}
// Where a line of the box is several panels, a dimension of their own; each follows the one before.
static KILN_DEVICE void kiln_tma_load_panels(unsigned to, const kiln_tensor_map *map, int inner, int outer, int panel,
                                             int plane, int batch, unsigned barrier)
{
    asm volatile("cp.async.bulk.tensor.5d.shared::cluster.global.mbarrier::complete_tx::bytes"
                 " [%0], [%1, {%2, %3, %4, %5, %6}], [%7];"
                 ::"r"(to), "l"(map), "r"(inner), "r"(outer), "r"(panel), "r"(plane), "r"(batch), "r"(barrier)
                 : "memory");
}
// How long L2 should keep what is loaded: data that is read once goes first.
static KILN_DEVICE unsigned long long kiln_l2_once(void)
{
    unsigned long long policy;
    asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    return policy;
}
static KILN_DEVICE unsigned long long kiln_l2_again(void)
{
    unsigned long long policy;
    asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
    return policy;
}
static KILN_DEVICE void kiln_tma_load_kept(unsigned to, const kiln_tensor_map *map, int inner,
                                           int outer, int batch, unsigned barrier,
                                           unsigned long long policy)
{
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint"
                 " [%0], [%1, {%2, %3, %4}], [%5], %6;"
                 ::"r"(to), "l"(map), "r"(inner), "r"(outer), "r"(batch), "r"(barrier), "l"(policy) : "memory");
}
// Into L2 only.
static KILN_DEVICE void kiln_tma_fetch(const kiln_tensor_map *map, int inner, int outer, int batch)
{
    asm volatile("cp.async.bulk.prefetch.tensor.3d.L2.global [%0, {%1, %2, %3}];"
                 ::"l"(map), "r"(inner), "r"(outer), "r"(batch) : "memory");
}
static KILN_DEVICE void kiln_fetch_line(const void *from)
{
    asm volatile("prefetch.global.L2 [%0];" ::"l"(from));
}
// What lies outside the matrix is not written.
static KILN_DEVICE void kiln_tma_store(const kiln_tensor_map *map, unsigned from, int inner, int outer, int batch)
{
    asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%2, %3, %4}], [%1];"
                 ::"l"(map), "r"(from), "r"(inner), "r"(outer), "r"(batch) : "memory");
}
static KILN_DEVICE void kiln_tma_store_commit(void)
{
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
// Until all but the last `pending` groups of stores have been read from shared memory.
template <int pending> static KILN_DEVICE void kiln_tma_store_wait(void)
{
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(pending) : "memory");
}
// Ordinary accesses of this thread to shared memory come before those of the copy engine and of wgmma.
static KILN_DEVICE void kiln_async_fence(void)
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/* ---- copies by single threads ---- */

// The first `bytes` of `width` (4, 8 or 16) from global to shared memory, and zeros in place of the others, which are
// not read; both begin at multiples of `width`.  Asynchronous.
template <int width> static KILN_DEVICE void kiln_copy(unsigned to, const void *from, unsigned bytes)
{
    const unsigned long long at = __cvta_generic_to_global(from);
    if (width == 16) // past the first-level cache
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(at), "r"(bytes) : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;"
                     ::"r"(to), "l"(at), "n"(width == 16 ? 4 : width), "r"(bytes) : "memory");
}
static KILN_DEVICE void kiln_copy_whole(unsigned to, const void *from) // 16 bytes
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(__cvta_generic_to_global(from)) : "memory");
}
// All of 4 or 8, or as many zeros: one instruction, where kiln_copy takes five.
template <int width> static KILN_DEVICE void kiln_copy_or_zero(unsigned to, const void *from, bool copied)
{
    asm volatile("{.reg .pred p; setp.eq.u32 p, %3, 0; cp.async.ca.shared.global [%0], [%1], %2, p;}"
                 ::"r"(to), "l"(__cvta_generic_to_global(from)), "n"(width), "r"((unsigned)copied) : "memory");
}
// at += far, as one addition: of many that follow the compiler makes a multiplication each.
template <class T> static KILN_DEVICE void kiln_further(T &at, long long far)
{
    asm("add.s64 %0, %0, %1;" : "+l"(at) : "l"(far));
}
static KILN_DEVICE void kiln_copy_commit(void)
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}
// The line of 128 bytes that `from` is in, as far as L2.
static KILN_DEVICE void kiln_prefetch(const void *from)
{
    asm volatile("prefetch.global.L2 [%0];" ::"l"(__cvta_generic_to_global(from)));
}
// Until all but this thread's last `pending` groups of copies are there: for itself, and behind a barrier for others.
template <int pending> static KILN_DEVICE void kiln_copy_wait(void)
{
    asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
}
// Arrives at `barrier` when this thread's copies so far are there.
static KILN_DEVICE void kiln_copy_arrive(unsigned barrier)
{
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(barrier) : "memory");
}
// x of the next lane; of the warp's last one its own.
static KILN_DEVICE unsigned kiln_next_lane(unsigned x)
{
    return __shfl_down_sync(0xffffffffu, x, 1);
}
// 32 bits of high:low, from bit `from` on, 0 to 31.
static KILN_DEVICE unsigned kiln_funnel(unsigned low, unsigned high, unsigned from)
{
    unsigned word;
    asm("shf.r.wrap.b32 %0, %1, %2, %3;" : "=r"(word) : "r"(low), "r"(high), "r"(from));
    return word;
}

/* ---- programmatic dependent launch ---- */

// Until the kernels ahead in the stream have ended and what they wrote can be seen.
static KILN_DEVICE void kiln_grid_wait(void)
{
    asm volatile("griddepcontrol.wait;" ::: "memory");
}
// The kernel behind may start.
static KILN_DEVICE void kiln_grid_release(void)
{
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

/* ---- wgmma ---- */

// x is in its register here, though the compiler does not see what reads or changes it; `in_order`: between other
// accesses of memory.
static KILN_DEVICE void kiln_keep(float &x)
{
    asm volatile("" : "+f"(x));
}
static KILN_DEVICE void kiln_keep(int &x)
{
    asm volatile("" : "+r"(x));
}
static KILN_DEVICE void kiln_keep(const char *&x)
{
    asm volatile("" : "+l"(x));
}
static KILN_DEVICE void kiln_keep_in_order(float &x)
{
    asm volatile("" : "+f"(x)::"memory");
}
static KILN_DEVICE void kiln_keep_in_order(int &x)
{
    asm volatile("" : "+r"(x)::"memory");
}
static KILN_DEVICE void kiln_keep4(unsigned (&x)[4])
{
    asm volatile("" : "+r"(x[0]), "+r"(x[1]), "+r"(x[2]), "+r"(x[3]));
}

// x, of which the compiler must not know how it came about: it would work it out each time anew.
static KILN_DEVICE unsigned kiln_hidden(unsigned x)
{
    asm volatile("" : "+r"(x));
    return x;
}

// kiln_thread(), read anew: the compiler keeps nothing that comes of it.
static KILN_DEVICE unsigned kiln_thread_anew(void)
{
    unsigned x;
    asm volatile("mov.u32 %0, %%tid.x;" : "=r"(x));
    return x;
}

// What stands behind it begins when x, which is not negative, is there.  ptxas moves waits for wgmma ahead of all that
// does not branch: a softmax that was to run beside products would run behind them.
static KILN_DEVICE void kiln_behind(float x)
{
    asm volatile("{\n.reg .pred p;\nsetp.lt.f32 p, %0, 0f00000000;\n@p nanosleep.u32 0;\n}" ::"f"(x) : "memory");
}

static KILN_DEVICE void kiln_wgmma_fence(void)
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
static KILN_DEVICE void kiln_wgmma_commit(void)
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int pending> static KILN_DEVICE void kiln_wgmma_wait(void)
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
}
// Registers of each thread of a warpgroup, a multiple of 8.
template <int count> static KILN_DEVICE void kiln_give_registers(void)
{
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(count));
}
template <int count> static KILN_DEVICE void kiln_take_registers(void)
{
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(count));
}

// Where byte `byte` of row `row` lies in a box with rows of `inner` bytes, as TMA swizzles by that many: from a
// multiple of 1024 bytes on.
template <int inner> static KILN_DEVICE int kiln_swizzled(int row, int byte)
{
    const int chunk = inner == 128 ? row & 7 : inner == 64 ? row >> 1 & 3 : inner == 32 ? row >> 2 & 1 : 0;
    return row * inner + (byte ^ chunk << 4);
}

// Four 8x8 matrices of 16-bit elements, each lane one row's address.
static KILN_DEVICE void kiln_stmatrix4(unsigned address, unsigned w0, unsigned w1, unsigned w2, unsigned w3)
{
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};"
                 ::"r"(address), "r"(w0), "r"(w1), "r"(w2), "r"(w3) : "memory");
}
// Two of them: the lanes from 16 on give no addresses.
static KILN_DEVICE void kiln_stmatrix2(unsigned address, unsigned w0, unsigned w1)
{
    asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};"
                 ::"r"(address), "r"(w0), "r"(w1) : "memory");
}
// The same of matrices whose columns the addresses are.
static KILN_DEVICE void kiln_stmatrix4_turned(unsigned address, unsigned w0, unsigned w1, unsigned w2, unsigned w3)
{
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};"
                 ::"r"(address), "r"(w0), "r"(w1), "r"(w2), "r"(w3) : "memory");
}
static KILN_DEVICE void kiln_stmatrix2_turned(unsigned address, unsigned w0, unsigned w1)
{
    asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};"
                 ::"r"(address), "r"(w0), "r"(w1) : "memory");
}
// Four matrices the other way; a row's 16 bytes may be elements of any size.
static KILN_DEVICE void kiln_ldmatrix4(unsigned (&w)[4], unsigned address)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3]) : "r"(address) : "memory");
}
static KILN_DEVICE void kiln_ldmatrix4_turned(unsigned (&w)[4], unsigned address)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3]) : "r"(address) : "memory");
}

/* ---- mma, of one warp ---- */

// sum += 16 rows of x by 16 along K times 8 columns of y, both in registers: a lane's are rows lane / 4 and 8 more by
// K 2 * (lane % 4) and 8 more, two neighbours each, and column lane / 4 by the same K; its sums' rows are as x's, the
// columns 2 * (lane % 4) and the next.  Of bytes 32 along K: four neighbours each, at 4 * (lane % 4) and 16 more.
#define KILN_MMA(name, shape, number, constraint)                                                  \
    static KILN_DEVICE void kiln_mma_##name(number *sum, const unsigned (&x)[4], unsigned y0,      \
                                            unsigned y1)                                           \
    {                                                                                              \
        asm("mma.sync.aligned." shape " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9},"             \
            " {%0, %1, %2, %3};"                                                                   \
            : constraint(sum[0]), constraint(sum[1]), constraint(sum[2]), constraint(sum[3])       \
            : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y0), "r"(y1));                       \
    }
KILN_MMA(bf16, "m16n8k16.row.col.f32.bf16.bf16.f32", float, "+f")
KILN_MMA(f16, "m16n8k16.row.col.f32.f16.f16.f32", float, "+f")
KILN_MMA(i8_i8, "m16n8k32.row.col.s32.s8.s8.s32", int, "+r")
KILN_MMA(i8_u8, "m16n8k32.row.col.s32.s8.u8.s32", int, "+r")
KILN_MMA(u8_i8, "m16n8k32.row.col.s32.u8.s8.s32", int, "+r")
KILN_MMA(u8_u8, "m16n8k32.row.col.s32.u8.u8.s32", int, "+r")
#undef KILN_MMA

/* ---- two at once ---- */

static KILN_DEVICE unsigned kiln_f16_pair(float low, float high)
{
    unsigned w;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(w) : "f"(high), "f"(low));
    return w;
}
static KILN_DEVICE unsigned kiln_bf16_pair(float low, float high)
{
    unsigned w;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(w) : "f"(high), "f"(low));
    return w;
}

// Bytes 0 and 2 in the low half, 1 and 3 in the high one.
static KILN_DEVICE unsigned kiln_even_odd(unsigned w)
{
    unsigned x;
    asm("prmt.b32 %0, %1, 0, 0x3120;" : "=r"(x) : "r"(w));
    return x;
}
// Two bytes, the low half of w, as two 16-bit numbers: exact.
// i8: 1024 + 128 + x has x in f16's last places, and -(128 + (x & 127)) in bf16's; where x is below 0, its
// sign doubles that, and half of it is 256 too far.  Bytes and masks take the integer pipe's half speed, so the factor
// is made by a multiplication.  `upper`: 0x64 for f16, 0xc3 for bf16, the upper byte of 1024 and -128.
static KILN_DEVICE unsigned kiln_i8_to_f16_pair(unsigned w, unsigned upper)
{
    unsigned x;
    asm("{\n.reg .b32 u;\nprmt.b32 u, %1, %3, 0x4140;\nsub.rn.f16x2 %0, u, %2;\n}"
        : "=r"(x) : "r"(w ^ 0x8080u), "r"(0x64806480u), "r"(upper));
    return x;
}
// `minus`: -1, of which the compiler must not know.
static KILN_DEVICE unsigned kiln_i8_to_bf16_pair(unsigned w, unsigned upper, unsigned minus)
{
    unsigned u, x;
    asm("prmt.b32 %0, %1, %2, 0x4140;" : "=r"(u) : "r"(w), "r"(upper));
    const unsigned less = u & 0xff80ff80u;              // -128 or -256; then
    const unsigned factor = less * minus + 0x82818280u; // -1 or -0.5
    asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(x) : "r"(u), "r"(factor), "r"(less));
    return x;
}
static KILN_DEVICE unsigned kiln_f8e4m3_to_f16_pair(unsigned w)
{
    unsigned x;
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(x) : "h"((unsigned short)w));
    return x;
}
static KILN_DEVICE unsigned kiln_f8e5m2_to_f16_pair(unsigned w)
{
    unsigned x; // the upper half of f16
    asm("prmt.b32 %0, %1, 0, 0x1404;" : "=r"(x) : "r"(w));
    return x;
}
static KILN_DEVICE unsigned kiln_f16_to_bf16_pair(unsigned w)
{
    float low, high;
    asm("{\n.reg .b16 l, h;\nmov.b32 {l, h}, %2;\ncvt.f32.f16 %0, l;\ncvt.f32.f16 %1, h;\n}"
        : "=f"(low), "=f"(high) : "r"(w));
    return kiln_bf16_pair(low, high);
}
static KILN_DEVICE unsigned kiln_f8e4m3_to_bf16_pair(unsigned w)
{
    return kiln_f16_to_bf16_pair(kiln_f8e4m3_to_f16_pair(w));
}
static KILN_DEVICE unsigned kiln_f8e5m2_to_bf16_pair(unsigned w)
{
    return kiln_f16_to_bf16_pair(kiln_f8e5m2_to_f16_pair(w));
}

// Four bytes: the low two, and the high two.
static KILN_DEVICE void kiln_f8e4m3_to_f16_pairs(unsigned w, unsigned &low, unsigned &high)
{
    asm("{\n.reg .b16 l, h;\nmov.b32 {l, h}, %2;\ncvt.rn.f16x2.e4m3x2 %0, l;\ncvt.rn.f16x2.e4m3x2 %1, h;\n}"
        : "=r"(low), "=r"(high) : "r"(w));
}
static KILN_DEVICE void kiln_f8e5m2_to_f16_pairs(unsigned w, unsigned &low, unsigned &high)
{
    asm("prmt.b32 %0, %2, 0, 0x1404;\nprmt.b32 %1, %2, 0, 0x3424;" : "=&r"(low), "=r"(high) : "r"(w));
}
static KILN_DEVICE void kiln_f8e4m3_to_bf16_pairs(unsigned w, unsigned &low, unsigned &high)
{
    kiln_f8e4m3_to_f16_pairs(w, low, high);
    low = kiln_f16_to_bf16_pair(low), high = kiln_f16_to_bf16_pair(high);
}
static KILN_DEVICE void kiln_f8e5m2_to_bf16_pairs(unsigned w, unsigned &low, unsigned &high)
{
    kiln_f8e5m2_to_f16_pairs(w, low, high);
    low = kiln_f16_to_bf16_pair(low), high = kiln_f16_to_bf16_pair(high);
}

/* ---- four elements of 4 bits, the low half of w, as bytes ---- */
static KILN_DEVICE unsigned kiln_u4_to_i8_four(unsigned w)
{
    unsigned x; // bytes 0 and 1, with zeros above each
    asm("prmt.b32 %0, %1, 0, 0x4140;" : "=r"(x) : "r"(w));
    return (x & 0x000f000fu) | (x << 4 & 0x0f000f00u);
}
static KILN_DEVICE unsigned kiln_i4_to_i8_four(unsigned w)
{
    const unsigned x = kiln_u4_to_i8_four(w);
    return (x & 0x08080808u) * 0x1e + x; // 16 ones above a sign
}
// 16 times themselves, in two instructions less.
static KILN_DEVICE unsigned kiln_i4_to_i8_four_times_16(unsigned w)
{
    unsigned x; // bytes 0 and 1, each twice
    asm("prmt.b32 %0, %1, 0, 0x1100;" : "=r"(x) : "r"(w));
    return (x & 0xf000f000u) | (x << 4 & 0x00f000f0u);
}

/* ---- two elements of 4 bits ---- */

// Those in a byte of w, as two 16-bit numbers that are 128 (bf16) or 1024 (f16) too large, of i4 8 more: they are
// the last places of a number whose last place is 1 (Kim et al., "Who Says Elephants Can't Run", 2022).  `byte`:
// KILN_FIRST_BYTE and its number.  `spread`: 0x1001, hidden: it puts the second element 16 bits above the first, and of
// a constant shifts would be made, in another pipe.
enum { KILN_FIRST_BYTE = 0x4440 }; // of a word, with zeros above it, as prmt selects it
#define KILN_NEAR_PAIR(from, to, last)                                                             \
    static KILN_DEVICE unsigned kiln_##from##_near_##to##_pair(unsigned w, unsigned byte,          \
                                                               unsigned spread)                    \
    {                                                                                              \
        unsigned x, y;                                                                             \
        asm("prmt.b32 %0, %1, 0, %2;" : "=r"(x) : "r"(w), "r"(byte));                              \
        asm("lop3.b32 %0, %1, 0x000f000f, " last ", 0x6a;" : "=r"(y) : "r"(x * spread));           \
        return y; /* (x & ..) ^ last */                                                            \
    }
KILN_NEAR_PAIR(u4, bf16, "0x43004300")
KILN_NEAR_PAIR(i4, bf16, "0x43084308")
KILN_NEAR_PAIR(u4, f16, "0x64006400")
KILN_NEAR_PAIR(i4, f16, "0x64086408")
#undef KILN_NEAR_PAIR
// The same in one instruction less, askew: the second element stays four bits above where the first one is.  In f16's
// last places it is 16 times itself there; bf16 has no four places more, but its least numbers are its last 8 bits
// times 2^-133, also where the eighth is an exponent's.  `byte`: KILN_BYTE_TWICE and 0x101 times its number.
enum { KILN_BYTE_TWICE = 0x4040 };
#define KILN_SKEW_PAIR(from, to, last)                                                             \
    static KILN_DEVICE unsigned kiln_##from##_skew_##to##_pair(unsigned w, unsigned byte)          \
    {                                                                                              \
        unsigned x, y;                                                                             \
        asm("prmt.b32 %0, %1, 0, %2;" : "=r"(x) : "r"(w), "r"(byte));                              \
        asm("lop3.b32 %0, %1, 0x00f0000f, " last ", 0x6a;" : "=r"(y) : "r"(x));                    \
        return y; /* (x & ..) ^ last */                                                            \
    }
KILN_SKEW_PAIR(u4, bf16, "0x00004300")
KILN_SKEW_PAIR(i4, bf16, "0x00804308")
KILN_SKEW_PAIR(u4, f16, "0x64006400")
KILN_SKEW_PAIR(i4, f16, "0x64806408")
#undef KILN_SKEW_PAIR
// Such a pair times what makes them numbers, plus y: the first element is 128 or 1024 too large, i4 8 more, and the
// second, of bf16, a quarter of itself, of f16 64 too large, of i4 8 more ahead of that.
#define KILN_STRAIGHTEN(type, by)                                                                  \
    static KILN_DEVICE unsigned kiln_##type##_straighten(unsigned x, unsigned y)                   \
    {                                                                                              \
        unsigned z;                                                                                \
        asm("fma.rn." #type "x2 %0, %1, %2, %3;" : "=r"(z) : "r"(x), "r"(by), "r"(y));             \
        return z;                                                                                  \
    }
KILN_STRAIGHTEN(bf16, 0x7f003f80u) // 1, 2^127
KILN_STRAIGHTEN(f16, 0x2c003c00u)  // 1, 1 / 16
#undef KILN_STRAIGHTEN
// Element by element, rounded once.
#define KILN_PAIRS(type, name, operation)                                                          \
    static KILN_DEVICE unsigned kiln_##type##_pairs_##name(unsigned x, unsigned y)                 \
    {                                                                                              \
        unsigned z;                                                                                \
        asm(operation ".rn." #type "x2 %0, %1, %2;" : "=r"(z) : "r"(x), "r"(y));                   \
        return z;                                                                                  \
    }
KILN_PAIRS(bf16, plus, "add")
KILN_PAIRS(bf16, less, "sub")
KILN_PAIRS(bf16, times, "mul")
KILN_PAIRS(f16, plus, "add")
KILN_PAIRS(f16, less, "sub")
KILN_PAIRS(f16, times, "mul")
#undef KILN_PAIRS
#define KILN_PAIRS_FMA(type)                                                                       \
    static KILN_DEVICE unsigned kiln_##type##_pairs_fma(unsigned x, unsigned y, unsigned z)        \
    {                                                                                              \
        unsigned w;                                                                                \
        asm("fma.rn." #type "x2 %0, %1, %2, %3;" : "=r"(w) : "r"(x), "r"(y), "r"(z));              \
        return w;                                                                                  \
    }
KILN_PAIRS_FMA(bf16)
KILN_PAIRS_FMA(f16)
#undef KILN_PAIRS_FMA
static KILN_DEVICE unsigned kiln_low_twice(unsigned x)
{
    unsigned y;
    asm("prmt.b32 %0, %1, 0, 0x1010;" : "=r"(y) : "r"(x));
    return y;
}
static KILN_DEVICE unsigned kiln_high_twice(unsigned x)
{
    unsigned y;
    asm("prmt.b32 %0, %1, 0, 0x3232;" : "=r"(y) : "r"(x));
    return y;
}
// The low halves of x and y, and the high ones.
static KILN_DEVICE unsigned kiln_low_halves(unsigned x, unsigned y)
{
    unsigned z;
    asm("prmt.b32 %0, %1, %2, 0x5410;" : "=r"(z) : "r"(x), "r"(y));
    return z;
}
static KILN_DEVICE unsigned kiln_high_halves(unsigned x, unsigned y)
{
    unsigned z;
    asm("prmt.b32 %0, %1, %2, 0x7632;" : "=r"(z) : "r"(x), "r"(y));
    return z;
}
// x of lane `i` of this one's four neighbours, i a constant.
static KILN_DEVICE unsigned kiln_of_four(unsigned x, int i)
{
    unsigned y;
    asm volatile("shfl.sync.idx.b32 %0, %1, %2, 0x1c1f, 0xffffffff;" : "=r"(y) : "r"(x), "r"(i));
    return y;
}
// Two bytes, rounded and saturated as kiln_f32_to_T does it; NaN is 0 in integers.
static KILN_DEVICE unsigned short kiln_i8_pair(float low, float high)
{
    int l, h;
    unsigned w;
    asm("cvt.rni.s32.f32 %0, %1;" : "=r"(l) : "f"(low));
    asm("cvt.rni.s32.f32 %0, %1;" : "=r"(h) : "f"(high));
    asm("cvt.pack.sat.s8.s32.b32 %0, %1, %2, 0;" : "=r"(w) : "r"(h), "r"(l)); // with both of these one instruction
    return (unsigned short)w;
}
static KILN_DEVICE unsigned short kiln_f8e4m3_pair(float low, float high)
{
    unsigned short w;
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(w) : "f"(high), "f"(low));
    return w;
}
static KILN_DEVICE unsigned short kiln_f8e5m2_pair(float low, float high)
{
    unsigned short w;
    asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(w) : "f"(high), "f"(low));
    return w;
}
#endif
