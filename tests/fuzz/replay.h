// SPDX-License-Identifier: MIT
// A fuzz target's main without a fuzzer: runs every file of its corpus (and of the folders given as
// arguments), then mutations of them from a fixed seed; TAP.  With -fsanitize=fuzzer define
// KILN_LIBFUZZER.
#ifndef KILN_REPLAY_H
#define KILN_REPLAY_H
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { REPLAY_MAX = 1 << 16, REPLAY_MUTATIONS = 2000 };
static uint64_t replay_seed = 0x853c49e6748fea9bull;

static inline uint64_t replay_random(void)
{
    replay_seed ^= replay_seed << 13, replay_seed ^= replay_seed >> 7,
        replay_seed ^= replay_seed << 17;
    return replay_seed;
}

static inline void replay_mutations(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(2 * size + 16);
    for (int i = 0; i < REPLAY_MUTATIONS; i++) {
        size_t n = size;
        memcpy(copy, data, size);
        for (uint64_t edits = 1 + replay_random() % 4; edits && n; edits--) {
            const size_t at = replay_random() % n, length = 1 + replay_random() % 8;
            switch (replay_random() % 4) {
            case 0:
                copy[at] = (uint8_t)replay_random();
                break;
            case 1:
                copy[at] ^= (uint8_t)(1u << replay_random() % 8);
                break;
            case 2:
                n = at;
                break;
            default:
                if (at + length <= n && n + length <= 2 * size) {
                    memmove(copy + at + length, copy + at, n - at); /* a piece twice */
                    n += length;
                }
            }
        }
        LLVMFuzzerTestOneInput(copy, n);
    }
    free(copy);
}

static inline int replay_folder(const char *folder, int *number)
{
    struct dirent **entry;
    const int count = scandir(folder, &entry, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", folder, entry[i]->d_name);
        FILE *f = entry[i]->d_name[0] == '.' ? NULL : fopen(path, "rb");
        if (f) {
            uint8_t *data = malloc(REPLAY_MAX);
            const size_t size = fread(data, 1, REPLAY_MAX, f);
            LLVMFuzzerTestOneInput(data, size);
            replay_mutations(data, size);
            printf("ok %d - %s\n", ++*number, entry[i]->d_name);
            free(data);
            fclose(f);
        }
        free(entry[i]);
    }
    if (count >= 0) free(entry);
    return count;
}

#define REPLAY_MAIN(corpus)                                                                        \
    int main(int argc, char **argv)                                                                \
    {                                                                                              \
        int number = 0;                                                                            \
        replay_folder(corpus, &number);                                                            \
        for (int i = 1; i < argc; i++) replay_folder(argv[i], &number);                            \
        printf("1..%d\n", number);                                                                 \
        return number == 0;                                                                        \
    }
#endif
