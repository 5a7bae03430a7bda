// SPDX-License-Identifier: MIT
// In place of kiln_wgmma.h and kiln_cluster.h, ahead of a kernel's source (-include): the same
// functions on the emulation of emulator.h.
#ifndef KILN_WGMMA_H
#define KILN_WGMMA_H
#define KILN_CLUSTER_H
#define KILN_EMULATED 1
#include "emulator.h"
#include "kiln_types.h"
#include "kiln_wgmma_tile.h"

#define KILN_SHARED
#define KILN_KERNEL(threads, blocks)         extern "C" void
#define KILN_DYNAMIC_SHARED(name, alignment) char *const name = ke_here->shared
#define KILN_PARAMETER(type)                 const type &
static KILN_DEVICE unsigned kiln_thread(void)
{
    return ke_here->thread;
}
static KILN_DEVICE unsigned kiln_block_x(void)
{
    return ke_here->block[0];
}
static KILN_DEVICE unsigned kiln_block_y(void)
{
    return ke_here->block[1];
}
static KILN_DEVICE unsigned kiln_block_z(void)
{
    return ke_here->block[2];
}
static KILN_DEVICE unsigned kiln_blocks_x(unsigned)
{
    return ke_here->grid[0];
}
static KILN_DEVICE unsigned kiln_blocks_y(void)
{
    return ke_here->grid[1];
}
static KILN_DEVICE unsigned kiln_blocks_z(void)
{
    return ke_here->grid[2];
}
static KILN_DEVICE float kiln_other_lane(float x, int mask)
{
    return ke_other_lane(x, mask);
}
static KILN_DEVICE float kiln_exp2_fast(float x)
{
    return __builtin_exp2f(x);
}
static KILN_DEVICE float kiln_max_fast(float x, float y)
{
    return x != x || y != y ? x + y : x > y ? x : y;
}
static KILN_DEVICE float kiln_recip_fast(float x)
{
    return 1.0f / x;
}
static KILN_DEVICE void kiln_barrier(void)
{
    ke_barrier(0, 0);
}
#include "kiln_chunk.h"

typedef struct __attribute__((aligned(64))) kiln_tensor_map {
    unsigned char opaque[128];
} kiln_tensor_map;
struct __attribute__((aligned(8))) kiln_pair {
    float v[2];
};

static inline unsigned kiln_shared_address(const void *p)
{
    return ke_here->rank << KE_RANK | (unsigned)((const char *)p - ke_here->shared);
}
static inline int kiln_uniform(int x)
{
    return x;
}
template <typename T> static inline void kiln_keep(T &)
{
}
template <typename T> static inline void kiln_keep_in_order(T &)
{
}
static inline void kiln_keep4(unsigned (&)[4])
{
}
static inline unsigned kiln_hidden(unsigned x)
{
    return x;
}
static inline unsigned kiln_thread_anew(void)
{
    return kiln_thread();
}
static inline void kiln_behind(float)
{
}
static inline bool kiln_elect(void)
{
    return ke_here->thread % 32 == 0;
}
static inline bool kiln_any_lane(bool condition)
{
    float any = condition;
    for (int mask = 1; mask < 32; mask *= 2) any += kiln_other_lane(any, mask);
    return any != 0;
}
// One thread of the process runs all of them.
static inline unsigned kiln_ticket(unsigned *counter)
{
    return (*counter)++;
}
static inline void kiln_warp_barrier(void)
{
    ke_warp_barrier();
}
static inline void kiln_barrier_of(int id, int threads)
{
    ke_barrier(id, threads);
}
static inline void kiln_barrier_arrive_of(int id, int threads)
{
    ke_barrier_arrive(id, threads);
}

