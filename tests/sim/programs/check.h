// SPDX-License-Identifier: MIT
// A HIP call that must succeed: else its place and error are printed and main returns 1.
#ifndef CHECK_H
#define CHECK_H
#include <stdio.h>
#define CHECK(call)                                                                                \
    do {                                                                                           \
        hipError_t e_ = (call);                                                                    \
        if (e_ != hipSuccess) {                                                                    \
            printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, hipGetErrorString(e_));           \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)
#endif
