// SPDX-License-Identifier: MIT
// Tuning files as `kiln tune` writes them: validator lines, then
// `problem,instance,us,error,content`.
#ifndef KILN_TUNING_FILE_H
#define KILN_TUNING_FILE_H
#include "command.h"

typedef struct kt_tuning kt_tuning;
typedef struct kt_row {
    const char *instance;
    double us, error;
    uint64_t content; /* kiln_kernel_info.content */
} kt_row;
/* The file that -o names, or standard output.  A file that is there keeps its rows, --replace
 * drops them; one that was made with another device or build is refused.  An exit code. */
int kt_tuning_open(const kt_options *, kiln_ctx *, kt_tuning **);
/* Adds a row, in place of the problem's earlier ones.  When this returns the file has it, beside
 * what others added to it meanwhile.  An exit code. */
int kt_tuning_add(kt_tuning *, const kiln_problem *, const kt_row *);
void kt_tuning_close(kt_tuning *);
#endif
