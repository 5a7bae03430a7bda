// SPDX-License-Identifier: MIT
// Prints the pace of this core in percent (pace.h): 100 at rest, more where limits are to be wider.
#include "pace.h"

int main(void)
{
    printf("%.0f\n", 100 * pace());
    return 0;
}
