// SPDX-License-Identifier: MIT
// kiln build: modules from a folder of instance files, wherever it lies.  make does it, with the
// rules of the checkout or of the installation that this program is part of; what make cannot take
// or would not find is said before it starts.
#define _GNU_SOURCE
#include "command.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Says that the folder is ours to fill, and to git that nothing of it is to be kept. */
static const char mark[] = "# Written by `kiln build`: all of this folder is built.\n*\n";

typedef struct build {
    char program[PATH_MAX]; /* the folder that this program is in */
    char root[PATH_MAX];    /* that of mk/, abi/ and templates/ */
    char gen[PATH_MAX];
    char folder[PATH_MAX], out[PATH_MAX]; /* sources, modules */
} build;

/* make's lists are split at blanks, and its shell sees the rest. */
static int plain(const char *path)
{
    for (const char *p = path; *p; p++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/+@,-", *p) &&
            (unsigned char)*p < 0x80)
            return 0;
    return 1;
}

static int join(char to[PATH_MAX], const char *folder, const char *name)
{
    const size_t n = strlen(folder), m = strlen(name);
    if (n + 1 + m >= PATH_MAX) {
        kt_message("%s/%s: the name is too long", folder, name);
        return EXIT_USAGE;
    }
    memmove(to, folder, n);
    to[n] = '/';
    memcpy(to + n + 1, name, m + 1);
    return 0;
}

/* What is below the root is named from there: a checkout may lie under any name. */
static const char *from_root(const build *b, const char *path)
{
    const size_t n = strlen(b->root);
    return !strncmp(path, b->root, n) && path[n] == '/' ? path + n + 1 : path;
}

static int find_rules(build *b)
{
    static const char *const place[] = {"../share/kiln", "../..", "../../.."};
    const ssize_t n = readlink("/proc/self/exe", b->program, sizeof b->program - 1);
    char path[PATH_MAX];
    if (n <= 0) {
        kt_message("/proc/self/exe: %s; build rules are found beside this program",
                   n ? strerror(errno) : "empty");
        return EXIT_USAGE;
    }
    b->program[n] = 0;
    *strrchr(b->program, '/') = 0;
    for (size_t i = 0; i < sizeof place / sizeof *place; i++) {
        if (join(path, b->program, place[i]) || !realpath(path, b->root) ||
            join(path, b->root, "mk/folder.mk"))
            continue;
        if (access(path, R_OK)) continue;
        if (join(b->gen, b->program, "kiln-gen")) return EXIT_USAGE;
        if (access(b->gen, X_OK)) {
            kt_message("%s: %s; `make programs` or `make install` of Kiln puts it there", b->gen,
                       strerror(errno));
            return EXIT_USAGE;
        }
        /* An installation under a name that make does not take is named from share/kiln, too. */
        if (!i && !plain(b->gen)) snprintf(b->gen, sizeof b->gen, "../../bin/kiln-gen");
        return 0;
    }
    kt_message(
        "no build rules: neither %s/../share/kiln nor a checkout around it has "
        "mk/folder.mk; install Kiln with `make install`, or run build/bin/kiln of a checkout",
        b->program);
    return EXIT_USAGE;
}

/* ---- the folders ---- */
static int has_sources(const char *folder)
{
    struct dirent *e;
    int found = 0;
    DIR *d = opendir(folder);
    while (d && !found && (e = readdir(d))) {
        const char *dot = strrchr(e->d_name, '.');
        found = dot && !strcmp(dot, ".lua");
    }
    if (d) closedir(d);
    return found;
}

static int name_ok(const build *b, const char *path, const char *remedy)
{
    const char *name = from_root(b, path);
    if (plain(name)) return 1;
    kt_message("make takes letters, digits and ._/+@,- in a folder's name, and '%s' has something "
               "else; %s",
               name, remedy);
    return 0;
}

static int find_folder(const char *name, build *b)
{
    struct stat s;
    if (!realpath(name, b->folder) || stat(b->folder, &s)) {
        kt_message("%s: %s", name, strerror(errno));
        return EXIT_USAGE;
    }
    if (!S_ISDIR(s.st_mode)) {
        kt_message("%s is not a folder; kiln build takes one, with instance files (*.lua) in it",
                   name);
        return EXIT_USAGE;
    }
    if (!has_sources(b->folder)) {
        kt_message("%s: there is no instance file (*.lua) in this folder; `kiln new NAME --folder "
                   "%s` writes one",
                   name, name);
        return EXIT_USAGE;
    }
    return name_ok(b, b->folder, "rename it") ? 0 : EXIT_USAGE;
}

static int empty(const char *folder)
{
    struct dirent *e;
    int entries = 0;
    DIR *d = opendir(folder);
    while (d && (e = readdir(d)))
        if (strcmp(e->d_name, ".") && strcmp(e->d_name, "..")) entries++;
    if (d) closedir(d);
    return d && !entries;
}

static int marked(const char *path)
{
    char text[sizeof mark] = "";
    FILE *f = fopen(path, "r");
    const size_t n = f ? fread(text, 1, sizeof mark - 1, f) : 0;
    if (f) fclose(f);
    return n == sizeof mark - 1 && !memcmp(text, mark, n);
}

/* Two builds write to the same places: the second waits until this process ends.  Where a file
 * system has no locks there is none. */
static void lock_out(const build *b)
{
    const int fd = open(b->out, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || !flock(fd, LOCK_EX | LOCK_NB) || errno != EWOULDBLOCK) return;
    kt_message("another build is at work in %s: waiting for it", b->out);
    flock(fd, LOCK_EX);
}

