// SPDX-License-Identifier: MIT
// Traps where kiln_quotient of kiln_mfma.h is not x / y: about multiples of y up to 2^22, of 64 divisors a block, near
// and far apart.  (in, in, out), 64 threads.
#include "kiln_mfma.h"

enum { LIMIT = 1 << 22 };

KILN_KERNEL(64, 1) quotient(const unsigned *, const unsigned *, unsigned *out)
{
    const unsigned block = kiln_block_x();
    for (unsigned i = 0; i < 64; i++) {
        const unsigned y = 1 + block * 64 + i + (block % 4 == 3 ? i << 11 : 0);
        for (unsigned j = 0; j <= 8; j++) {
            const unsigned multiple = (LIMIT - 1) / y * j / 8 * y;
            for (unsigned x = multiple > 0 ? multiple - 1 : 0; x <= multiple + 1 && x < LIMIT; x++)
                if (kiln_quotient(x, y) != (x / y ^ WRONG)) __builtin_trap();
        }
    }
    out[kiln_thread()] = block;
}
