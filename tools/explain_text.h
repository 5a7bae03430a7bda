// SPDX-License-Identifier: MIT
// kiln_explain's text on a terminal.
#ifndef KILN_EXPLAIN_TEXT_H
#define KILN_EXPLAIN_TEXT_H
#include <stdio.h>

/* Prints it in lines of at most so many columns; 0: as it is. */
void kt_put_explained(const char *text, size_t columns, FILE *);
#endif
