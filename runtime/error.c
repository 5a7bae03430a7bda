// SPDX-License-Identifier: MIT
// Statuses by name, the text of a thread's last failure, and text written into callers' buffers.
#include <stdarg.h>
#include <stdio.h>
#include "internal.h"

static _Thread_local char last[2048];

kiln_status kr_fail(kiln_status status, const char *format, ...)
{
    char text[sizeof last]; /* an argument may be the last text itself */
    va_list args;
    va_start(args, format);
    int len = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (len < 0) text[0] = 0;
    snprintf(last, sizeof last, "%s", text);
    kr_log("%s: %s", kiln_status_name(status), last);
    return status;
}

const char *kiln_error(void)
{
    return last;
}

const char *kiln_status_name(kiln_status status)
{
    switch (status) {
#define X(id, name, text)                                                                          \
    case id:                                                                                       \
        return name;
        KILN_STATUSES(X)
#undef X
    }
    return "unknown";
}

const char *kiln_version(void)
{
    return KILN_VERSION;
}

void kr_put(kr_text *t, const char *format, ...)
{
    size_t room = t->p && t->len < t->cap ? t->cap - t->len : 0;
    va_list args;
    va_start(args, format);
    int len = vsnprintf(room ? t->p + t->len : NULL, room, format, args);
    va_end(args);
    if (len > 0) t->len += (size_t)len;
}

kiln_status kr_text_end(const kr_text *t, size_t *len)
{
    *len = t->len + 1;
    if (!t->p || t->len < t->cap) return KILN_OK;
    return kr_fail(KILN_TRUNCATED, "the text takes %zu bytes and the buffer has %zu", t->len + 1,
                   t->cap);
}
