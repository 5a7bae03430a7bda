// SPDX-License-Identifier: MIT
// Calls two kernels of the family `transpose` as tests/gen/family.sh has generated them, and
// compares all that they write.
#include <stdio.h>
#include <string.h>
#include "kiln_transpose_args.h"
#include "kiln_args.h"

void kiln_flip_f32_f32_host_32(const kiln_transpose_args *, kiln_each);
void kiln_turn_i8_f32_host_16(const kiln_transpose_args *, kiln_each);

enum { BATCH = 2, ROWS = 37, COLS = 50, LDX = 53, LDY = 41 };

int main(void)
{
    static float x[BATCH * ROWS * LDX], y[BATCH * COLS * LDY], offset[ROWS];
    static signed char small[BATCH * ROWS * LDX];
    int wrong = 0;
    for (int i = 0; i < BATCH * ROWS * LDX; i++)
        x[i] = (float)(i % 101), small[i] = (signed char)(i % 101);
    for (int i = 0; i < ROWS; i++) offset[i] = 1000.0f * (float)i;
    kiln_transpose_args g = {.x = x,
                             .y = y,
                             .d = {offset},
                             .ldx = LDX,
                             .ldy = LDY,
                             .stride_x = ROWS * LDX,
                             .stride_y = COLS * LDY,
                             .rows = ROWS,
                             .cols = COLS,
                             .batch = BATCH,
                             .s = {2},
                             .units = 1};
    for (int turn = 0; turn < 2; turn++) {
        memset(y, 0xff, sizeof y);
        g.x = turn ? (const void *)small : x;
        (turn ? kiln_turn_i8_f32_host_16 : kiln_flip_f32_f32_host_32)(&g, NULL);
        for (int b = 0; b < BATCH; b++)
            for (int j = 0; j < COLS; j++)
                for (int i = 0; i < LDY; i++) {
                    const float from = x[(b * ROWS + i % ROWS) * LDX + j],
                                got = y[(b * COLS + j) * LDY + i];
                    wrong += i < ROWS ? got != (turn ? from : 2 * from + offset[i])
                                      : got == got; /* past a row: still NaN */
                }
    }
    if (wrong) printf("%d elements are wrong\n", wrong);
    return wrong != 0;
}
