// SPDX-License-Identifier: MIT
// Tuning files as `kiln tune` writes them: validator lines, then `problem,instance,us,error`.
#ifndef KILN_TUNING_FILE_H
#define KILN_TUNING_FILE_H
#include "command.h"

typedef struct kt_tuning kt_tuning;
/* The file that -o names, or standard output.  A file that is there keeps its rows, --replace
 * drops them; one that was made with another device or build is refused.  An exit code. */
int kt_tuning_open(const kt_options *, kiln_ctx *, kt_tuning **);
/* Adds a row, in place of the problem's earlier ones.  When this returns the file has it, beside
 * what others added to it meanwhile.  An exit code. */
int kt_tuning_add(kt_tuning *, const kiln_problem *, const char *instance, double us, double error);
void kt_tuning_close(kt_tuning *);
#endif
