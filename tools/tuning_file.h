// SPDX-License-Identifier: MIT
// Tuning files as `kiln tune` writes them: validator lines, then
// `problem,instance,us,error,content`.
#ifndef KILN_TUNING_FILE_H
#define KILN_TUNING_FILE_H
#include "command.h"
#include "tuning_rows.h"

typedef struct kt_tuning kt_tuning;
/* The file that -o names, or standard output.  A file that is there keeps its rows, --replace
 * drops them; one that was made with another device or build is refused.  An exit code. */
int kt_tuning_open(const kt_options *, kiln_ctx *, kt_tuning **);
/* Adds a row, in place of the problem's earlier ones.  When this returns the file has it, beside
 * what others added to it meanwhile.  An exit code. */
int kt_tuning_add(kt_tuning *, const kiln_problem *, const kt_row *);
/* Whether the file has a row of the problem whose instance is what it was. */
int kt_tuning_has(const kt_tuning *, kiln_ctx *, const kiln_problem *);
/* The rows of the files that are the arguments, and of -o FILE, into FILE: of each problem the
 * fastest. */
int kt_tuning_merge(const kt_options *);
void kt_tuning_close(kt_tuning *);
/* What a file has, line by line: validators, then rows, quotes taken off.  An exit code. */
int kt_tuning_each(const char *file, void (*validator)(void *, const char *key, const char *value),
                   void (*row)(void *, const char *problem, const kt_row *), void *user);
#endif
