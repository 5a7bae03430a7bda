// SPDX-License-Identifier: MIT
// The rows of one tuning file, changed in place: for `kiln tune`, and in libkiln for tuning on
// first use.  Prints nothing: `why` has what went wrong.
#ifndef KILN_TUNING_ROWS_H
#define KILN_TUNING_ROWS_H
#include <kiln.h>
#include <limits.h>
#include <stdio.h>

typedef struct kt_row {
    const char *instance;
    double us, error;
    uint64_t content; /* kiln_kernel_info.content */
} kt_row;

typedef struct kt_rows {
    char path[PATH_MAX]; /* where the file is, links followed */
    char beside[PATH_MAX + 8];
    const char *name; /* as it was given */
    char head[1024];  /* validator lines */
    int replace;      /* the next row is the first */
    char why[1400];
} kt_rows;

/* These return 0, or -1 and why. */
int kt_rows_head(kt_rows *, const kiln_device_info *); /* the device's validators */
/* Which file: a plain one, or none yet. */
int kt_rows_at(kt_rows *, const char *path);
/* Whether rows of `text` hold where this file's do. */
int kt_rows_check(kt_rows *, const char *text);
/* What errno says of the file. */
int kt_rows_wrong(kt_rows *);
/* Adds a row, in place of the problem's earlier ones.  When this returns the file has it, beside
 * what others added to it meanwhile. */
int kt_rows_add(kt_rows *, const char *problem, const kt_row *);
/* The same for any change: writes the file anew from what it has.  A writer that fails has said
 * itself what, and its code is returned. */
typedef int kt_rows_writer(kt_rows *, const char *text, FILE *to, const void *arg);
int kt_rows_update(kt_rows *, kt_rows_writer *, const void *arg);

/* A file's text, malloc'ed; NULL: errno says why. */
char *kt_rows_read(int fd);
void kt_rows_put(FILE *, const char *problem, const kt_row *);
/* Lines of such a text. */
size_t kt_line_length(const char *line); /* without \r\n */
const char *kt_line_next(const char *line);
int kt_line_validates(const char *line);
int kt_line_is_of(const char *line, const char *problem);
#endif
