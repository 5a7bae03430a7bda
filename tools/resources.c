// SPDX-License-Identifier: MIT
// Which reader a code object needs, and how many waves of a kernel a machine holds.
#include "resources.h"
#include <stdio.h>
#include <string.h>

enum { MACHINE_AMDGPU = 224, MACHINE_CUDA = 190 };

int kt_resources_read(const void *code, size_t size, const char *symbol, kt_resources *r, char *why,
                      size_t why_size)
{
    kt_elf e;
    *r = (kt_resources){KT_UNKNOWN, KT_UNKNOWN, KT_UNKNOWN, KT_UNKNOWN, KT_UNKNOWN, KT_UNKNOWN,
                        KT_UNKNOWN, KT_UNKNOWN, KT_UNKNOWN, KT_UNKNOWN, KT_UNKNOWN};
    if (!kt_elf_open(code, size, &e)) {
        snprintf(why, why_size, "not an ELF code object");
        return 0;
    }
    r->code = kt_elf_symbol_size(&e, symbol);
    const int amd = e.header.e_machine == MACHINE_AMDGPU,
              nvidia = e.header.e_machine == MACHINE_CUDA;
    if (!amd && !nvidia)
        snprintf(why, why_size, "a code object for ELF machine %u", e.header.e_machine);
    else if (amd ? kt_resources_amd(code, size, symbol, r)
                 : kt_resources_nvidia(code, size, symbol, r))
        return 1;
    else
        snprintf(why, why_size, "damaged, or has no kernel %s", symbol);
    return 0;
}

/* Per SIMD: waves, vector registers of one lane, their allocation block.  Per CU (SM): SIMDs, LDS,
 * its allocation block, what each workgroup takes besides. */
static const struct machine {
    const char *target; /* prefix */
    int wave, waves, registers, block, simds;
    long long lds, lds_block, lds_extra;
} machines[] = {
    {"gfx90a", 64, 8, 512, 8, 4, 65536, 512, 0},
    {"gfx94", 64, 8, 512, 8, 4, 65536, 512, 0},
    {"gfx950", 64, 8, 512, 8, 4, 163840, 1280, 0},
    {"gfx1102", 32, 16, 1024, 16, 2, 65536, 1024, 0},
    {"gfx1103", 32, 16, 1024, 16, 2, 65536, 1024, 0},
    {"gfx11", 32, 16, 1536, 24, 2, 65536, 1024, 0},
    {"gfx12", 32, 16, 1536, 24, 2, 65536, 1024, 0},
    {"sm_90", 32, 64, 2048, 8, 1, 233472, 128,
     1024}, /* an SM counted as one SIMD: 65536 registers / 32 lanes */
};

static long long round_up(long long n, long long to)
{
    return (n + to - 1) / to * to;
}

int kt_occupancy_of(const char *target, const kt_resources *r, long long lds, long long threads,
                    kt_occupancy *o)
{
    const struct machine *m = NULL;
    for (size_t i = 0; i < sizeof machines / sizeof *machines && !m; i++)
        if (!strncmp(target, machines[i].target, strlen(machines[i].target))) m = &machines[i];
    if (!m || r->allocated <= 0 || r->allocated > m->registers) return 0;
    const long long wave = r->wave > 0 ? r->wave : m->wave;
    *o = (kt_occupancy){.waves = m->waves, .most = m->waves, .limit = "waves", .wave = (int)wave};
    /* A 64-wide wave of a 32-lane SIMD takes each register twice. */
    const long long registers =
        round_up(r->allocated, wave > m->wave ? m->block / 2 : m->block) * wave / m->wave;
    if (m->registers / registers < o->waves) {
        o->waves = (int)(m->registers / registers);
        o->limit = "registers";
    }
    const long long of_group = threads > 0 && threads <= 4096 ? (threads + wave - 1) / wave : 0;
    const long long need = round_up(lds > 0 ? lds : 0, m->lds_block) + m->lds_extra;
    if (!of_group) return 1;
    const long long fit = (long long)o->waves * m->simds / of_group,
                    groups = need > 0 ? m->lds / need : fit;
    if (groups < fit) o->limit = "LDS";
    o->waves = (int)(((groups < fit ? groups : fit) * of_group + m->simds - 1) /
                     m->simds); /* whole workgroups only */
    return 1;
}
