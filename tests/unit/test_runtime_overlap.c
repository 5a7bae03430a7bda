// SPDX-License-Identifier: MIT
// Which strides make batches of E overwrite each other, and which operands of one buffer share an
// element: random small operands against the enumeration of their addresses, and the layouts that
// people use.
#define _GNU_SOURCE
#include "runtime_test.h"

enum { MOST = 1 << 12 };
static uint64_t state_ = 0x9e3779b97f4a7c15ull;

static int64_t draw(int64_t lo, int64_t hi)
{
    state_ ^= state_ << 13, state_ ^= state_ >> 7, state_ ^= state_ << 17;
    return lo + (int64_t)(state_ >> 11) % (hi - lo + 1);
}

static kr_operand operand(int64_t inner, int64_t outer, int64_t ld, int64_t stride, uint32_t size)
{
    return (kr_operand){.bits = 8 * size,
                        .inner = inner,
                        .outer = outer,
                        .ld = ld,
                        .stride = stride,
                        .extent = (outer - 1) * ld + inner};
}

/* Adds `by` to each byte's count; the highest count. */
static int mark(const kr_operand *o, int64_t batch, int64_t at, uint8_t *count)
{
    int most = 0;
    for (int64_t b = 0; b < batch; b++)
        for (int64_t r = 0; r < o->outer; r++)
            for (int64_t i = 0; i < o->inner * (o->bits / 8); i++) {
                const int64_t place = at + (b * o->stride + r * o->ld) * (o->bits / 8) + i;
                assert_true(place < MOST);
                const int n = ++count[place];
                if (n > most) most = n;
            }
    return most;
}

static void test_batches(void **state)
{
    (void)state;
    static uint8_t count[MOST];
    int met = 0, apart = 0, within = 0;
    for (int i = 0; i < 300000; i++) {
        const int64_t inner = draw(1, 9), outer = draw(1, 9), batch = draw(1, 9);
        const int64_t ld = draw(inner, inner + draw(0, 60)), stride = draw(1, draw(2, 120));
        const kr_operand o = operand(inner, outer, ld, stride, 1);
        memset(count, 0, (size_t)((batch - 1) * stride + o.extent));
        const bool meet = mark(&o, batch, 0, count) > 1;
        if (kr_batches_meet(&o, batch) != meet)
            fail_msg("%d runs of %d, %d apart, %d times %d apart: %s", (int)outer, (int)inner,
                     (int)ld, (int)batch, (int)stride, meet ? "they meet" : "they do not meet");
        met += meet;
        apart += !meet;
        within += !meet && batch > 1 && stride < o.extent;
    }
    assert_true(met > 10000 && apart > 10000 && within > 10000);
}

/* What no enumeration reaches is decided as quickly. */
static void test_large(void **state)
{
    (void)state;
    const int64_t most = INT32_MAX;
    kr_operand o = operand(128, 4096, 128 * 32, 128, 2); /* 32 heads of 128 */
    assert_false(kr_batches_meet(&o, 32));
    assert_true(kr_batches_meet(&o, 33));
    o = operand(1, most, most, most - 1, 1); /* r*ld = b*stride first at (ld-1, ld) */
    assert_false(kr_batches_meet(&o, most - 1));
    o = operand(2, most, most, most - 1, 1); /* r*ld - b*stride = 1 at (1, 1) */
    assert_true(kr_batches_meet(&o, 2));
    o = operand(3, most, 1000000007, 998244353, 1);
    assert_true(kr_batches_meet(&o, most));
    assert_false(kr_batches_meet(&o, 50));
}

/* Never apart where they share a byte; how often it is known that they do not. */
static void test_two_operands(void **state)
{
    (void)state;
    static uint8_t count[MOST];
    int apart = 0, known = 0;
    for (int i = 0; i < 300000; i++) {
        const int64_t batch = draw(1, 4), pitch = draw(6, 24);
        kr_operand o[2];
        int64_t at[2];
        memset(count, 0, sizeof count);
        for (int k = 0; k < 2; k++) {
            const int64_t inner = draw(1, 6), outer = draw(1, 5);
            const int64_t ld = draw(0, 3) ? pitch : draw(inner, 30);
            const int64_t stride[] = {inner, 2 * inner, ld * outer, draw(0, 60)};
            o[k] = operand(inner, outer, ld, stride[draw(0, 3)], 1u << draw(0, 2));
            at[k] = draw(0, 40) * (o[k].bits / 8);
            uint8_t one[MOST] = {0};
            mark(&o[k], batch, at[k], one);
            for (int b = 0; b < MOST; b++) count[b] = (uint8_t)(count[b] + (one[b] > 0));
        }
        bool share = false;
        for (int b = 0; b < MOST && !share; b++) share = count[b] > 1;
        const bool yes = kr_interleaved(&o[0], 4096 + (uintptr_t)at[0], batch, &o[1],
                                        4096 + (uintptr_t)at[1], batch);
        if (yes && share)
            fail_msg("%d runs of %d at %d, %d apart, and %d of %d at %d, %d apart, share a byte",
                     (int)o[0].outer, (int)o[0].inner, (int)at[0], (int)o[0].ld, (int)o[1].outer,
                     (int)o[1].inner, (int)at[1], (int)o[1].ld);
        apart += !share;
        known += yes;
    }
    assert_true(apart > 10000 && known > 10000);
}

static void test_layouts(void **state)
{
    (void)state;
    enum { TOKENS = 10, HEADS = 4, SIZE = 8 };
    /* One buffer of [token][head][q k v o][size]: o beside q, k, v of every head. */
    const int64_t slot = SIZE, head = 4 * SIZE, token = HEADS * head;
    const kr_operand part = operand(SIZE, TOKENS, token, head, 2);
    for (int64_t other = 0; other < 3; other++)
        assert_true(kr_interleaved(&part, 4096 + (uintptr_t)(3 * slot * 2), HEADS, &part,
                                   4096 + (uintptr_t)(other * slot * 2), HEADS));
    assert_false(kr_interleaved(&part, 4096, HEADS, &part, 4096 + 2, HEADS));
    /* [token][q of all heads, o of all heads] */
    const kr_operand half = operand(SIZE, TOKENS, 2 * HEADS * SIZE, SIZE, 2);
    assert_true(kr_interleaved(&half, 4096, HEADS, &half, 4096 + HEADS * SIZE * 2, HEADS));
    assert_false(kr_interleaved(&half, 4096, HEADS, &half, 4096 + (HEADS - 1) * SIZE * 2, HEADS));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_batches),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_two_operands),
        cmocka_unit_test(test_layouts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
