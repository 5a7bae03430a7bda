// SPDX-License-Identifier: MIT
// A file that a command makes, whole or not at all: written beside its place and renamed, so that
// one that was there stays until then.  A device or a pipe is written to as it comes.
#ifndef KILN_OUTPUT_H
#define KILN_OUTPUT_H
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

typedef struct kt_output {
    FILE *f;
    const char *name;                           /* as it was given */
    char path[PATH_MAX], beside[PATH_MAX + 32]; /* links followed; "": written in its place */
    mode_t mode;                                /* of the file that was there; 0: none was */
} kt_output;

/* These say what is wrong; exit codes. */
int kt_output_check(const char *name); /* before there is work for it: could one be written? */
int kt_output_open(const char *name, kt_output *);
int kt_output_close(kt_output *);
#endif
