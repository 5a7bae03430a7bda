// SPDX-License-Identifier: MIT
// Writing so that a full disk, a kill or an error leaves the previous files whole: everything that
// changed is written aside first and renamed only when all of it is there; what did not change is
// not touched.
#define _GNU_SOURCE /* flock, O_CLOEXEC */
#include "back.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define STAGE_DIR ".stage"

struct kg_changes {
    kg_ctx *cx;
    const char *dir;
    int lock;   /* the folder itself, held while we write: two runs into one folder take turns */
    bool ready; /* STAGE_DIR exists */
    const char **path; /* staged files: STAGE_DIR/0, 1, ... belong at path[i] */
    size_t n, cap, renamed;
    kg_buf old; /* what stands where a file would go */
};

static int read_fd(int fd, kg_buf *b)
{
    struct stat st;
    if (fstat(fd, &st) != 0) return -1;
    for (;;) {
        char part[1 << 16];
        ssize_t n = read(fd, part, sizeof part);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return (int)n;
        kg_put(b, part, (size_t)n);
    }
}

bool kg_read_file(const char *path, kg_buf *b)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    b->len = 0;
    int got = read_fd(fd, b), saved = errno;
    close(fd);
    errno = saved;
    return got == 0;
}

static bool same(const char *path, const char *text, size_t len, kg_buf *old)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    old->len = 0;
    bool equal = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (size_t)st.st_size == len &&
                 read_fd(fd, old) == 0 && old->len == len &&
                 (!len || memcmp(old->p, text, len) == 0);
    close(fd);
    return equal;
}

bool kg_write_all(int fd, const char *text, size_t len)
{
    while (len) {
        ssize_t n = write(fd, text, len);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        text += n;
        len -= (size_t)n;
    }
    return true;
}

/* Writes a whole new file; errno on failure, when nothing is left. */
static bool write_new(const char *path, const char *text, size_t len)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0) return false;
    bool good = kg_write_all(fd, text, len);
    int saved = errno;
    if (close(fd) != 0 && good) {
        good = false;
        saved = errno;
    }
    if (!good) unlink(path);
    errno = saved;
    return good;
}

bool kg_write_if_changed(const char *path, const char *text, size_t len, bool *changed)
{
    kg_buf old = {0};
    *changed = !same(path, text, len, &old);
    kg_buf_free(&old);
    if (!*changed) return true;
    kg_buf temp = {0};
    kg_putf(&temp, "%s.tmp", path);
    bool good = write_new(temp.p, text, len);
    if (good && rename(temp.p, path) != 0) {
        int saved = errno;
        unlink(temp.p);
        errno = saved;
        good = false;
    }
    kg_buf_free(&temp);
    return good;
}

static bool fail(kg_ctx *cx, const char *path, const char *what)
{
    int code = errno;
    cx->io_failed = true;
    kg_error(cx, (kg_pos){kg_strndup(cx->arena, path, strlen(path)), 0, 0}, "%s: %s", what,
             strerror(code));
    return false;
}

bool kg_mkdirs(kg_ctx *cx, const char *path)
{
    char *p = kg_strndup(cx->arena, path, strlen(path));
    for (char *slash = strchr(p + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        if (mkdir(p, 0777) != 0 && errno != EEXIST) return fail(cx, p, "cannot make the folder");
        *slash = '/';
    }
    return true;
}

/* ---- staging ---- */
static const char *stage_path(const kg_changes *s, size_t i)
{
    return kg_printf(s->cx->arena, "%s/" STAGE_DIR "/%zu", s->dir, i);
}

static void clear_stage(const kg_changes *s)
{
    const char *path = kg_printf(s->cx->arena, "%s/" STAGE_DIR, s->dir);
    DIR *d = opendir(path);
    if (!d) return;
    for (struct dirent *e; (e = readdir(d)) != NULL;)
        if (e->d_name[0] != '.') unlinkat(dirfd(d), e->d_name, 0);
    closedir(d);
    rmdir(path);
}

bool kg_changes_open(kg_ctx *cx, const char *dir, kg_changes **out)
{
    kg_changes *s = kg_alloc(cx->arena, sizeof *s);
    s->cx = cx;
    s->dir = dir;
    *out = s;
    s->lock = -1;
    if (!kg_mkdirs(cx, kg_printf(cx->arena, "%s/", dir))) return false;
    s->lock = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (s->lock < 0) return fail(cx, dir, "cannot open the folder");
    if (flock(s->lock, LOCK_EX) != 0 && errno != ENOLCK && errno != EOPNOTSUPP)
        return fail(cx, dir, "cannot lock the folder");
    clear_stage(s);
    return true;
}

static bool make_stage(kg_changes *s)
{
    const char *dir = kg_printf(s->cx->arena, "%s/" STAGE_DIR, s->dir);
    if (!s->ready && mkdir(dir, 0777) != 0 && errno != EEXIST)
        return fail(s->cx, dir, "cannot make the folder");
    return s->ready = true;
}

bool kg_changes_put(kg_changes *s, const char *path, const char *text, size_t len)
{
    kg_ctx *cx = s->cx;
    const char *target = kg_printf(cx->arena, "%s/%s", s->dir, path);
    if (same(target, text, len, &s->old)) return true;
    if (!make_stage(s)) return false;
    s->path = kg_grow(cx->arena, s->path, s->n, &s->cap, sizeof *s->path);
    if (!write_new(stage_path(s, s->n), text, len)) return fail(cx, target, "cannot write it");
    s->path[s->n++] = target;
    return true;
}

bool kg_changes_replace(kg_changes *s, const char *path, const char *text, size_t len)
{
    const char *target = kg_printf(s->cx->arena, "%s/%s", s->dir, path);
    const char *aside = kg_printf(s->cx->arena, "%s/" STAGE_DIR "/now", s->dir);
    if (!make_stage(s)) return false;
    return (write_new(aside, text, len) && rename(aside, target) == 0) ||
           fail(s->cx, target, "cannot write it");
}

bool kg_changes_commit(kg_changes *s)
{
    for (; s->renamed < s->n; s->renamed++) {
        const char *from = stage_path(s, s->renamed), *to = s->path[s->renamed];
        if (rename(from, to) == 0) continue;
        if (errno != ENOENT || !kg_mkdirs(s->cx, to) || rename(from, to) != 0)
            return fail(s->cx, to, "cannot write it");
    }
    return true;
}

void kg_changes_close(kg_changes *s)
{
    if (!s) return;
    if (s->ready) clear_stage(s);
    if (s->lock >= 0) close(s->lock);
    s->lock = -1;
    kg_buf_free(&s->old);
}
