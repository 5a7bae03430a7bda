// SPDX-License-Identifier: MIT
// kiln new: an instance file to start from.  Never overwrites; the name becomes a file's, so it is
// checked first.
#include "command.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "kiln_reserved.h"

static const char *const reserved[] = {
#define X(word) word,
    KILN_RESERVED(X)
#undef X
};

static int name_ok(const char *name)
{
    const size_t length = strlen(name);
    if (length == 0 || length >= KILN_NAME_MAX || name[0] < 'a' || name[0] > 'z' ||
        strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") != length) {
        kt_message("an op's name has 1 to %d letters a-z, digits and _, a letter first",
                   KILN_NAME_MAX - 1);
        return 0;
    }
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++) {
        if (strcmp(reserved[i], name) != 0) continue;
        kt_message("'%s' is a reserved word", name);
        return 0;
    }
    return 1;
}

const char *kt_template_names(char *text, size_t size, const char *between, const char *last)
{
    size_t used = 0;
    *text = 0;
    for (size_t i = 0; i < kt_template_count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s",
                                 !i                          ? ""
                                 : i + 1 < kt_template_count ? between
                                                             : last,
                                 kt_templates[i].name);
    return text;
}

static const kt_template *find_template(const char *name)
{
    char names[1024];
    for (size_t i = 0; i < kt_template_count; i++)
        if (!strcmp(kt_templates[i].name, name)) return &kt_templates[i];
    kt_message("there is no template '%s'; %s are known", name,
               kt_template_names(names, sizeof names, ", ", ", "));
    return NULL;
}

/* A path that a command in a comment can name: no line ends, nothing that a shell takes apart. */
static int plain(const char *path)
{
    return *path != '-' && path[strspn(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                             "0123456789._/+@,-")] == 0;
}

/* How to build what the folder has, and where its modules then are.  `kiln build` takes what make
 * does: names without blanks. */
static void put_build(FILE *f, const char *folder)
{
    char name[4096];
    snprintf(name, sizeof name, "%s", folder);
    for (size_t n = strlen(name); n > 1 && name[n - 1] == '/'; n--) name[n - 1] = 0;
    const char *slash = strrchr(name, '/'), *last = slash ? slash + 1 : name;
    if (!strcmp(name, "instances"))
        fputs("-- Build it with `make instances`.\n", f);
    else if (plain(name) && *last && *last != '.')
        fprintf(f,
                "-- Build it with `kiln build %s`; programs find it with\n"
                "-- KILN_MODULE_PATH=%s/build.\n",
                name, name);
    else
        fputs(
            "-- Build it with `kiln build DIR`, DIR being this file's folder under a name of "
            "letters, digits and\n-- ._/+@,-; programs find it with KILN_MODULE_PATH=DIR/build.\n",
            f);
}

static void write_instance(FILE *f, const char *path, const char *folder, const char *name,
                           const kt_template *t)
{
    static const char how[] = "-- @HOW@\n", op[] = "@NAME@";
    for (const char *p = t->text; *p;) {
        if (!strncmp(p, how, sizeof how - 1)) {
            fprintf(f, "-- Check this file with `build/bin/kiln-gen --check %s`.\n",
                    plain(path) ? path : "FILE");
            put_build(f, folder);
            p += sizeof how - 1;
        } else if (!strncmp(p, op, sizeof op - 1)) {
            fputs(name, f);
            p += sizeof op - 1;
        } else
            fputc(*p++, f);
    }
}

int cmd_new(const kt_options *o)
{
    const char *name = o->argument[0], *folder = o->folder ? o->folder : "instances";
    const kt_template *t = find_template(o->template ? o->template : "bias");
    char path[4096];
    if (!t) return EXIT_USAGE;
    if (!name_ok(name)) return EXIT_USAGE;
    if (snprintf(path, sizeof path, "%s/%s.lua", folder, name) >= (int)sizeof path) {
        kt_message("the folder's name is too long");
        return EXIT_USAGE;
    }
    if (access(folder, F_OK) != 0 && errno == ENOENT) {
        kt_message(o->folder ? "there is no folder %s: make it first"
                             : "there is no folder %s here: go to a checkout of Kiln, or name a "
                               "folder with --folder",
                   folder);
        return EXIT_USAGE;
    }
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
    if (!f) {
        kt_message("%s: %s", path, strerror(errno));
        return EXIT_USAGE;
    }
    write_instance(f, path, folder, name, t);
    int failed = ferror(f);
    failed |= fclose(f) != 0;
    if (failed) {
        kt_message("%s: %s", path, strerror(errno));
        unlink(path);
        return EXIT_USAGE;
    }
    puts(path);
    return EXIT_PASS;
}
