// SPDX-License-Identifier: MIT
// Module files.  A file is mapped and its seal verified before the dynamic linker sees it, then
// every number in its table is checked.  Open modules are shared by all contexts of the process and
// counted; one path is one module for as long as anybody has it open, also when the file is
// replaced meanwhile.
#define XXH_INLINE_ALL
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>
#include "internal.h"
#include "references.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static kr_module *modules; /* guarded by mutex */

/* ---- the seal ---- */

static kiln_status check_seal(const char *file, const uint8_t *p, uint64_t size)
{
    kiln_seal seal;
    if (size < sizeof seal)
        return kr_fail(KILN_BAD_MODULE, "%s: too short to be a module; build it again", file);
    const uint64_t body = size - sizeof seal;
    memcpy(&seal, p + body, sizeof seal);
    if (seal.magic != KILN_SEAL_MAGIC)
        return kr_fail(KILN_BAD_MODULE,
                       "%s: truncated, damaged or never sealed (kiln-gen --seal); build it again",
                       file);
    if (seal.code_offset > body || seal.code_size > body - seal.code_offset)
        return kr_fail(KILN_BAD_MODULE,
                       "%s: damaged (its seal points outside the file); build it again", file);
    const uint64_t after = seal.code_offset + seal.code_size;
    XXH3_state_t *state = XXH3_createState();
    if (!state) return kr_fail(KILN_NO_MEMORY, "%s: no memory to verify it", file);
    XXH3_64bits_reset(state);
    XXH3_64bits_update(state, p, seal.code_offset);
    XXH3_64bits_update(state, p + after, body - after);
    XXH3_64bits_update(state, &seal, offsetof(kiln_seal, hash));
    const uint64_t hash = XXH3_64bits_digest(state);
    XXH3_freeState(state);
    if (hash == seal.hash) return KILN_OK;
    return kr_fail(KILN_BAD_MODULE,
                   "%s: damaged (its contents do not match its seal); build it again", file);
}

static kiln_status verify_file(const char *file, struct stat *st)
{
    kiln_status status;
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO must not hold us up */
    if (fd < 0 || fstat(fd, st) != 0) {
        status = kr_fail(KILN_IO, "%s: %s", file, strerror(errno));
    } else if (!S_ISREG(st->st_mode) || st->st_size == 0) {
        status = kr_fail(KILN_BAD_MODULE, "%s: not a module, but %s", file,
                         S_ISREG(st->st_mode) ? "empty" : "no plain file");
    } else {
        const size_t size = (size_t)st->st_size;
        void *p = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (p == MAP_FAILED) {
            status = kr_fail(KILN_IO, "%s: cannot be mapped: %s", file, strerror(errno));
        } else {
            status = check_seal(file, p, size);
            munmap(p, size);
        }
    }
    if (fd >= 0) close(fd);
    return status;
}

/* ---- names of ops ---- */

static bool index_ops(kr_module *m)
{
    const kiln_module *t = m->table;
    m->users = calloc(t->nops + 1, sizeof *m->users);
    if (!m->users || !kr_names_make(&m->op, t->nops)) return false;
    for (uint32_t i = 0; i < t->nops; i++) kr_names_add(&m->op, kr_str(m, t->ops[i].name), i);
    return true;
}

const kiln_op_row *kr_module_op(const kr_module *m, const char *op)
{
    uint32_t at;
    return kr_names_find(&m->op, op, kiln_name_hash(op), &at) ? &m->table->ops[at] : NULL;
}

static kiln_status check_op_names(const kr_module *m)
{
    for (uint32_t i = 0; i < m->table->nops; i++) {
        const char *name = kr_str(m, m->table->ops[i].name);
        if (kr_module_op(m, name) != &m->table->ops[i])
            return kr_fail(KILN_BAD_MODULE, "%s: damaged (op '%s' is in it twice); build it again",
                           m->path, name);
    }
    return KILN_OK;
}

/* ---- opening and closing ---- */

static void destroy(kr_module *m)
{
    if (m->dl) dlclose(m->dl);
    free(m->op.slot);
    free(m->users);
    free(m->path);
    free(m);
}

