// SPDX-License-Identifier: MIT
// A kernel's printf: its message is the format, then the arguments, each a word of 64 bits, texts
// in place and padded to words.  Each conversion is printed by the host's own printf, with its
// argument cut to the type that the format names; what does not fit the message ends it.
#include <stdlib.h>
#include <string.h>
#include "sim.h"

typedef struct reader {
    const uint64_t *word;
    size_t left;
} reader;

static bool take(reader *r, uint64_t *out)
{
    if (!r->left) return false;
    *out = *r->word++;
    r->left--;
    return true;
}

/* A text that ends within the message; NULL: it does not. */
static const char *take_text(reader *r)
{
    const char *text = (const char *)r->word;
    const char *end = r->left ? memchr(text, 0, r->left * sizeof *r->word) : NULL;
    if (!end) return NULL;
    const size_t words = (size_t)(end - text) / sizeof *r->word + 1;
    r->word += words;
    r->left -= words;
    return text;
}

typedef struct conversion {
    char flags[8];
    bool has_width, has_precision;
    int width, precision;
    char length[3]; /* hh, h, l, ll, j, z, t, L */
    char kind;      /* 0: the format ended */
} conversion;

/* A number or, for '*', the next argument; false: there is none. */
static bool read_number(const char **at, reader *r, bool *has, int *out)
{
    uint64_t argument;
    if (**at == '*') {
        ++*at;
        if (!take(r, &argument)) return false;
        *out = (int)(uint32_t)argument;
        *has = true;
        return true;
    }
    for (*out = 0; **at >= '0' && **at <= '9'; ++*at, *has = true)
        if (*out < 1000000) *out = *out * 10 + (**at - '0');
    return true;
}

/* Moves *at past a conversion whose '%' it has passed. */
static bool read_conversion(const char **at, reader *r, conversion *c)
{
    *c = (conversion){0};
    for (size_t n = 0; **at && strchr("-+ #0", **at); ++*at)
        if (n + 1 < sizeof c->flags && !strchr(c->flags, **at)) c->flags[n++] = **at;
    if (!read_number(at, r, &c->has_width, &c->width)) return false;
    if (**at == '.') {
        ++*at;
        if (!read_number(at, r, &c->has_precision, &c->precision)) return false;
        c->has_precision = true;
    }
    for (size_t n = 0; **at && strchr("hljztL", **at); ++*at)
        if (n + 1 < sizeof c->length) c->length[n++] = **at;
    c->kind = **at;
    if (c->kind) ++*at;
    return true;
}

/* The conversion for a 64-bit integer, a double, a text or a character, with the widths as numbers.
 */
static void spell(const conversion *c, const char *length, char *out, size_t size)
{
    char width[16] = "", precision[16] = "";
    if (c->has_width) snprintf(width, sizeof width, "%d", c->width);
    if (c->has_precision && c->precision >= 0)
        snprintf(precision, sizeof precision, ".%d", c->precision);
    snprintf(out, size, "%%%s%s%s%s%c", c->flags, width, precision, length, c->kind);
}

static long long cut_signed(uint64_t v, const char *length)
{
    if (!strcmp(length, "hh")) return (signed char)v;
    if (!strcmp(length, "h")) return (int16_t)v;
    return *length ? (long long)v : (int32_t)v;
}

static unsigned long long cut_unsigned(uint64_t v, const char *length)
{
    if (!strcmp(length, "hh")) return (unsigned char)v;
    if (!strcmp(length, "h")) return (uint16_t)v;
    return *length ? v : (uint32_t)v;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral" /* spell() has made it for the argument */
/* false: the arguments or what is known of formats end here. */
static bool convert(FILE *to, const conversion *c, reader *r)
{
    char format[64];
    uint64_t v = 0;
    double number;
    const bool integer = strchr("diouxX", c->kind), real = strchr("fFeEgGaA", c->kind);
    if (c->kind == 's') {
        const char *text = take_text(r);
        spell(c, "", format, sizeof format);
        if (text) fprintf(to, format, text);
        return text;
    }
    if (!integer && !real && !strchr("cpn", c->kind)) return false;
    if (!take(r, &v)) return false;
    spell(c, integer ? "ll" : "", format, sizeof format);
    memcpy(&number, &v, sizeof number);
    if (real)
        fprintf(to, format, number);
    else if (c->kind == 'd' || c->kind == 'i')
        fprintf(to, format, cut_signed(v, c->length));
    else if (integer)
        fprintf(to, format, cut_unsigned(v, c->length));
    else if (c->kind == 'c')
        fprintf(to, format, (int)(unsigned char)v);
    else if (c->kind == 'p')
        fprintf(to, format, (void *)(uintptr_t)v);
    return true;
}
#pragma GCC diagnostic pop

static void print(FILE *to, const char *at, reader *r)
{
    conversion c;
    while (*at) {
        const size_t plain = strcspn(at, "%");
        fwrite(at, 1, plain, to);
        at += plain;
        if (!*at) return;
        if (*++at == '%') {
            fputc('%', to);
            at++;
        } else if (!read_conversion(&at, r, &c) || !c.kind || !convert(to, &c, r)) {
            return;
        }
    }
}

int64_t ks_hostcall_print(FILE *out, const uint64_t *word, size_t count)
{
    reader r = {word, count};
    char *text = NULL;
    size_t size = 0;
    const char *format = take_text(&r);
    FILE *to = format ? open_memstream(&text, &size) : NULL;
    if (!to) return -1;
    print(to, format, &r);
    const bool made = fclose(to) == 0;
    const bool written = made && fwrite(text, 1, size, out) == size;
    free(text);
    return written ? (int64_t)size : -1;
}