static inline void kiln_mbarrier_init(unsigned barrier, unsigned arrivals)
{
    ke_mbarrier_init(barrier, arrivals);
}
static inline void kiln_mbarrier_fence_init(void)
{
}
static inline void kiln_mbarrier_expect(unsigned barrier, unsigned bytes)
{
    ke_mbarrier_arrive(barrier, bytes);
}
static inline void kiln_mbarrier_arrive(unsigned barrier)
{
    ke_mbarrier_arrive(barrier, 0);
}
static inline void kiln_mbarrier_arrive_if(unsigned barrier, bool condition)
{
    if (condition) ke_mbarrier_arrive(barrier, 0);
}
static inline unsigned kiln_cluster_address(unsigned address, unsigned rank)
{
    return rank << KE_RANK | (address & KE_OFFSET);
}
static inline void kiln_mbarrier_arrive_at(unsigned barrier, unsigned rank)
{
    ke_mbarrier_arrive(kiln_cluster_address(barrier, rank), 0);
}
static inline void kiln_mbarrier_arrive_at_if(unsigned barrier, unsigned rank, bool condition)
{
    if (condition) kiln_mbarrier_arrive_at(barrier, rank);
}
static inline void kiln_mbarrier_arrive_there_if(unsigned there, bool condition)
{
    if (condition) ke_mbarrier_arrive(there, 0);
}
static inline void kiln_mbarrier_wait(unsigned barrier, unsigned phase)
{
    ke_mbarrier_wait(barrier, phase);
}
static inline unsigned kiln_mbarrier_test(unsigned barrier, unsigned phase)
{
    return ke_mbarrier_test(barrier, phase);
}
static inline void kiln_mbarrier_wait_unless(unsigned ended, unsigned barrier, unsigned phase)
{
    if (!ended) ke_mbarrier_wait(barrier, phase);
}
static inline void kiln_mbarrier_wait_cluster(unsigned barrier, unsigned phase)
{
    ke_mbarrier_wait(barrier, phase);
}

static inline unsigned kiln_cluster_rank(void)
{
    return ke_here->rank;
}
static inline unsigned kiln_cluster_blocks(void)
{
    return ke_here->blocks;
}
static inline void kiln_cluster_meet(void)
{
    ke_cluster_arrive();
    ke_cluster_wait();
}
static inline void kiln_cluster_barrier(void)
{
    kiln_cluster_meet();
}
static inline kiln_words4 kiln_shared_load4(unsigned address)
{
    return *(const kiln_words4 *)ke_at(address);
}
static inline void kiln_shared_store4(unsigned address, const kiln_words4 &w)
{
    *(kiln_words4 *)ke_at(address) = w;
}
static inline kiln_words4 kiln_cluster_load4(unsigned address)
{
    return *(const kiln_words4 *)ke_at(address);
}
static inline void kiln_cluster_send4(unsigned address, kiln_words4 w, unsigned barrier)
{
    *(kiln_words4 *)ke_at(address) = w;
    ke_mbarrier_sent(barrier, 16);
}