static kiln_status load(kr_module *m)
{
    struct stat before, after;
    kiln_status status = verify_file(m->path, &before);
    if (status) return status;
    m->dl = dlopen(m->path, RTLD_NOW | RTLD_LOCAL);
    if (!m->dl)
        return kr_fail(KILN_BAD_MODULE, "%s: the dynamic linker refused it: %s", m->path,
                       dlerror());
    if (stat(m->path, &after) != 0 || before.st_ino != after.st_ino ||
        before.st_size != after.st_size || before.st_mtim.tv_sec != after.st_mtim.tv_sec ||
        before.st_mtim.tv_nsec != after.st_mtim.tv_nsec)
        return kr_fail(KILN_BAD_MODULE, "%s: replaced while it was being opened; open it again",
                       m->path);
    m->changed = after.st_mtim;
    m->table = dlsym(m->dl, KILN_MODULE_SYMBOL);
    if (!m->table)
        return kr_fail(KILN_BAD_MODULE, "%s: not a Kiln module (no %s in it)", m->path,
                       KILN_MODULE_SYMBOL);
    status = kr_table_check(m->path, m->table);
    if (status) return status;
    m->absent = dlsym(m->dl, KILN_ABSENT_SYMBOL);
    status = m->absent ? kr_absent_check(m->path, m->table, m->absent) : KILN_OK;
    if (status) return status;
    m->target = kr_str(m, m->table->target);
    if (!index_ops(m)) return kr_fail(KILN_NO_MEMORY, "%s: no memory to open it", m->path);
    return check_op_names(m);
}

kiln_status kr_module_open(const char *path, kr_module **out)
{
    *out = NULL;
    char *real = realpath(path, NULL);
    if (!real) return kr_fail(KILN_IO, "%s: %s", path, strerror(errno));

    pthread_mutex_lock(&mutex);
    kiln_status status = KILN_OK;
    kr_module *m = modules;
    while (m && strcmp(m->path, real) != 0) m = m->next;
    if (m) {
        free(real);
        m->refs++;
    } else if (!(m = calloc(1, sizeof *m))) {
        free(real);
        status = kr_fail(KILN_NO_MEMORY, "%s: no memory to open it", path);
    } else {
        m->path = real;
        m->refs = 1;
        status = load(m);
        if (status) {
            destroy(m);
            m = NULL;
        } else {
            m->next = modules;
            modules = m;
        }
    }
    pthread_mutex_unlock(&mutex);
    *out = m;
    return status;
}

void kr_module_close(kr_module *m)
{
    pthread_mutex_lock(&mutex);
    if (--m->refs == 0) {
        kr_module **link = &modules;
        while (*link != m) link = &(*link)->next;
        *link = m->next;
        destroy(m);
    }
    pthread_mutex_unlock(&mutex);
}

/* ---- ops by name, without a context ---- */

void kr_ops_hold(const kr_op *op, size_t count, int by)
{
    pthread_mutex_lock(&mutex);
    for (size_t i = 0; i < count; i++)
        op[i].module->users[op[i].row - op[i].module->table->ops] += by;
    pthread_mutex_unlock(&mutex);
}

/* The first module from m on in which a context finds the op. */
static kr_module *find_held(kr_module *m, const char *op, const kiln_op_row **row)
{
    for (; m; m = m->next) {
        *row = kr_module_op(m, op);
        if (*row && m->users[*row - m->table->ops] > 0) return m;
    }
    return NULL;
}

kiln_status kr_op_acquire(const char *op, const kiln_op_row **out, kr_module **owner)
{
    const kiln_op_row *row;
    kiln_status status = KILN_OK;
    pthread_mutex_lock(&mutex);
    kr_module *m = find_held(modules, op, out), *other = m;
    while (other && (other = find_held(other->next, op, &row)) && row->hash == (*out)->hash) {
    }
    if (!m)
        status = kr_fail(KILN_NOT_FOUND, "no open context knows the op '%s': open one first", op);
    else if (other)
        status = kr_fail(KILN_INVALID,
                         "op '%s' means one thing in %s and another in %s, and contexts are open "
                         "for both: close one of them",
                         op, m->path, other->path);
    else
        m->refs++;
    pthread_mutex_unlock(&mutex);
    if (status) *out = NULL;
    *owner = status ? NULL : m;
    return status;
}

kiln_status kr_op_guess(const char *name, kr_op *op, bool *known)
{
    kr_module *m;
    const kiln_status status = kr_op_acquire(name, &op->row, &m);
    op->module = m;
    *known = status == KILN_OK;
    for (size_t i = 0; i < KR_NREFERENCES && !op->row; i++)
        if (kr_references[i]->builtin) *op = *kr_references[i]->builtin;
    return op->row ? KILN_OK : status;
}

void kr_op_release(const kr_op *op, bool known)
{
    if (known) kr_module_close((kr_module *)(uintptr_t)op->module);
}
