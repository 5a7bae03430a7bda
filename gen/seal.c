// SPDX-License-Identifier: MIT
// Seals a linked module: appends the hash that the runtime checks before it loads the file.  The
// blob of code objects (section .kiln_code) is left out of the hash, since each object has its own.
#include "back.h"
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

static int complain(const char *file, const char *why)
{
    fprintf(stderr, "kiln-gen: %s: %s\n", file, why);
    return KG_EXIT_USAGE;
}

static bool inside(uint64_t at, uint64_t len, uint64_t size)
{
    return at <= size && len <= size - at;
}

/* Where the blob stands in the file; NULL or what is wrong with the file. */
static const char *find_blob(const uint8_t *p, size_t size, kiln_seal *seal)
{
    Elf64_Ehdr h;
    if (size < sizeof h) return "not a shared object";
    memcpy(&h, p, sizeof h);
    if (memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 || h.e_ident[EI_CLASS] != ELFCLASS64 ||
        h.e_type != ET_DYN)
        return "not a shared object";
    if (h.e_shentsize != sizeof(Elf64_Shdr) ||
        !inside(h.e_shoff, (uint64_t)h.e_shnum * sizeof(Elf64_Shdr), size) ||
        h.e_shstrndx >= h.e_shnum)
        return "its section headers are damaged";
    Elf64_Shdr names, s;
    memcpy(&names, p + h.e_shoff + h.e_shstrndx * sizeof s, sizeof names);
    if (!inside(names.sh_offset, names.sh_size, size)) return "its section headers are damaged";
    static const char want[] = ".kiln_code";
    for (size_t i = 0; i < h.e_shnum; i++) {
        memcpy(&s, p + h.e_shoff + i * sizeof s, sizeof s);
        if (!inside(s.sh_name, sizeof want, names.sh_size)) continue;
        if (memcmp(p + names.sh_offset + s.sh_name, want, sizeof want) != 0) continue;
        if (!inside(s.sh_offset, s.sh_size, size)) return "its section headers are damaged";
        seal->code_offset = s.sh_offset;
        seal->code_size = s.sh_size;
    }
    return NULL;
}

static uint64_t hash_around(const uint8_t *p, size_t size, const kiln_seal *seal)
{
    size_t after = (size_t)(seal->code_offset + seal->code_size);
    XXH3_state_t state;
    XXH3_64bits_reset(&state);
    XXH3_64bits_update(&state, p, (size_t)seal->code_offset);
    XXH3_64bits_update(&state, p + after, size - after);
    XXH3_64bits_update(&state, seal, offsetof(kiln_seal, hash));
    return XXH3_64bits_digest(&state);
}

static int write_sealed(const char *file, const uint8_t *p, size_t size, const kiln_seal *seal,
                        mode_t mode)
{
    kg_buf temp = {0};
    kg_putf(&temp, "%s.seal.tmp", file);
    int fd = open(temp.p, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    bool good = fd >= 0 && fchmod(fd, mode) == 0 && kg_write_all(fd, (const char *)p, size) &&
                kg_write_all(fd, (const char *)seal, sizeof *seal);
    int saved = errno;
    if (fd >= 0 && close(fd) != 0 && good) {
        good = false;
        saved = errno;
    }
    if (good && rename(temp.p, file) != 0) {
        good = false;
        saved = errno;
    }
    if (!good && fd >= 0) unlink(temp.p);
    kg_buf_free(&temp);
    return good ? KG_EXIT_OK : complain(file, strerror(saved));
}

int kg_seal(const char *file)
{
    struct stat st;
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return complain(file, strerror(errno));
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size == 0) {
        close(fd);
        return complain(file, "not a shared object");
    }
    size_t size = (size_t)st.st_size;
    void *map = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (map == MAP_FAILED) return complain(file, strerror(errno));
    const uint8_t *p = map;
    size_t linked = size;
    kiln_seal seal = {.magic = KILN_SEAL_MAGIC}, old;
    if (size >
        sizeof old) { /* a file that was sealed before gets a new seal in place of the old one */
        memcpy(&old, p + size - sizeof old, sizeof old);
        if (old.magic == KILN_SEAL_MAGIC) linked -= sizeof old;
    }
    const char *damage = find_blob(p, linked, &seal);
    int status;
    if (damage) {
        status = complain(file, damage);
    } else {
        seal.hash = hash_around(p, linked, &seal);
        status = write_sealed(file, p, linked, &seal, st.st_mode & 07777);
    }
    munmap(map, size);
    return status;
}