static inline void kiln_cluster_send(unsigned address, float x, unsigned barrier)
{
    *(float *)ke_at(address) = x;
    ke_mbarrier_sent(barrier, 4);
}
static inline void kiln_tma_prefetch_map(const kiln_tensor_map *)
{
}
static inline void kiln_tma_load(unsigned to, const kiln_tensor_map *map, int inner, int outer,
                                 int batch, unsigned barrier)
{
    ke_tma_load(to, map, {3, {inner, outer, batch}}, barrier, 0);
}
static inline void kiln_tma_load_all(unsigned to, const kiln_tensor_map *map, int inner, int outer,
                                     int batch, unsigned barrier, unsigned mask)
{
    ke_tma_load(to, map, {3, {inner, outer, batch}}, barrier, mask);
}
static inline void kiln_tma_load_plane(unsigned to, const kiln_tensor_map *map, int inner,
                                       int outer, int plane, int batch, unsigned barrier)
{
    ke_tma_load(to, map, {4, {inner, outer, plane, batch}}, barrier, 0);
}
static inline void kiln_tma_load_plane_all(unsigned to, const kiln_tensor_map *map, int inner, int outer,
                                           int plane, int batch, unsigned barrier, unsigned mask)
{
    ke_tma_load(to, map, {4, {inner, outer, plane, batch}}, barrier, mask);
}
static inline void kiln_tma_load_panels(unsigned to, const kiln_tensor_map *map, int inner,
                                        int outer, int panel, int plane, int batch,
                                        unsigned barrier)
{
    ke_tma_load(to, map, {5, {inner, outer, panel, plane, batch}}, barrier, 0);
}
static inline unsigned long long kiln_l2_once(void)
{
    return 0;
}
static inline unsigned long long kiln_l2_again(void)
{
    return 0;
}
static inline void kiln_tma_load_kept(unsigned to, const kiln_tensor_map *map, int inner, int outer,
                                      int batch, unsigned barrier, unsigned long long)
{
    ke_tma_load(to, map, {3, {inner, outer, batch}}, barrier, 0);
}
static inline void kiln_tma_fetch(const kiln_tensor_map *, int, int, int)
{
}
static inline void kiln_fetch_line(const void *)
{
}
static inline void kiln_tma_store(const kiln_tensor_map *map, unsigned from, int inner, int outer,
                                  int batch)
{
    ke_tma_store(map, from, {3, {inner, outer, batch}});
}
static inline void kiln_tma_store_commit(void)
{
    ke_tma_store_commit();
}
template <int pending> static inline void kiln_tma_store_wait(void)
{
    ke_tma_store_wait(pending);
}
static inline void kiln_async_fence(void)
{
}
template <int width> static inline void kiln_copy(unsigned to, const void *from, unsigned bytes)
{
    ke_copy(to, from, width, bytes);
}
static inline void kiln_copy_whole(unsigned to, const void *from)
{
    ke_copy(to, from, 16, 16);
}
template <int width> static inline void kiln_copy_or_zero(unsigned to, const void *from, bool copied)
{
    ke_copy(to, from, width, copied ? width : 0);
}
static inline void kiln_prefetch(const void *)
{
}
template <class T> static inline void kiln_further(T &at, long long far)
{
    at += far;
}
static inline void kiln_copy_commit(void)
{
    ke_copy_commit();
}
template <int pending> static inline void kiln_copy_wait(void)
{
    ke_copy_wait(pending);
}
static inline void kiln_copy_arrive(unsigned barrier)
{
    ke_copy_arrive(barrier);
}
static inline int kiln_of_lane(int x, int lane)
{
    return (int)ke_of_lane((unsigned)x, (unsigned)lane);
}
static inline unsigned kiln_next_lane(unsigned x)
{
    const unsigned lane = kiln_thread() % 32;
    return ke_of_lane(x, lane == 31 ? lane : lane + 1);
}
static inline unsigned kiln_funnel(unsigned low, unsigned high, unsigned from)
{
    return (unsigned)(((unsigned long long)high << 32 | low) >> from);
}
static inline void kiln_grid_wait(void)
{
}
static inline void kiln_grid_release(void)
{
}

static inline void kiln_wgmma_fence(void)
{
}
static inline void kiln_wgmma_commit(void)
{
    ke_wgmma_commit();
}
template <int pending> static inline void kiln_wgmma_wait(void)
{
    ke_wgmma_wait(pending);
}
template <int count> static inline void kiln_give_registers(void)
{
}
template <int count> static inline void kiln_take_registers(void)
{
}

// As TMA does it: bits 7 to 9 of an address within rows of 128 bytes, of which fewer count where
// rows are shorter.
template <int inner> static inline int kiln_swizzled(int row, int byte)
{
    const int at = row * inner + byte, bits = inner == 128  ? 7
                                              : inner == 64 ? 3
                                              : inner == 32 ? 1
                                                            : 0;
    return at ^ (at >> 7 & bits) << 4;
}
#define KE_STMATRIX(name, turned)                                                                  \
    static inline void kiln_stmatrix4##name(unsigned address, unsigned w0, unsigned w1,            \
                                            unsigned w2, unsigned w3)                              \
    {                                                                                              \
        const unsigned w[] = {w0, w1, w2, w3};                                                     \
        ke_stmatrix(address, w, 4, turned);                                                        \
    }                                                                                              \
    static inline void kiln_stmatrix2##name(unsigned address, unsigned w0, unsigned w1)            \
    {                                                                                              \
        const unsigned w[] = {w0, w1};                                                             \
        ke_stmatrix(address, w, 2, turned);                                                        \
    }                                                                                              \
    static inline void kiln_ldmatrix4##name(unsigned (&w)[4], unsigned address)                    \
    {                                                                                              \
        ke_ldmatrix(address, w, 4, turned);                                                        \
    }
