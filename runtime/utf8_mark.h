// SPDX-License-Identifier: MIT
// What some editors and spreadsheets begin a file of UTF-8 with.
#ifndef KILN_UTF8_MARK_H
#define KILN_UTF8_MARK_H
#include <string.h>

/* Its bytes at the beginning of a file's text; 0: there is none. */
static inline size_t kr_utf8_mark(const char *text)
{
    return strncmp(text, "\xef\xbb\xbf", 3) ? 0 : 3;
}
#endif
