// SPDX-License-Identifier: MIT
// Memory of one run: an arena that is freed as a whole, and growing text buffers in plain malloc
// memory. Running out is not an error that callers handle: it jumps to where main said, or ends the
// program with status 70.
#include "gen.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGN = 16, CHUNK = 1 << 16 };

typedef struct chunk {
    struct chunk *next;
    size_t used, size;
    _Alignas(ALIGN) char data[];
} chunk;

struct kg_arena {
    chunk *head;
};

static jmp_buf *oom_jump; /* set once by main */

void kg_on_oom(jmp_buf *jump)
{
    oom_jump = jump;
}

_Noreturn void kg_out_of_memory(void)
{
    if (oom_jump) longjmp(*oom_jump, 1);
    fputs("kiln-gen: out of memory\n", stderr);
    _Exit(KG_EXIT_INTERNAL);
}

static void *need(void *p)
{
    if (!p) kg_out_of_memory();
    return p;
}

kg_arena *kg_arena_new(void)
{
    return need(calloc(1, sizeof(kg_arena)));
}

void kg_arena_free(kg_arena *a)
{
    if (!a) return;
    for (chunk *c = a->head, *next; c; c = next) {
        next = c->next;
        free(c);
    }
    free(a);
}

void *kg_alloc(kg_arena *a, size_t size)
{
    if (size > SIZE_MAX / 2) kg_out_of_memory();
    size = (size + ALIGN - 1) / ALIGN * ALIGN;
    chunk *c = a->head;
    if (!c || c->size - c->used < size) {
        size_t room = size > CHUNK / 4 ? size : CHUNK;
        c = need(malloc(sizeof *c + room));
        c->used = 0;
        c->size = room;
        /* A large block gets a chunk of its own behind the head, whose rest stays in use. */
        chunk **at = a->head && room != CHUNK ? &a->head->next : &a->head;
        c->next = *at;
        *at = c;
    }
    void *p = c->data + c->used;
    c->used += size;
    return memset(p, 0, size);
}

void *kg_grow(kg_arena *a, void *v, size_t n, size_t *cap, size_t size)
{
    if (n < *cap) return v;
    *cap = *cap ? 2 * *cap : 32;
    void *more = kg_alloc(a, *cap * size);
    return n ? memcpy(more, v, n * size) : more;
}

char *kg_strndup(kg_arena *a, const char *s, size_t n)
{
    char *p = kg_alloc(a, n + 1);
    if (n) memcpy(p, s, n);
    return p;
}

char *kg_printf(kg_arena *a, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (n < 0) kg_out_of_memory();
    char *p = kg_alloc(a, (size_t)n + 1);
    va_start(args, format);
    vsnprintf(p, (size_t)n + 1, format, args);
    va_end(args);
    return p;
}

static char *room_for(kg_buf *b, size_t n)
{
    if (n >= SIZE_MAX / 4 - b->len) kg_out_of_memory();
    if (b->len + n + 1 > b->cap) {
        size_t cap = b->cap ? b->cap : 256;
        while (cap < b->len + n + 1) cap *= 2;
        b->p = need(realloc(b->p, cap));
        b->cap = cap;
    }
    return b->p + b->len;
}

void kg_put(kg_buf *b, const char *s, size_t n)
{
    char *to = room_for(b, n);
    if (n) memcpy(to, s, n);
    to[n] = 0;
    b->len += n;
}

void kg_puts(kg_buf *b, const char *s)
{
    kg_put(b, s, strlen(s));
}

void kg_putf(kg_buf *b, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (n < 0) kg_out_of_memory();
    char *to = room_for(b, (size_t)n);
    va_start(args, format);
    vsnprintf(to, (size_t)n + 1, format, args);
    va_end(args);
    b->len += (size_t)n;
}

void kg_buf_free(kg_buf *b)
{
    free(b->p);
    *b = (kg_buf){0};
}
