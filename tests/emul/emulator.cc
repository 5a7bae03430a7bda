// SPDX-License-Identifier: MIT
// Hopper emulated: a launch runs its kernel cluster by cluster, all threads of a cluster as fibers.
// Order of fibers and the moment at which copies happen are random.  A launch that can't go on (all
// threads wait, or a kernel breaks a rule of the copy engine or the barriers) fails with a line on
// stderr.  What instructions do follows the PTX ISA: mbarrier, cp.async.bulk.tensor, wgmma,
// stmatrix.
#include "emulator.h"
#include "engine.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <algorithm>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <vector>

namespace
{
enum { SHARED = KE_SHARED, STACK = 256 << 10, BARRIERS = 16 };

struct failure {
};
std::mutex one_launch;
std::minstd_rand dice;
char why[256];

[[noreturn]] void fail(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(why, sizeof why, format, list);
    va_end(list);
    throw failure();
}

/* ---- threads ---- */
struct counter { // threads that have come to a barrier, and how often it has opened
    int come = 0, opened = 0;
};
struct block {
    std::unique_ptr<char[]> memory;
    char *shared;
    int threads;
    size_t first; // of its fibers in the cluster's
    counter barrier[BARRIERS];
    std::vector<counter> warp;
    std::vector<unsigned> row;            // addresses for stmatrix, by thread
    std::vector<const unsigned *> x;      // registers for wgmma, by thread
    std::unique_ptr<float[][24]> numbers; // in registers for mma, by thread
    std::vector<float> given;             // to other lanes, by thread
    std::vector<int> living;              // threads, by warp
    // A warp's lanes wait for barriers in shared memory as one: those that one of them has passed,
    // in order.
    std::vector<std::vector<std::pair<unsigned, unsigned>>> passed;
    // And what one of them was told when it asked whether a phase has ended, all are.
    std::vector<std::vector<bool>> told;
};
struct product {
    ke_wgmma w;
    unsigned x[2][8]; // rows of X that came in registers
    int group;
};
struct piece {
    char *to;
    const char *from;
    unsigned width, bytes;
};
std::vector<char *> stacks; // of threads that have ended, for others
struct fiber {
    ke_place place;
    block *in;
    ucontext_t first; // where it begins
    jmp_buf at;       // and goes on, once begun
    bool begun = false;
    std::unique_ptr<char, void (*)(char *)> stack{nullptr, [](char *p) { stacks.push_back(p); }};
    bool done = false;
    std::function<bool()> ready; // empty: it may run
    std::vector<product> products;
    int product_groups = 0, store_groups = 0; // committed
    std::vector<piece> pieces;                // copied by this thread itself, of the next group
    std::vector<int> copying;                 // groups of them that are on their way
    int copy_groups = 0;
    size_t waits = 0, tests = 0;              // for barriers in shared memory, and of them
    int met = 0;
};
struct copy {
    std::function<void()> run;
    fiber *owner; // of a store
    int group;
};
struct cluster {
    std::vector<block> blocks;
    std::vector<std::unique_ptr<fiber>> fibers;
    std::vector<copy> copies; // on their way
    counter meeting;
    int living = 0;
} * now;
fiber *running;
jmp_buf scheduler;
void (*entry)(void *, void *);
void *parameter[2];
bool failed;

// To the scheduler, until it comes back.  What threads have of their own is stacks and registers;
// swapcontext, which keeps the mask of signals, too, would take half of all time.
void leave()
{
    if (!_setjmp(running->at)) _longjmp(scheduler, 1);
}

void go_on(fiber *f)
{
    if (_setjmp(scheduler)) return;
    if (f->begun) _longjmp(f->at, 1);
    f->begun = true;
    setcontext(&f->first);
}

void wait_until(std::function<bool()> ready)
{
    if (ready()) return;
    running->ready = std::move(ready);
    leave();
}

void run_fiber()
{
    try {
        entry(parameter[0], parameter[1]);
        if (!running->products.empty()) fail("a thread ends with products it has not waited for");
    } catch (failure &) {
        failed = true;
    }
    running->done = true;
    running->in->living[running->place.thread / 32]--, running->in->threads--, now->living--;
    leave();
}

fiber *start(block *b, const ke_place &place)
{
    fiber *f = new fiber;
    f->place = place, f->in = b;
    char *stack;
    if (stacks.empty()) {
        stack = (char *)mmap(nullptr, STACK, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (stack == MAP_FAILED) {
            delete f;
            fail("no memory for a thread");
        }
    } else {
        stack = stacks.back();
        stacks.pop_back();
    }
    f->stack.reset(stack);
    getcontext(&f->first);
    f->first.uc_stack.ss_sp = stack, f->first.uc_stack.ss_size = STACK,
    f->first.uc_link = nullptr;
    makecontext(&f->first, run_fiber, 0);
    return f;
}

void run_copy(size_t i)
{
    copy c = std::move(now->copies[i]);
    now->copies[i] = std::move(now->copies.back());
    now->copies.pop_back();
    c.run();
}

void run_cluster()
{
    std::vector<fiber *> order;
    for (auto &f : now->fibers) order.push_back(f.get());
    std::shuffle(order.begin(), order.end(), dice);
    const unsigned haste =
        dice() % 2 ? 8 : 1u << 20; // of copies: soon, or when nothing else goes on
    while (!order.empty() && !failed) {
        bool moved = false;
        for (fiber *f : order) {
            if (f->ready && !f->ready()) continue;
            f->ready = nullptr;
            running = f, ke_here = &f->place, moved = true;
            go_on(f);
            if (failed) return;
            if (!now->copies.empty() && dice() % haste == 0) run_copy(dice() % now->copies.size());
        }
        order.erase(std::remove_if(order.begin(), order.end(), [](fiber *f) { return f->done; }),
                    order.end());
        if (moved) continue;
        if (now->copies.empty()) {
            snprintf(
                why, sizeof why,
                "all %zu threads wait, thread %u of block %u among them, and nothing is on its way",
                order.size(), order[0]->place.thread, order[0]->place.block[0]);
            failed = true;
        } else {
            run_copy(dice() % now->copies.size());
        }
    }
    while (!failed && !now->copies.empty()) run_copy(dice() % now->copies.size());
}

void come(counter *c, int count, bool stay)
{
    const int opened = c->opened;
    if (++c->come >= count) {
        if (c->come > count) fail("%d threads at a barrier of %d", c->come, count);
        c->come = 0, c->opened++;
    } else if (stay) {
        wait_until([=] { return c->opened != opened; });
    }
}

/* ---- barriers in shared memory: 8 bytes ---- */
struct mbarrier {
    int16_t count, pending;
    int bytes : 31;
    unsigned phase : 1;
};

void check_phase(mbarrier *b)
{
    if (b->pending || b->bytes) return;
    b->pending = b->count, b->phase ^= 1;
}

/* ---- boxes of tensor maps ---- */
int box_bytes(const ke_tensor_map &m)
{
    int bytes = m.size;
    for (int d = 0; d < m.rank; d++) bytes *= m.box[d];
    return bytes;
}

void box_rows(const ke_tensor_map &m, const ke_place_of_box &at,
              const std::function<void(int at, char *global, int bytes, int zeros_ahead,
                                       int zeros_behind)> &row)
{
    const int bytes = m.box[0] * m.size, rows = box_bytes(m) / bytes;
    const int64_t inner = at.of[0], from = std::max<int64_t>(inner, 0),
                  to = std::min<int64_t>(inner + m.box[0], m.dim[0]);
    for (int n = 0; n < rows; n++) {
        bool in = from < to;
        char *global = m.base + from * m.size;
        for (int d = 1, left = n; d < m.rank; left /= m.box[d++]) {
            const int64_t i = at.of[d] + left % m.box[d];
            in = in && i >= 0 && i < m.dim[d];
            global += i * m.stride[d];
        }
        if (in)
            row(n * bytes, global, (int)(to - from) * m.size, (int)(from - inner) * m.size,
                (int)(inner + m.box[0] - to) * m.size);
        else
            row(n * bytes, nullptr, 0, bytes, 0);
    }
}

const ke_tensor_map &checked(const void *map, const ke_place_of_box &at, unsigned address)
{
    const ke_tensor_map &m = *(const ke_tensor_map *)map;
    if (m.magic != KE_MAGIC) fail("a tensor map that was not encoded");
    if (m.rank != at.rank)
        fail("%d coordinates for a tensor map of %d dimensions", at.rank, m.rank);
    if (address % 128) fail("a box at address %u of shared memory: no multiple of 128", address);
    return m;
}

unsigned swizzled(unsigned at, int bits)
{
    return at ^ (at >> 7 & (unsigned)bits) << 4;
}

/* ---- products ---- */
float from_f16(unsigned h)
{
    _Float16 x;
    const uint16_t bits = (uint16_t)h;
    memcpy(&x, &bits, 2);
    return (float)x;
}
float from_bits(unsigned u)
{
    float x;
    memcpy(&x, &u, 4);
    return x;
}
float from_f8(unsigned v, int exponent_bits)
{
    const int mantissa_bits = 7 - exponent_bits, bias = (1 << (exponent_bits - 1)) - 1;
    const int e = v >> mantissa_bits & ((1 << exponent_bits) - 1),
              m = v & ((1 << mantissa_bits) - 1);
    float x;
    if (exponent_bits == 4 ? (v & 0x7f) == 0x7f : e == 31 && m)
        x = __builtin_nanf("");
    else if (exponent_bits == 5 && e == 31)
        x = __builtin_inff();
    else
        x = __builtin_ldexpf((float)(e ? m | 1 << mantissa_bits : m),
                             (e ? e : 1) - bias - mantissa_bits);
    return v & 0x80 ? -x : x;
}
struct number {
    int bytes;
    float (*decode)(unsigned);
};
number number_of(const char *name)
{
    static float e4m3[256], e5m2[256];
    if (!e4m3[1])
        for (unsigned i = 0; i < 256; i++) e4m3[i] = from_f8(i, 4), e5m2[i] = from_f8(i, 5);
    if (!strncmp(name, "f16", 3)) return {2, from_f16};
    if (!strncmp(name, "bf16", 4)) return {2, [](unsigned v) { return from_bits(v << 16); }};
    if (!strncmp(name, "tf32", 4))
        return {4, [](unsigned v) { return from_bits(v & 0xffffe000u); }};
    if (!strncmp(name, "e4m3", 4)) return {1, [](unsigned v) { return e4m3[v]; }};
    if (!strncmp(name, "e5m2", 4)) return {1, [](unsigned v) { return e5m2[v]; }};
    if (!strncmp(name, "u8", 2)) return {1, [](unsigned v) { return (float)v; }};
    return {1, [](unsigned v) { return (float)(int8_t)v; }};
}

// 32 bytes along K of row `row` of a tile swizzled by 128 bytes, as numbers `apart` from each
// other.
void read_row(const char *shared, uint64_t descriptor, int row, bool along_k, const number &type,
              float *to, int apart)
{
    const unsigned start = (unsigned)(descriptor & 0x3fff) << 4,
                   panel = (unsigned)(descriptor >> 16 & 0x3fff) << 4,
                   eight = (unsigned)(descriptor >> 32 & 0x3fff) << 4;
    for (int k = 0; k < 32 / type.bytes; k++) {
        const unsigned at = along_k ? start + row / 8 * eight + row % 8 * 128 + k * type.bytes
                                    : start + row / 64 * panel + k / 8 * eight + k % 8 * 128 +
                                          row % 64 * type.bytes;
        unsigned v = 0;
        if (at >= SHARED) fail("wgmma reads address %#x of shared memory", at);
        memcpy(&v, shared + swizzled(at, 7), type.bytes);
        to[k * apart] = type.decode(v);
    }
}

// sum[c] += x[k] * y[k][c]: a row of n columns.
__attribute__((target_clones("arch=haswell", "default"))) void
add_row_f32(float *sum, const float *x, const float (*y)[256], int n, int count)
{
    for (int k = 0; k < count; k++)
        for (int c = 0; c < n; c++) sum[c] += x[k] * y[k][c];
}
__attribute__((target_clones("arch=haswell", "default"))) void
add_row_u32(unsigned *sum, const float *x, const float (*y)[256], int n, int count)
{
    for (int k = 0; k < count; k++)
        for (int c = 0; c < n; c++) sum[c] += (unsigned)((int)x[k] * (int)y[k][c]);
}

uint32_t bits_of(float x)
{
    uint32_t v;
    memcpy(&v, &x, sizeof v);
    return v;
}
// Of fp8: the products of an instruction and the sum so far are aligned to the largest of them, and
// of each as of the result 13 bits of fraction are kept (wgmma.lua).
__attribute__((target_clones("arch=haswell", "default"))) void
add_row_f8(float *sum, const float *x, const float (*y)[256], int n, int count)
{
    uint32_t largest[256];
    float scale[256];
    int total[256];
    for (int c = 0; c < n; c++) largest[c] = bits_of(sum[c]) & 0x7fffffff;
    for (int k = 0; k < count; k++)
        for (int c = 0; c < n; c++)
            largest[c] = std::max(largest[c], bits_of(x[k] * y[k][c]) & 0x7fffffff);
    for (int c = 0; c < n; c++) {
        const uint32_t exponent = largest[c] >> 23;
        const bool finite = exponent > 13 && exponent < 240;
        scale[c] = finite ? from_bits((127 + 127 + 13 - exponent) << 23) : 0;
        total[c] = finite ? (int)(sum[c] * scale[c]) : 0;
    }
    for (int k = 0; k < count; k++)
        for (int c = 0; c < n; c++) {
            const float product = x[k] * y[k][c];
            if (scale[c] > 0)
                total[c] += (int)(product * scale[c]);
            else
                sum[c] += product; // nothing but zeros, or NaN and infinities
        }
    for (int c = 0; c < n; c++)
        if (scale[c] > 0) sum[c] = from_bits(bits_of((float)total[c] / scale[c]) & ~0x3ffu);
}

// One instruction of a warpgroup, the `i`th that its threads wait for: each has its part of the
// sums.
void multiply(const std::unique_ptr<fiber> *thread, size_t i)
{
    const product &first = thread[0]->products[i];
    const ke_wgmma &w = first.w;
    const char *shared = thread[0]->place.shared, *x_name = strchr(w.types, '.') + 1,
               *y_name = strchr(x_name, '.') + 1;
    const number tx = number_of(x_name), ty = number_of(y_name);
    const int count = 32 / tx.bytes;
    static float y[32][256];
    for (int c = 0; c < w.n; c++) read_row(shared, w.y, c, w.y_along_k, ty, &y[0][c], 256);
    for (int row = 0; row < 64; row++) {
        // Its columns lie with four threads, two at a time.
        const std::unique_ptr<fiber> *four = thread + row / 16 * 32 + row % 8 * 4;
        const int r = row / 8 % 2;
        float x[32];
        uint32_t sum[256];
        if (w.x_in_registers)
            for (int k = 0; k < count; k++) {
                unsigned v = 0;
                memcpy(&v, (const char *)four[0]->products[i].x[r] + k * tx.bytes,
                       (size_t)tx.bytes);
                x[k] = tx.decode(v);
            }
        else
            read_row(shared, w.x, row, w.x_along_k, tx, x, 1);
        const auto place = [&](int c) {
            return (uint32_t *)four[c / 2 % 4]->products[i].w.sum + c / 8 * (4 + w.between) +
                   r * 2 + c % 2;
        };
        for (int c = 0; c < w.n; c++) sum[c] = w.add ? *place(c) : 0;
        if (*w.types == 's') {
            add_row_u32(sum, x, y, w.n, count);
        } else {
            float f[256];
            memcpy(f, sum, sizeof f);
            (tx.bytes == 1 ? add_row_f8 : add_row_f32)(f, x, y, w.n, count);
            memcpy(sum, f, sizeof f);
        }
        for (int c = 0; c < w.n; c++) *place(c) = sum[c];
    }
}

// A warpgroup's products are one: they end when all of its threads have issued them, and for all of
// them at once.
void finish_products(int pending)
{
    const int until = running->product_groups - pending;
    const size_t first = running->in->first + running->place.thread / 128 * 128;
    const std::unique_ptr<fiber> *thread = &now->fibers[first];
    wait_until([=] {
        return std::all_of(thread, thread + 128, [=](const std::unique_ptr<fiber> &f) {
            return f->product_groups >= until;
        });
    });
    size_t n = 0;
    for (const std::vector<product> &all = thread[0]->products;
         n < all.size() && all[n].group <= until; n++)
        multiply(thread, n);
    for (size_t i = 0; i < 128; i++)
        thread[i]->products.erase(thread[i]->products.begin(),
                                  thread[i]->products.begin() + (long)n);
}

} // namespace

void ke_seed(unsigned seed)
{
    dice.seed(seed);
}

int ke_launch(void *function, const unsigned *grid, const unsigned *threads, const unsigned *shape,
              unsigned shared, void **params)
{
    std::lock_guard<std::mutex> lock(one_launch);
    const unsigned count = threads[0] * threads[1] * threads[2],
                   blocks = shape[0] * shape[1] * shape[2];
    if (shared > SHARED || count > 1024 || threads[1] * threads[2] != 1 ||
        shape[1] * shape[2] != 1 || !blocks || grid[0] % blocks)
        return 1;
    entry = (void (*)(void *, void *))function, parameter[0] = params[0], parameter[1] = params[1],
    failed = false;
    for (unsigned n = 0; n < grid[0] / blocks * grid[1] * grid[2] && !failed; n++) {
        cluster c;
        now = &c;
        c.blocks.resize(blocks), c.living = (int)(blocks * count);
        try {
            for (unsigned rank = 0; rank < blocks; rank++) {
                block &b = c.blocks[rank];
                b.memory.reset(new char[SHARED + 1024]);
                b.shared = (char *)(((uintptr_t)b.memory.get() + 1023) & ~(uintptr_t)1023);
                memset(b.shared, 0xa5, SHARED);
                b.threads = (int)count, b.warp.resize(count / 32), b.row.resize(count),
                b.x.resize(count), b.numbers.reset(new float[count][24]);
                b.given.resize(count), b.living.assign(count / 32, 32);
                b.passed.resize(count / 32), b.told.resize(count / 32), b.first = c.fibers.size();
                for (unsigned t = 0; t < count; t++)
                    c.fibers.emplace_back(start(
                        &b, {t,
                             {n % (grid[0] / blocks) * blocks + rank,
                              n / (grid[0] / blocks) % grid[1], n / (grid[0] / blocks) / grid[1]},
                             {grid[0], grid[1], grid[2]},
                             rank,
                             blocks,
                             b.shared}));
            }
            run_cluster();
        } catch (failure &) {
            failed = true;
        }
        now = nullptr;
    }
    if (failed) fprintf(stderr, "emulator: %s\n", why);
    return failed ? 719 : 0;
}

/* ---- for kernels ---- */
extern "C" {
ke_place *ke_here;

char *ke_at(unsigned address)
{
    const unsigned rank = address >> KE_RANK, at = address & KE_OFFSET;
    if (rank >= now->blocks.size() || at >= SHARED) fail("address %#x of shared memory", address);
    return now->blocks[rank].shared + at;
}
void ke_barrier(int id, int threads)
{
    come(&running->in->barrier[id], threads ? threads : running->in->threads, true);
}
void ke_barrier_arrive(int id, int threads)
{
    come(&running->in->barrier[id], threads, false);
}
void ke_warp_barrier(void)
{
    come(&running->in->warp[ke_here->thread / 32], running->in->living[ke_here->thread / 32], true);
}
float ke_other_lane(float x, int mask)
{
    const unsigned thread = ke_here->thread;
    running->in->given[thread] = x;
    ke_warp_barrier();
    const float y = running->in->given[thread ^ (unsigned)mask];
    ke_warp_barrier();
    return y;
}
void ke_cluster_arrive(void)
{
    running->met = now->meeting.opened;
    if (++now->meeting.come >= now->living) now->meeting.come = 0, now->meeting.opened++;
}
void ke_cluster_wait(void)
{
    cluster *c = now;
    const int met = running->met;
    wait_until([=] {
        if (c->meeting.opened == met && c->meeting.come >= c->living)
            c->meeting.come = 0, c->meeting.opened++; // others have ended
        return c->meeting.opened != met;
    });
}
void ke_mbarrier_init(unsigned barrier, unsigned arrivals)
{
    *(mbarrier *)ke_at(barrier) = mbarrier{(int16_t)arrivals, (int16_t)arrivals, 0, 0};
}
void ke_mbarrier_arrive(unsigned barrier, unsigned bytes)
{
    mbarrier *b = (mbarrier *)ke_at(barrier);
    if (b->pending <= 0) fail("an arrival too many at the barrier at %#x", barrier);
    b->bytes += (int)bytes, b->pending--;
    check_phase(b);
}
void ke_mbarrier_sent(unsigned barrier, unsigned bytes)
{
    mbarrier *b = (mbarrier *)ke_at(barrier);
    b->bytes -= (int)bytes;
    check_phase(b);
}
void ke_mbarrier_wait(unsigned barrier, unsigned phase)
{
    const mbarrier *b = (const mbarrier *)ke_at(barrier);
    auto *passed = &running->in->passed[ke_here->thread / 32];
    const size_t n = running->waits++;
    const std::pair<unsigned, unsigned> it(barrier, phase);
    wait_until([=] { return b->phase != phase || (n < passed->size() && (*passed)[n] == it); });
    if (n >= passed->size()) passed->resize(n + 1);
    (*passed)[n] = it;
}
unsigned ke_mbarrier_test(unsigned barrier, unsigned phase)
{
    auto *told = &running->in->told[ke_here->thread / 32];
    const size_t n = running->tests++;
    if (n >= told->size()) told->push_back(((const mbarrier *)ke_at(barrier))->phase != phase);
    return (*told)[n];
}
// The offset in the block's own shared memory: what a copy takes is no other block's.
static unsigned own(unsigned address)
{
    if (address >> KE_RANK != ke_here->rank) fail("address %#x is another block's", address);
    return address & KE_OFFSET;
}
void ke_tma_load(unsigned there, const void *map, ke_place_of_box from, unsigned arrives,
                 unsigned mask)
{
    const ke_tensor_map &m = checked(map, from, there);
    const unsigned here = ke_here->rank, to = own(there), barrier = own(arrives);
    now->copies.push_back(
        {[=, &m] {
             for (unsigned rank = 0; rank < now->blocks.size(); rank++) {
                 if (!(mask ? mask >> rank & 1 : rank == here)) continue;
                 char *shared = now->blocks[rank].shared;
                 box_rows(m, from, [&](int at, char *global, int bytes, int ahead, int behind) {
                     for (int i = 0; i < ahead + bytes + behind; i++)
                         shared[swizzled(to + at + i, m.swizzle)] =
                             i < ahead || i >= ahead + bytes ? 0 : global[i - ahead];
                 });
                 mbarrier *b = (mbarrier *)(shared + barrier);
                 b->bytes -= box_bytes(m);
                 check_phase(b);
             }
         },
         nullptr, 0});
}
void ke_tma_store(const void *map, unsigned at, ke_place_of_box to)
{
    const ke_tensor_map &m = checked(map, to, at);
    const unsigned from = own(at);
    const char *shared = ke_here->shared;
    fiber *owner = running;
    now->copies.push_back(
        {[=, &m] {
             box_rows(m, to, [&](int at, char *global, int bytes, int ahead, int behind) {
                 // Pieces of 16 bytes that begin within the tensor are written whole.
                 const int whole = std::min((bytes + 15) / 16 * 16, bytes + behind);
                 for (int i = 0; i < (bytes > 0 ? whole : 0); i++)
                     global[i] = shared[swizzled(from + at + ahead + i, m.swizzle)];
             });
         },
         owner, owner->store_groups + 1});
}
void ke_tma_store_commit(void)
{
    running->store_groups++;
}
void ke_tma_store_wait(int pending)
{
    fiber *f = running;
    const int until = f->store_groups - pending;
    wait_until([=] {
        return std::none_of(now->copies.begin(), now->copies.end(),
                            [=](const copy &c) { return c.owner == f && c.group <= until; });
    });
}
void ke_copy(unsigned to, const void *from, unsigned width, unsigned bytes)
{
    if (to % width || (uintptr_t)from % width) fail("a copy of %u bytes that is not aligned", width);
    if (bytes > width) fail("%u bytes of a copy of %u", bytes, width);
    running->pieces.push_back({ke_at(to), (const char *)from, width, bytes});
}
void ke_copy_commit(void)
{
    fiber *f = running;
    const int group = ++f->copy_groups;
    if (f->pieces.empty()) return;
    f->copying.push_back(group);
    now->copies.push_back({[f, group, pieces = std::move(f->pieces)] {
                               for (const piece &p : pieces) {
                                   memset(p.to, 0, p.width);
                                   memcpy(p.to, p.from, p.bytes);
                               }
                               f->copying.erase(
                                   std::find(f->copying.begin(), f->copying.end(), group));
                           },
                           nullptr, 0});
    f->pieces.clear();
}
void ke_copy_arrive(unsigned barrier)
{
    fiber *f = running;
    if (!f->copying.empty()) fail("copies that arrive at a barrier behind some that are waited for");
    mbarrier *b = (mbarrier *)ke_at(barrier);
    now->copies.push_back({[b, pieces = std::move(f->pieces)] {
                               for (const piece &p : pieces) {
                                   memset(p.to, 0, p.width);
                                   memcpy(p.to, p.from, p.bytes);
                               }
                               b->pending--;
                               check_phase(b);
                           },
                           nullptr, 0});
    f->pieces.clear();
}
void ke_copy_wait(int pending)
{
    fiber *f = running;
    const int until = f->copy_groups - pending;
    wait_until([=] {
        return std::none_of(f->copying.begin(), f->copying.end(),
                            [=](int group) { return group <= until; });
    });
}
unsigned ke_of_lane(unsigned x, unsigned lane)
{
    const unsigned thread = ke_here->thread;
    running->in->row[thread] = x;
    ke_warp_barrier();
    x = running->in->row[thread - thread % 32 + lane % 32];
    ke_warp_barrier();
    return x;
}
// The two elements of matrix i that a lane has a word of: in a row, or, `turned`, in a column.
static char *matrix_element(int i, int element, bool turned)
{
    const unsigned thread = ke_here->thread, lane = thread % 32;
    const unsigned two = lane % 4 * 2 + (unsigned)element;
    const unsigned row = turned ? two : lane / 4, column = turned ? lane / 4 : two;
    return ke_at(running->in->row[thread - lane + 8 * (unsigned)i + row]) + column * 2;
}
void ke_stmatrix(unsigned address, const unsigned *word, int matrices, bool turned)
{
    running->in->row[ke_here->thread] = address;
    ke_warp_barrier();
    for (int i = 0; i < matrices; i++)
        for (int element = 0; element < 2; element++)
            memcpy(matrix_element(i, element, turned), (const char *)&word[i] + element * 2, 2);
    ke_warp_barrier();
}
void ke_ldmatrix(unsigned address, unsigned *word, int matrices, bool turned)
{
    running->in->row[ke_here->thread] = address;
    ke_warp_barrier();
    for (int i = 0; i < matrices; i++)
        for (int element = 0; element < 2; element++)
            memcpy((char *)&word[i] + element * 2, matrix_element(i, element, turned), 2);
    ke_warp_barrier();
}
void ke_mma(void *sum, const unsigned *own, const char *types)
{
    const unsigned thread = ke_here->thread, lane = thread % 32;
    const char *x_name = strchr(types, '.') + 1, *y_name = strchr(x_name, '.') + 1;
    const number tx = number_of(x_name), ty = number_of(y_name);
    const int in_word = 4 / tx.bytes, half = 4 * in_word; // of K: a lane's word, all four lanes'
    const unsigned mask = (1u << tx.bytes * 8) - 1;
    // Each lane decodes its own words, four of X and two of Y, for all.
    float(*lanes)[24] = &running->in->numbers[thread - lane];
    for (int i = 0; i < 6 * in_word; i++)
        lanes[lane][i] = (i < 4 * in_word ? tx : ty)
                             .decode(own[i / in_word] >> i % in_word * tx.bytes * 8 & mask);
    ke_warp_barrier();
    float x[2][32], y[2][32];
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2 * half; k++) {
            const int with = k % half / in_word, at = k % in_word;
            x[i][k] = lanes[lane / 4 * 4 + with][(i + k / half * 2) * in_word + at];
            y[i][k] = lanes[(lane % 4 * 2 + i) * 4 + with][(4 + k / half) * in_word + at];
        }
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 2 * half; k++) {
            if (*types == 's')
                ((int *)sum)[i] += (int)x[i / 2][k] * (int)y[i % 2][k];
            else
                ((float *)sum)[i] += x[i / 2][k] * y[i % 2][k];
        }
    ke_warp_barrier();
}
void ke_wgmma_issue(const ke_wgmma &w)
{
    product p = {w, {}, running->product_groups + 1};
    if (w.x_in_registers) {
        const unsigned thread = ke_here->thread, first = thread / 4 * 4;
        running->in->x[thread] = w.x_register;
        ke_warp_barrier();
        for (int t = 0; t < 4; t++)
            for (int i = 0; i < 4; i++) p.x[i % 2][i / 2 * 4 + t] = running->in->x[first + t][i];
        ke_warp_barrier();
    }
    running->products.push_back(p);
}
void ke_wgmma_commit(void)
{
    running->product_groups++;
}
void ke_wgmma_wait(int pending)
{
    finish_products(pending);
}
}