static int make_out(const char *name, build *b)
{
    char path[PATH_MAX];
    const int made = !mkdir(name, 0777);
    if (!made && errno != EEXIST) {
        kt_message("%s: %s; -o names another folder for the modules", name, strerror(errno));
        return EXIT_USAGE;
    }
    if (!realpath(name, b->out)) {
        kt_message("%s: %s", name, strerror(errno));
        return EXIT_USAGE;
    }
    if (!name_ok(b, b->out, "-o names another folder for the modules")) {
        if (made) rmdir(b->out);
        return EXIT_USAGE;
    }
    if (join(path, b->out, ".gitignore")) return EXIT_USAGE;
    lock_out(b);
    if (marked(path)) return 0;
    if (!made && !empty(b->out)) {
        kt_message("%s has files that kiln build did not write; -o names a folder that is new, "
                   "empty or from an earlier build",
                   name);
        return EXIT_USAGE;
    }
    FILE *f = fopen(path, "w");
    int failed = !f || fputs(mark, f) < 0;
    if (f) failed |= fclose(f) != 0;
    if (!failed) return 0;
    kt_message("%s: %s; -o names another folder for the modules", path, strerror(errno));
    return EXIT_USAGE;
}

static int find_out(const kt_options *o, build *b)
{
    char beside[PATH_MAX];
    if (join(beside, b->folder, "build")) return EXIT_USAGE;
    return make_out(o->output ? o->output : beside, b);
}

/* ---- make ---- */
static char *assignment(const char *name, const char *value)
{
    char *text = NULL;
    return asprintf(&text, "%s=%s", name, value) < 0 ? NULL : text;
}

static char *list(const char *name, const kt_names *names)
{
    char *text = assignment(name, "");
    for (size_t i = 0; text && i < names->count; i++) {
        char *more = NULL;
        if (asprintf(&more, "%s%s%s", text, i ? " " : "", names->name[i]) < 0) more = NULL;
        free(text);
        text = more;
    }
    return text;
}

static int names_ok(const char *option, const kt_names *names)
{
    for (size_t i = 0; i < names->count; i++) {
        if (*names->name[i] && plain(names->name[i])) continue;
        kt_message("--%s '%s' is no name", option, names->name[i]);
        return 0;
    }
    return 1;
}

static int run_make(const kt_options *o, const build *b)
{
    char jobs[32];
    char *argument[12] = {"make", "-f", "mk/folder.mk", jobs};
    size_t n = 4;
    const size_t first = n;
    argument[n++] = assignment("DIR", from_root(b, b->folder));
    argument[n++] = assignment("LIB", from_root(b, b->out));
    argument[n++] = assignment("GEN", from_root(b, b->gen));
    argument[n++] = list("OPS", &o->op);
    if (o->target.count) argument[n++] = list("TARGETS", &o->target);
    if (o->verbose) argument[n++] = assignment("V", "1");
    for (size_t i = first; i < n; i++)
        if (!argument[i]) return kt_message("out of memory"), EXIT_FAILED;
    snprintf(jobs, sizeof jobs, "-j%ld", o->jobs ? o->jobs : sysconf(_SC_NPROCESSORS_ONLN));
    if (getenv("MAKELEVEL")) /* another make's flags and job server are not ours */
        unsetenv("MAKEFLAGS"), unsetenv("MFLAGS"), unsetenv("MAKELEVEL");
    fflush(stdout);

    int status = 0;
    const pid_t child = fork();
    if (!child) {
        if (chdir(b->root)) {
            kt_message("%s: %s", b->root, strerror(errno));
            _exit(EXIT_USAGE);
        }
        execvp(argument[0], argument);
        kt_message("make: %s%s", strerror(errno),
                   errno == ENOENT ? "; kiln build needs GNU make and a C compiler: install them"
                                   : "");
        _exit(EXIT_USAGE);
    }
    const int lost = child < 0 || waitpid(child, &status, 0) < 0;
    if (lost) kt_message("make: %s", strerror(errno));
    for (size_t i = first; i < n; i++) free(argument[i]);
    if (lost) return EXIT_FAILED;
    if (WIFEXITED(status) && !WEXITSTATUS(status)) return EXIT_PASS;
    kt_message("%s was not built", b->folder);
    return EXIT_FAILED;
}

static int is_module(const struct dirent *e)
{
    const size_t n = strlen(e->d_name);
    return !strncmp(e->d_name, "libkiln-", 8) && n > 11 && !strcmp(e->d_name + n - 3, ".so");
}

static int say_modules(const build *b)
{
    struct dirent **entry;
    const int n = scandir(b->out, &entry, is_module, alphasort);
    for (int i = 0; i < n; i++) {
        printf("%s%s", i ? " " : "", entry[i]->d_name);
        free(entry[i]);
    }
    if (n >= 0) free(entry);
    if (n > 0) {
        printf(" in %s; programs find %s with\nexport KILN_MODULE_PATH=%s\n", b->out,
               n > 1 ? "them" : "it", b->out);
        return EXIT_PASS;
    }
    kt_message("no module was built: nothing here compiles any of the targets");
    return EXIT_FAILED;
}

int cmd_build(const kt_options *o)
{
    build b = {0};
    int code = find_rules(&b);
    if (!code) code = find_folder(o->argument[0], &b);
    if (!code && (!names_ok("op", &o->op) || !names_ok("target", &o->target))) code = EXIT_USAGE;
    if (!code) code = find_out(o, &b);
    if (!code) code = run_make(o, &b);
    return code ? code : say_modules(&b);
}
