// SPDX-License-Identifier: MIT
// Source lines of a code object's instructions, from .debug_line through libdw: one sorted table,
// made when first asked.
#include <elfutils/libdw.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "object.h"

typedef struct row {
    uint64_t address;
    const char *file; /* libdw's; NULL: the end of a sequence */
    int line;
    uint32_t order; /* later rows of one address win */
} row;
typedef struct lines {
    Elf *elf;
    Dwarf *dwarf;
    row *row;
    size_t count, room;
} lines;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int by_address(const void *a, const void *b)
{
    const row *x = a, *y = b;
    if (x->address != y->address) return x->address < y->address ? -1 : 1;
    return x->order < y->order ? -1 : 1;
}
static bool add_row(lines *l, Dwarf_Line *from)
{
    row r = {.order = (uint32_t)l->count};
    bool end = false;
    if (dwarf_lineaddr(from, &r.address) || dwarf_lineno(from, &r.line) ||
        dwarf_lineendsequence(from, &end))
        return true;
    r.file = end ? NULL : dwarf_linesrc(from, NULL, NULL);
    if (l->count == l->room) {
        l->room = l->room ? 2 * l->room : 1024;
        row *more = realloc(l->row, l->room * sizeof *more);
        if (!more) return false;
        l->row = more;
    }
    l->row[l->count++] = r;
    return true;
}
static void read_lines(lines *l)
{
    Dwarf_CU *unit = NULL;
    Dwarf_Die die;
    Dwarf_Lines *table;
    size_t n;
    while (!dwarf_get_units(l->dwarf, unit, &unit, NULL, NULL, &die, NULL)) {
        if (dwarf_getsrclines(&die, &table, &n)) continue;
        for (size_t i = 0; i < n; i++)
            if (!add_row(l, dwarf_onesrcline(table, i))) return;
    }
    if (l->count) qsort(l->row, l->count, sizeof *l->row, by_address);
}
static lines *open_lines(const ks_object *o)
{
    lines *l = calloc(1, sizeof *l);
    if (!l) return NULL;
    l->elf = elf_memory((char *)o->elf, o->elf_size);
    l->dwarf = l->elf ? dwarf_begin_elf(l->elf, DWARF_C_READ, NULL) : NULL;
    if (l->dwarf) read_lines(l);
    return l;
}
void ks_lines_free(void *opened)
{
    lines *l = opened;
    if (!l) return;
    free(l->row);
    dwarf_end(l->dwarf);
    elf_end(l->elf);
    free(l);
}
/* The last row at or before an address. */
static const row *find_row(const lines *l, uint64_t address)
{
    size_t low = 0, high = l->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (l->row[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? &l->row[low - 1] : NULL;
}
void ks_object_line(ks_object *o, uint32_t pc, char *out, size_t size)
{
    if (!size) return;
    *out = 0;
    pthread_mutex_lock(&lock);
    if (!o->lines) o->lines = open_lines(o);
    const row *r = o->lines ? find_row(o->lines, o->code_vaddr + pc) : NULL;
    if (r && r->file && r->line > 0) snprintf(out, size, "%s:%d", r->file, r->line);
    pthread_mutex_unlock(&lock);
}
