// SPDX-License-Identifier: MIT
// One bug a kernel (NAME_bad; "BUG NAME" stands above its line), and the same without it
// (NAME_good).  Every kernel gets two buffers of 4096 bytes and a number, as
// tests/sim/kernels/memory_driver.c gives them; asm stands where the compiler would not emit the
// bug.
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef u32 u32x4 __attribute__((ext_vector_type(4)));
#define KERNEL extern "C" __attribute__((global, amdgpu_flat_work_group_size(256, 256))) void
#define SHARED __attribute__((shared))
#define INLINE static __attribute__((device, always_inline)) inline
#define ARGS   u8 *out, u8 *in, u32 n

INLINE u32 tid()
{
    return __builtin_amdgcn_workitem_id_x();
}
INLINE void sync()
{
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
INLINE u32 lds_address(u32 *p)
{
    return (u32)(u64)(__attribute__((address_space(3))) u32 *)p;
}
INLINE u32 *words(u8 *p)
{
    return (u32 *)p;
}

/* ---- Global memory ---- */
KERNEL after_bad(ARGS)
{
    // BUG after
    out[tid()] = in[tid() == 37 ? 4096 : tid()];
}
KERNEL after_good(ARGS)
{
    out[tid()] = in[tid() == 37 ? 4095 : tid()];
}
KERNEL before_bad(ARGS)
{
    // BUG before
    out[(int)(tid() == 70 ? -1 : tid())] = (u8)n;
}
KERNEL before_good(ARGS)
{
    out[(int)(tid() == 70 ? 0 : tid())] = (u8)n;
}
/* the last 8 of 16 bytes */
KERNEL part_bad(ARGS)
{
    // BUG part
    *(u32x4 *)(out + tid() * 16) = *(u32x4 *)(in + (tid() == 5 ? 4088 : tid() * 8));
}
KERNEL part_good(ARGS)
{
    *(u32x4 *)(out + tid() * 16) = *(u32x4 *)(in + (tid() == 5 ? 4080 : tid() * 8));
}
KERNEL freed_bad(ARGS) /* the driver frees `in` */
{
    // BUG freed
    words(out)[tid()] = words(in)[tid()];
}
KERNEL freed_good(ARGS)
{
    words(out)[tid()] = words(in)[tid()];
}
INLINE void atomic_at(u8 *p)
{
    // BUG crooked
    asm volatile("global_atomic_add %0, %1, off\n s_waitcnt vmcnt(0)" ::"v"(p), "v"(1) : "memory");
}
KERNEL crooked_bad(ARGS)
{
    atomic_at(in + (tid() == 9 ? 6 : 4));
}
KERNEL crooked_good(ARGS)
{
    atomic_at(in + (tid() == 9 ? 8 : 4));
}
/* sound on the hardware; a finding with alignment=strict */
KERNEL unaligned_bad(ARGS)
{
    u32 x;
    // BUG unaligned
    asm volatile("global_load_dword %0, %1, off\n s_waitcnt vmcnt(0)"
                 : "=v"(x)
                 : "v"(in + tid() * 4 + (tid() == 3)));
    words(out)[tid()] = x;
}
KERNEL unaligned_good(ARGS)
{
    u32 x;
    asm volatile("global_load_dword %0, %1, off\n s_waitcnt vmcnt(0)"
                 : "=v"(x)
                 : "v"(in + tid() * 4 + 4 * (tid() == 3)));
    words(out)[tid()] = x;
}
/* Neighbouring bytes and halves, which the compiler loads as words that are not aligned: no
 * finding. */
KERNEL merged_good(ARGS)
{
    static SHARED u16 lds[1024];
    const u8 *b = in + tid() * n;
    lds[768 + tid()] = 0;
    lds[tid() * 3] = b[0] + b[1] * 2;
    lds[tid() * 3 + 1] = b[2] * 3 + b[3] * 5;
    lds[tid() * 3 + 2] = b[1];
    sync();
    words(out)[tid()] =
        lds[tid() * n] + lds[tid() * n + 1] * 3 + lds[tid() * n + 2] * 7 + lds[tid() * n + 3];
}

/* ---- Buffers ---- */
INLINE u32 buffer_load(u8 *p, u32 records, u32 offset)
{
    u32x4 r = {(u32)(u64)p, (u32)((u64)p >> 32), records, 0x00020000};
    u32 x;
    // BUG buffer
    asm volatile("buffer_load_dword %0, %1, %2, 0 offen\n s_waitcnt vmcnt(0)"
                 : "=v"(x)
                 : "v"(offset), "s"(r));
    return x;
}
KERNEL buffer_bad(ARGS)
{
    words(out)[tid()] = buffer_load(in, 8192, tid() * 4 + (tid() == 255 ? 3076 : 0));
}
KERNEL buffer_good(ARGS) /* out of the resource's range: 0 */
{
    u32 x = buffer_load(in, 1024 - 16, tid() * 4 + (tid() == 255 ? 3076 : 0));
    words(out)[tid()] = tid() >= 252 && x != 0 ? 1 : x;
}

/* ---- LDS ---- */
KERNEL lds_bad(ARGS)
{
    static SHARED u32 lds[256];
    lds[tid()] = n;
    sync();
    u32 at = 4 * (tid() == 130 ? 256 : tid()) + lds_address(lds), x;
    // BUG lds
    asm volatile("ds_read_b32 %0, %1\n s_waitcnt lgkmcnt(0)" : "=v"(x) : "v"(at));
    words(out)[tid()] = x;
}
KERNEL lds_good(ARGS)
{
    static SHARED u32 lds[256];
    lds[tid()] = n;
    sync();
    u32 at = 4 * (tid() == 130 ? 255 : tid()) + lds_address(lds), x;
    asm volatile("ds_read_b32 %0, %1\n s_waitcnt lgkmcnt(0)" : "=v"(x) : "v"(at));
    words(out)[tid()] = x;
}
#define RACE(name, first, second, guard)                                                           \
    KERNEL name(ARGS)                                                                              \
    {                                                                                              \
        static SHARED u32 lds[512];                                                                \
        volatile u32 *v = lds;                                                                     \
        v[tid()] = v[tid() + 256] = tid();                                                         \
        sync();                                                                                    \
        first;                                                                                     \
        guard;                                                                                     \
        second;                                                                                    \
        sync();                                                                                    \
        words(out)[tid()] = v[tid() ^ 1];                                                          \
    }
/* The other wave's word: 64 further on. */
// BUG raw
RACE(raw_bad, v[tid()] = n, u32 x = v[tid() ^ 64]; words(out)[tid()] = x, )
RACE(raw_good, v[tid()] = n, u32 x = v[tid() ^ 64]; words(out)[tid()] = x, sync())
// BUG war
RACE(war_bad, u32 x = v[tid() ^ 64], v[tid()] = x, )
RACE(war_good, u32 x = v[tid() ^ 64], v[tid()] = x, sync())
// BUG waw
RACE(waw_bad, v[tid()] = n, v[tid() ^ 64] = tid(), )
RACE(waw_good, v[tid()] = n, v[tid() ^ 64] = tid(), sync())
/* A value past the wave's part, which another wave stores in the same epoch: a race where it is used.  The load of the
 * first wave comes before that store, or, where `step` is negative, after it. */
INLINE void past(u8 *out, u32 *lds, u32 n, int step, u32 mask)
{
    volatile __attribute__((address_space(3))) u32 *v =
        (volatile __attribute__((address_space(3))) u32 *)lds;
    u32 lane = tid() & 63, own = tid(), next = (u32)((int)tid() + step) & 255;
    v[own] = own;
    sync();
    v[own] = own + n;
    /* lanes at the part's edge read the neighbour's word, */
    u32 x = v[next];
    bool edge = step < 0 ? lane < (u32)-step : lane >= 64 - (u32)step;
    /* and keep what the mask says of it */
    u32 kept = edge ? x & mask : x;
    sync();
    words(out)[own] = kept;
}
#define PAST(name, step, mask)                                                                     \
    KERNEL name(ARGS)                                                                              \
    {                                                                                              \
        static SHARED u32 lds[256];                                                                \
        past(out, lds, n, step, mask);                                                             \
    }
PAST(past_bad, 3, n)
PAST(past_good, 3, 0)
PAST(behind_bad, -3, n)
PAST(behind_good, -3, 0)
/* Of 8 loaded bytes the upper 4 are another wave's, and nobody looks at them. */
KERNEL half_good(ARGS)
{
    static SHARED __attribute__((aligned(8))) u32 lds[260];
    volatile u32 *v = lds;
    v[tid()] = tid();
    sync();
    v[tid()] = n;
    u64 x;
    asm volatile("ds_read_b64 %0, %1\n s_waitcnt lgkmcnt(0)"
                 : "=v"(x)
                 : "v"(lds_address(lds) + 4 * tid())
                 : "memory");
    sync();
    words(out)[tid()] = (u32)x;
}
/* Bytes of one word, each of another wave: sound. */
KERNEL bytes_good(ARGS)
{
    static SHARED u8 lds[1024];
    volatile u8 *v = lds;
    u32 lane = tid() & 63, wave = tid() / 64;
    v[lane * 4 + wave] = (u8)n;
    u32 x = v[lane * 4 + wave];
    v[lane * 4 + wave] = (u8)(x + 1);
    sync();
    out[tid()] = v[tid()];
}
KERNEL bytes_bad(ARGS)
{
    static SHARED u8 lds[1024];
    volatile u8 *v = lds;
    u32 lane = tid() & 63, wave = tid() / 64;
    v[lane * 4 + wave] = (u8)n;
    // BUG bytes
    u32 x = v[lane * 4 + (wave == 2 && lane == 11 ? 1 : wave)];
    out[tid()] = (u8)x;
}
KERNEL atomic_good(ARGS)
{
    static SHARED u32 count;
    if (tid() == 0) count = 0;
    sync();
    __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
    sync();
    words(out)[tid()] = count;
}
KERNEL atomic_bad(ARGS)
{
    static SHARED u32 count;
    if (tid() == 0) count = 0;
    sync();
    __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
    // BUG atomic
    words(out)[tid()] = *(volatile u32 *)&count;
}
KERNEL lanes_bad(ARGS)
{
    static SHARED u32 lds[4];
    volatile u32 *v = lds;
    if (tid() < 64)
        // BUG lanes
        v[0] = tid();
    sync();
    words(out)[tid()] = v[0];
}
KERNEL lanes_good(ARGS)
{
    static SHARED u32 lds[4];
    volatile u32 *v = lds;
    if (tid() < 64) v[0] = n;
    sync();
    words(out)[tid()] = v[0];
}
/* A store that nobody waited for when the barrier was reached. */
INLINE u32 across(u32 *lds, bool wait)
{
    u32 at = 4 * tid() + lds_address(lds), x;
    if (wait)
        asm volatile("ds_write_b32 %0, %1\n s_waitcnt lgkmcnt(0)\n s_barrier" ::"v"(at), "v"(at)
                     : "memory");
    else
        asm volatile("ds_write_b32 %0, %1\n s_barrier" ::"v"(at), "v"(at) : "memory");
    // BUG wait
    asm volatile("ds_read_b32 %0, %1\n s_waitcnt lgkmcnt(0)" : "=v"(x) : "v"(at ^ 256) : "memory");
    return x;
}
KERNEL wait_bad(ARGS)
{
    static SHARED __attribute__((aligned(1024))) u32 lds[256];
    words(out)[tid()] = across(lds, false);
}
KERNEL wait_good(ARGS)
{
    static SHARED __attribute__((aligned(1024))) u32 lds[256];
    words(out)[tid()] = across(lds, true);
}

/* ---- Barriers ---- */
KERNEL barrier_bad(ARGS)
{
    static SHARED u32 lds[256];
    lds[tid()] = tid();
    if (tid() % 64 < 40) {
        // BUG barrier
        __builtin_amdgcn_s_barrier();
    }
    words(out)[tid()] = lds[tid()];
}
/* Waves, and work-items of one, that have ended need not reach it. */
KERNEL barrier_good(ARGS)
{
    static SHARED u32 lds[256];
    if (tid() >= 100 * n / 3) return;
    lds[tid()] = tid();
    sync();
    words(out)[tid()] = lds[99 - tid()];
    sync();
    lds[tid()] = 1;
}

/* ---- What was never written ---- */
KERNEL unwritten_lds_bad(ARGS)
{
    static SHARED u32 lds[512];
    volatile u32 *v = lds;
    v[tid()] = tid();
    sync();
    u32 x = v[tid() + (tid() == 33 ? 256 : 0)];
    // BUG unwritten_lds
    words(out)[tid()] = x;
}
KERNEL unwritten_lds_good(ARGS)
{
    static SHARED u32 lds[512];
    volatile u32 *v = lds;
    v[tid()] = tid();
    sync();
    u32 x = v[tid() + (tid() == 33 ? 2 : 0)];
    words(out)[tid()] = x;
}
/* Global memory, with unwritten=on: the driver writes `in` and not `out`. */
#define LOAD(x, p) asm volatile("global_load_dword %0, %1, off\n s_waitcnt vmcnt(0)" : "=v"(x) : "v"(p) : "memory")
#define GLOBAL(name, from)                                                                         \
    KERNEL name(ARGS)                                                                              \
    {                                                                                              \
        ((volatile u32 *)out)[tid()] = n;                                                          \
        u32 x;                                                                                     \
        LOAD(x, from);                                                                             \
        words(in)[tid()] = x;                                                                      \
    }
// BUG unwritten_global
GLOBAL(unwritten_global_bad, words(out) + (tid() == 33 ? 300 : tid()))
GLOBAL(unwritten_global_good, words(out) + (tid() == 33 ? 20 : tid()))
/* lanes in several allocations */
// BUG unwritten_among
GLOBAL(unwritten_among_bad, tid() % 2 ? words(in) + tid() : words(out) + tid() + (tid() == 66 ? 300 : 0))
GLOBAL(unwritten_among_good, tid() % 2 ? words(in) + tid() : words(out) + tid())
#define SCALAR(name, at)                                                                           \
    KERNEL name(ARGS)                                                                              \
    {                                                                                              \
        u32 x;                                                                                     \
        ((volatile u32 *)out)[tid()] = n;                                                          \
        asm volatile("s_load_dword %0, %1, 0x0\n s_waitcnt lgkmcnt(0)" : "=s"(x) : "s"(out + at)); \
        words(in)[tid()] = x;                                                                      \
    }
// BUG unwritten_scalar
SCALAR(unwritten_scalar_bad, 1024)
SCALAR(unwritten_scalar_good, 0)
#define STORE "global_store_dword %0, v77, off\n s_waitcnt vmcnt(0)"
KERNEL unwritten_register_bad(ARGS)
{
    // BUG unwritten_register
    asm volatile(STORE ::"v"(out + tid() * 4) : "v77", "memory");
}
KERNEL unwritten_register_good(ARGS)
{
    asm volatile("v_mov_b32 v77, 0\n" STORE ::"v"(out + tid() * 4) : "v77", "memory");
}
/* only its low byte is stored, and that was written */
KERNEL unwritten_part_good(ARGS)
{
    asm volatile(
        "v_and_b32 v77, 0xffffff00, v77\n global_store_byte %0, v77, off\n s_waitcnt vmcnt(0)" ::
            "v"(out + tid())
        : "v77", "memory");
}
KERNEL unwritten_address_bad(ARGS)
{
    // BUG unwritten_address
    asm volatile("global_store_dword v77, %0, %1\n s_waitcnt vmcnt(0)" ::"v"(n), "s"(out)
                 : "v77", "memory");
}
KERNEL unwritten_address_good(ARGS)
{
    asm volatile("v_mov_b32 v77, 4\n global_store_dword v77, %0, %1\n s_waitcnt vmcnt(0)" ::"v"(n),
                 "s"(out)
                 : "v77", "memory");
}
KERNEL unwritten_branch_bad(ARGS)
{
    // BUG unwritten_branch
    asm volatile("v_cmp_eq_u32 vcc, 5, v77\n s_nop 4\n s_cbranch_vccz 1f\n s_nop 0\n1:" ::
                     : "v77", "vcc");
}
KERNEL unwritten_branch_good(ARGS)
{
    asm volatile(
        "v_mov_b32 v77, 5\n v_cmp_eq_u32 vcc, 5, v77\n s_nop 4\n s_cbranch_vccz 1f\n s_nop 0\n1:" ::
            : "v77", "vcc");
}

/* ---- Private memory ---- */
KERNEL private_bad(ARGS)
{
    volatile u32 a[16];
    for (u32 i = 0; i < 16; i++) a[i] = i;
    // BUG private
    words(out)[tid()] = a[n * (tid() == 77 ? 50 : 1)];
}
KERNEL private_good(ARGS)
{
    volatile u32 a[16];
    for (u32 i = 0; i < 16; i++) a[i] = i;
    words(out)[tid()] = a[n * (tid() == 77 ? 2 : 1)];
}
INLINE u32 through(volatile u32 *p, u32 i)
{
    u32 x;
    // BUG flat
    asm volatile("flat_load_dword %0, %1\n s_waitcnt vmcnt(0) lgkmcnt(0)"
                 : "=v"(x)
                 : "v"(p + i)
                 : "memory");
    return x;
}
KERNEL flat_bad(ARGS)
{
    static SHARED u32 lds[256];
    volatile u32 a[4] = {n, n, n, n};
    lds[tid()] = n;
    sync();
    u32 x = through(lds, tid() == 200 ? 256 : tid());
    words(out)[tid()] = x + through(a, tid() & 3);
}
KERNEL flat_good(ARGS)
{
    static SHARED u32 lds[256];
    volatile u32 a[4] = {n, n, n, n};
    lds[tid()] = n;
    sync();
    u32 x = through(lds, tid());
    words(out)[tid()] = x + through(a, tid() & 3) + through(words(in), tid());
}

/* A load into LDS, read by the wave that has started it: that many loads may still be in flight. */
INLINE u32 own_direct(u8 *in, u32 *lds, bool wait)
{
    u32x4 r = {(u32)(u64)in, (u32)((u64)in >> 32), 4096, 0x00020000};
    u32 base = lds_address(lds), wave = __builtin_amdgcn_readfirstlane(tid() / 64), x;
    asm volatile("s_mov_b32 m0, %0\n s_nop 0\n buffer_load_dword %1, %2, 0 offen lds\n"
                 "s_mov_b32 m0, %3\n s_nop 0\n buffer_load_dword %1, %2, 0 offen lds" ::"s"(
                     base + wave * 256),
                 "v"(tid() * 4), "s"(r), "s"(base + 1024 + wave * 256)
                 : "memory");
    if (wait) asm volatile("s_waitcnt vmcnt(1)" ::: "memory");
    // BUG own_direct
    asm volatile("ds_read_b32 %0, %1\n s_waitcnt vmcnt(0) lgkmcnt(0)"
                 : "=v"(x)
                 : "v"(base + tid() * 4)
                 : "memory");
    return x;
}
KERNEL own_direct_bad(ARGS)
{
    static SHARED u32 lds[512];
    words(out)[tid()] = own_direct(in, lds, false);
}
KERNEL own_direct_good(ARGS)
{
    static SHARED u32 lds[512];
    words(out)[tid()] = own_direct(in, lds, true);
}

#ifdef __gfx942__
/* A load from global memory into LDS that nobody waited for when the barrier was reached. */
INLINE u32 direct(u8 *in, u32 *lds, bool wait)
{
    u32 base = lds_address(lds), wave = __builtin_amdgcn_readfirstlane(tid() / 64), x;
    asm volatile(
        "s_mov_b32 m0, %0\n s_nop 0\n global_load_lds_dword %1, off" ::"s"(base + wave * 256),
        "v"(in + tid() * 4)
        : "memory");
    if (wait) asm volatile("s_waitcnt vmcnt(0)" ::: "memory");
    // BUG direct
    asm volatile("s_barrier\n ds_read_b32 %0, %1\n s_waitcnt lgkmcnt(0)"
                 : "=v"(x)
                 : "v"(base + (tid() ^ 64) * 4)
                 : "memory");
    return x;
}
KERNEL direct_bad(ARGS)
{
    static SHARED u32 lds[256];
    words(out)[tid()] = direct(in, lds, false);
}
KERNEL direct_good(ARGS)
{
    static SHARED u32 lds[256];
    words(out)[tid()] = direct(in, lds, true);
}
#endif