KE_STMATRIX(, false)
KE_STMATRIX(_turned, true)
#undef KE_STMATRIX

#define KE_PAIR(T)                                                                                 \
    static inline unsigned kiln_##T##_pair(float low, float high)                                  \
    {                                                                                              \
        return (unsigned)kiln_f32_to_##T(low) | (unsigned)kiln_f32_to_##T(high) << 16;             \
    }
KE_PAIR(f16)
KE_PAIR(bf16)
#undef KE_PAIR
#define KE_PAIR(T)                                                                                 \
    static inline unsigned short kiln_##T##_pair(float low, float high)                            \
    {                                                                                              \
        return (unsigned short)((kiln_uint8)kiln_f32_to_##T(low) |                                 \
                                (kiln_uint8)kiln_f32_to_##T(high) << 8);                           \
    }
KE_PAIR(i8)
KE_PAIR(f8e4m3)
KE_PAIR(f8e5m2)
#undef KE_PAIR
#define KE_WIDEN(from, to)                                                                         \
    template <typename... constants>                                                               \
    static inline unsigned kiln_##from##_to_##to##_pair(unsigned w, constants...)                  \
    {                                                                                              \
        return kiln_##to##_pair(kiln_##from##_to_f32((kiln_##from##_t)w),                          \
                                kiln_##from##_to_f32((kiln_##from##_t)(w >> 8)));                  \
    }                                                                                              \
    static inline void kiln_##from##_to_##to##_pairs(unsigned w, unsigned &low, unsigned &high)    \
    {                                                                                              \
        low = kiln_##from##_to_##to##_pair(w), high = kiln_##from##_to_##to##_pair(w >> 16);       \
    }
KE_WIDEN(i8, f16)
KE_WIDEN(i8, bf16)
KE_WIDEN(f8e4m3, f16)
KE_WIDEN(f8e4m3, bf16)
KE_WIDEN(f8e5m2, f16)
KE_WIDEN(f8e5m2, bf16)
#undef KE_WIDEN
enum { KILN_FIRST_BYTE = 0 };
#define KE_NEAR(from, to, more)                                                                    \
    static inline unsigned kiln_##from##_near_##to##_pair(unsigned w, unsigned byte, unsigned)     \
    {                                                                                              \
        const unsigned two = w >> byte * 8;                                                        \
        return kiln_##to##_pair(kiln_##from##_to_f32((kiln_##from##_t)(two & 15)) + more,          \
                                kiln_##from##_to_f32((kiln_##from##_t)(two >> 4 & 15)) + more);    \
    }
KE_NEAR(u4, bf16, 128)
KE_NEAR(i4, bf16, 136)
KE_NEAR(u4, f16, 1024)
KE_NEAR(i4, f16, 1032)
#undef KE_NEAR
enum { KILN_BYTE_TWICE = 0 };
#define KE_SKEW(from, to, last)                                                                    \
    static inline unsigned kiln_##from##_skew_##to##_pair(unsigned w, unsigned byte)               \
    {                                                                                              \
        const unsigned two = w >> byte % 4 * 8 & 255;                                              \
        return ((two & 15) | (two & 0xf0) << 16) ^ last;                                           \
    }
KE_SKEW(u4, bf16, 0x00004300u)
KE_SKEW(i4, bf16, 0x00804308u)
KE_SKEW(u4, f16, 0x64006400u)
KE_SKEW(i4, f16, 0x64806408u)
#undef KE_SKEW
static inline unsigned kiln_u4_to_i8_four(unsigned w)
{
    unsigned x = 0;
    for (int i = 0; i < 4; i++) x |= (w >> 4 * i & 15) << 8 * i;
    return x;
}
static inline unsigned kiln_i4_to_i8_four(unsigned w)
{
    unsigned x = 0;
    for (int i = 0; i < 4; i++) x |= (unsigned)(unsigned char)(signed char)((int)((w >> 4 * i & 15) ^ 8) - 8) << 8 * i;
    return x;
}
static inline unsigned kiln_i4_to_i8_four_times_16(unsigned w)
{
    return kiln_u4_to_i8_four(w) << 4;
}
#define KE_STRAIGHTEN(type, low, high)                                                             \
    static inline unsigned kiln_##type##_straighten(unsigned x, unsigned y)                        \
    {                                                                                              \
        const auto half = [](unsigned w, int i) { return kiln_##type##_to_f32((kiln_##type##_t)(w >> 16 * i)); }; \
        return kiln_##type##_pair(__builtin_fmaf(half(x, 0), low, half(y, 0)), __builtin_fmaf(half(x, 1), high, half(y, 1))); \
    }
KE_STRAIGHTEN(bf16, 1.0f, 0x1p127f)
KE_STRAIGHTEN(f16, 1.0f, 0.0625f)
#undef KE_STRAIGHTEN
#define KE_PAIRS(type, name, operation)                                                            \
    static inline unsigned kiln_##type##_pairs_##name(unsigned x, unsigned y)                      \
    {                                                                                              \
        const auto half = [](unsigned w, int i) { return kiln_##type##_to_f32((kiln_##type##_t)(w >> 16 * i)); }; \
        return kiln_##type##_pair(half(x, 0) operation half(y, 0), half(x, 1) operation half(y, 1)); \
    }
KE_PAIRS(bf16, plus, +)
KE_PAIRS(bf16, less, -)
KE_PAIRS(bf16, times, *)
KE_PAIRS(f16, plus, +)
KE_PAIRS(f16, less, -)
KE_PAIRS(f16, times, *)
#define KE_PAIRS_FMA(type)                                                                         \
    static inline unsigned kiln_##type##_pairs_fma(unsigned x, unsigned y, unsigned z)             \
    {                                                                                              \
        const auto half = [](unsigned w, int i) { return kiln_##type##_to_f32((kiln_##type##_t)(w >> 16 * i)); }; \
        return kiln_##type##_pair(__builtin_fmaf(half(x, 0), half(y, 0), half(z, 0)), __builtin_fmaf(half(x, 1), half(y, 1), half(z, 1))); \
    }
KE_PAIRS_FMA(bf16)
KE_PAIRS_FMA(f16)
#undef KE_PAIRS_FMA
#undef KE_PAIRS
#define KE_MMA(name, number, types)                                                                \
    static inline void kiln_mma_##name(number *sum, const unsigned (&x)[4], unsigned y0,           \
                                       unsigned y1)                                                \
    {                                                                                              \
        const unsigned own[6] = {x[0], x[1], x[2], x[3], y0, y1};                                  \
        ke_mma(sum, own, types);                                                                   \
    }
KE_MMA(bf16, float, "f32.bf16.bf16")
KE_MMA(f16, float, "f32.f16.f16")
KE_MMA(i8_i8, int, "s32.s8.s8")
KE_MMA(i8_u8, int, "s32.s8.u8")
KE_MMA(u8_i8, int, "s32.u8.s8")
KE_MMA(u8_u8, int, "s32.u8.u8")
#undef KE_MMA
static inline unsigned kiln_low_halves(unsigned x, unsigned y)
{
    return (x & 0xffff) | y << 16;
}
static inline unsigned kiln_high_halves(unsigned x, unsigned y)
{
    return x >> 16 | (y & 0xffff0000);
}
static inline unsigned kiln_even_odd(unsigned w)
{
    return (w & 0xff0000ff) | (w >> 8 & 0xff00) | (w & 0xff00) << 8;
}
static inline unsigned kiln_low_twice(unsigned x)
{
    return x << 16 | (x & 0xffff);
}
static inline unsigned kiln_high_twice(unsigned x)
{
    return x >> 16 | (x & 0xffff0000);
}
static inline unsigned kiln_of_four(unsigned x, int i)
{
    unsigned of[4] = {x};
    for (int mask = 1; mask < 4; mask++) of[mask] = kiln_bits(kiln_other_lane(kiln_from_bits(x), mask));
    return of[(unsigned)i ^ kiln_thread() % 4];
}
#endif
