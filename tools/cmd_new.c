// SPDX-License-Identifier: MIT
// kiln new: an instance file to start from.  Never overwrites; the name becomes a file's, so it is
// checked first.
#include "command.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "kiln_reserved.h"

/* Template: name, formula, rows between `types` and the end. */
static const struct template
{
    const char *name, *formula, *types, *body;
}
templates[] = {
    {"bias", "relu(A·B + bias)",
     "  types    = { { a = f16,  b = f16,  e = f16  },       -- element types; sums are in f32, of "
     "integers in i32\n"
     "               { a = bf16, b = bf16, e = bf16 } },\n",
     "  d        = { bias = per_col \"e\" },                   -- extra inputs: full, per_row, "
     "per_col, per_tensor\n"
     "  epilogue = function(acc, d) return relu(acc + d.bias) end,\n"},
    {"residual", "A·B + bias + residual",
     "  types    = { { a = f16,  b = f16,  e = f16  },       -- element types; sums are in f32, of "
     "integers in i32\n"
     "               { a = bf16, b = bf16, e = bf16 } },\n",
     "  d        = { bias = per_col \"e\", residual = full \"e\" }, -- a row of N elements, and a "
     "matrix as large as E\n"
     "  epilogue = function(acc, d) return acc + d.bias + d.residual end,\n"},
    {"gated", "silu(A·B_gate) * (A·B_up)",
     "  types    = { { a = f16,  b = f16,  e = f16  },       -- element types; sums are in f32, of "
     "integers in i32\n"
     "               { a = bf16, b = bf16, e = bf16 } },\n",
     "  b        = { \"gate\", \"up\" },                         -- two products that share A\n"
     "  epilogue = function(acc) return silu(acc.gate) * acc.up end,\n"},
    {"quantized", "scale * (A·B) * channel[n], rounded and saturated",
     "  types    = { { a = i8, b = i8, e = i8 } },           -- sums are in i32, the epilogue is "
     "in f32\n",
     "  d        = { channel = per_col(f32) },               -- one scale per column\n"
     "  scalars  = { \"scale\" },                              -- given at run time\n"
     "  epilogue = function(acc, d, s) return s.scale * acc * d.channel end,\n"},
    {"plain", "A·B",
     "  types    = { { a = f16,  b = f16,  e = f16  } },     -- element types; sums are in f32, of "
     "integers in i32\n",
     "  epilogue = function(acc) return acc end,\n"},
};
enum { TEMPLATES = sizeof templates / sizeof *templates };

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

static const struct template *find_template(const char *name)
{
    for (size_t i = 0; i < TEMPLATES; i++)
        if (!strcmp(templates[i].name, name)) return &templates[i];
    kt_message("there is no template '%s'; bias, residual, gated, quantized, plain are known",
               name);
    return NULL;
}

/* A path that a command in a comment can name: no line ends, nothing that a shell takes apart. */
static int plain(const char *path)
{
    return *path != '-' && path[strspn(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                             "0123456789._/+@,:-")] == 0;
}

/* How to build what the folder has, and where its modules then are.  INSTANCES is a list of names
 * without blanks; the modules are named after the folder's last name. */
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
                "-- Build it with `make instances INSTANCES=%s`; programs find it with\n"
                "-- KILN_MODULE_PATH=build/modules/%s.\n",
                name, last);
    else
        fputs("-- Build it with `make instances INSTANCES=DIR`, DIR being this file's folder under "
              "a name without\n-- blanks or quotes; programs find it with "
              "KILN_MODULE_PATH=build/modules/DIR.\n",
              f);
}

static void write_instance(FILE *f, const char *path, const char *folder, const char *name,
                           const struct template *t)
{
    fprintf(f,
            "-- E = %s\n"
            "-- Check this file with `build/bin/kiln-gen --check %s`.\n",
            t->formula, plain(path) ? path : "FILE");
    put_build(f, folder);
    fprintf(f,
            "gemm \"%s\" {\n"
            "%s"
            "  layouts  = { \"rcr\", \"rrr\" },                         -- A, B, E: r = row-major, "
            "c = column-major\n"
            "%s"
            "  -- tiles = { gfx942 = { simt { m = { 64, 128 }, n = 64 } } },   -- other tile sizes "
            "than the schedule's own\n"
            "  -- check = { shapes = { { 512, 4096, 4096 } } },              -- further m, n, k "
            "for `kiln verify --all`\n"
            "}\n",
            name, t->types, t->body);
}

int cmd_new(const kt_options *o)
{
    const char *name = o->argument[0], *folder = o->folder ? o->folder : "instances";
    const struct template *t = find_template(o->template ? o->template : "bias");
    char path[4096];
    if (!t) return EXIT_USAGE;
    if (!name_ok(name)) return EXIT_USAGE;
    if (snprintf(path, sizeof path, "%s/%s.lua", folder, name) >= (int)sizeof path) {
        kt_message("the folder's name is too long");
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
