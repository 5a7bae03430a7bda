// SPDX-License-Identifier: MIT
// Control flow, hardware registers, indexed registers, and the instructions that have no effect on results here
// (waits, sleeps, caches): they are counted, and check_wait.c looks at them.
#include "scalar.h"

/* ---- Jumps ---- */
static void jump(ks_wave *w, const ks_inst *inst)
{
    if (inst->target != KS_NO_TARGET) {
        w->ip = inst->target;
        return;
    }
    ks_report(w, inst, KILNSIM_TRAP, -1, 0, "branch to an address that is outside the code or no instruction: "
              "the code object is damaged");
    ks_stop(w, KS_LAUNCH_FAILURE);
}
static void jump_to(ks_wave *w, const ks_inst *inst, uint64_t address)
{
    const ks_object *o = w->launch->object;
    uint64_t pc = address - (uint64_t)(uintptr_t)o->code;
    uint32_t index = pc < o->code_size && pc % 4 == 0 ? o->index_of[pc / 4] : KS_NO_TARGET;
    if (index != KS_NO_TARGET) {
        w->ip = index;
        return;
    }
    ks_report(w, inst, KILNSIM_TRAP, -1, address, "jump to an address that is outside the code or no instruction: "
              "look at the function pointer");
    ks_stop(w, KS_LAUNCH_FAILURE);
}
static uint64_t next_address(const ks_wave *w, const ks_inst *inst)
{
    return (uint64_t)(uintptr_t)w->launch->object->code + inst->pc + inst->bytes;
}
static void write_d(ks_wave *w, const ks_inst *inst, uint64_t value)
{
    ks_scalar_write(w, inst->d[0].reg, inst->d[0].count, value, 0, KS_NO_ORIGIN);
}
static void run_branch(ks_wave *w, const ks_inst *inst)
{
    jump(w, inst);
}
static void run_call(ks_wave *w, const ks_inst *inst)
{
    write_d(w, inst, next_address(w, inst));
    jump(w, inst);
}
static void run_getpc(ks_wave *w, const ks_inst *inst)
{
    write_d(w, inst, next_address(w, inst));
}
static void run_setpc(ks_wave *w, const ks_inst *inst)
{
    uint64_t address;
    if (ks_scalar_need(w, inst, &inst->s[0], "the jump's address", &address))
        jump_to(w, inst, address);
    else
        ks_stop(w, KS_LAUNCH_FAILURE);
}
static void run_swappc(ks_wave *w, const ks_inst *inst)
{
    uint64_t address;
    if (!ks_scalar_need(w, inst, &inst->s[0], "the call's address", &address)) {
        ks_stop(w, KS_LAUNCH_FAILURE);
        return;
    }
    write_d(w, inst, next_address(w, inst));
    jump_to(w, inst, address);
}

/* ---- Conditions: name, special register, its value where the branch is taken ---- */
#define CONDITIONS(X)                                                                                         \
    X(execnz, KS_EXECZ, 0) X(execz, KS_EXECZ, 1) X(scc0, KS_SCC, 0) X(scc1, KS_SCC, 1)                        \
    X(vccnz, KS_VCCZ, 0) X(vccz, KS_VCCZ, 1)
#define X(name, reg_, taken)                                                                                  \
    static void run_cbranch_##name(ks_wave *w, const ks_inst *inst)                                           \
    {                                                                                                         \
        static const ks_operand condition = {.where = KS_SPECIAL, .reg = reg_, .count = 1};                   \
        uint64_t value;                                                                                       \
        ks_scalar_need(w, inst, &condition, "the branch", &value);                                            \
        if (value == taken)                                                                                   \
            jump(w, inst);                                                                                    \
    }
CONDITIONS(X)
#undef X

/* ---- The wave ---- */
static void run_nothing(ks_wave *w, const ks_inst *inst)
{
    (void)w, (void)inst;
}
static void run_endpgm(ks_wave *w, const ks_inst *inst)
{
    (void)inst;
    w->state = KS_ENDED;
}
static void run_barrier(ks_wave *w, const ks_inst *inst)
{
    ks_barrier_missed(w, ks_exec_of(w));
    if (!w->missed_lanes)
        w->missed = inst;
    w->missed_lanes |= w->live & ~ks_exec_of(w);
    w->state = KS_AT_BARRIER;
    ks_lds_barrier_arrive(w);
}
void ks_barrier_missed(ks_wave *w, uint64_t lanes)
{
    uint64_t missing = w->missed_lanes & lanes;
    if (!missing)
        return;
    w->missed_lanes = 0;
    ks_report(w, w->missed, KILNSIM_BARRIER, __builtin_ctzll(missing), 0,
              "barrier in divergent code: %d of the wave's %d work-items go on without having reached it; move it out "
              "of the branch", __builtin_popcountll(missing), __builtin_popcountll(w->live));
}
static void run_sleep(ks_wave *w, const ks_inst *inst)
{
    enum { UNIT = 64 };
    w->slept += (uint64_t)(inst->imm & 127) * UNIT;
    w->state = KS_YIELDED;
}
static void run_trap(ks_wave *w, const ks_inst *inst)
{
    ks_report(w, inst, KILNSIM_TRAP, -1, 0, "s_trap %d: the kernel stopped itself (abort, assert, unreachable code)",
              inst->imm & 0xff);
    ks_stop(w, KS_LAUNCH_FAILURE);
}
static void run_sendmsg(ks_wave *w, const ks_inst *inst)
{
    enum { MSG_INTERRUPT = 1 };
    if ((inst->imm & 15) == MSG_INTERRUPT) { /* wakes the host */
        ks_hostcall_answer(w, inst);
        return;
    }
    ks_report(w, inst, KILNSIM_UNKNOWN, -1, 0, "message %d: the simulator knows none but interrupts, the launch stops here", inst->imm & 15);
    ks_stop(w, KS_LAUNCH_FAILURE);
}

/* ---- Hardware registers ---- */
enum { HW_MODE = 1, HW_STATUS, HW_TRAPSTS, HW_HW_ID, HW_GPR_ALLOC, HW_LDS_ALLOC, HW_IB_STS,
       HW_SH_MEM_BASES = 15, HW_XCC_ID = 20 };
enum { MODE_GPR_IDX = 1 << 27, XCC_COUNT = 8, SIMD_COUNT = 4, CU_COUNT = 10 };

static uint32_t status_of(const ks_wave *w)
{
    const ks_operand vccz = {.where = KS_SPECIAL, .reg = KS_VCCZ};
    uint64_t undefined;
    uint32_t no_vcc = (uint32_t)ks_scalar_read((ks_wave *)(uintptr_t)w, &vccz, &undefined);
    return w->scc | (uint32_t)!ks_exec_of(w) << 9 | no_vcc << 10 | (uint32_t)(w->group->wave_count > 1) << 11 |
           1u << 16;
}
/* Workgroups are handed out to XCCs in turn, within one to compute units in turn. */
static uint32_t hw_id_of(const ks_wave *w)
{
    uint64_t n = w->launch->object->arch == KS_GFX942 ? w->group->index / XCC_COUNT : w->group->index;
    uint32_t cu = (uint32_t)(n % CU_COUNT), se = (uint32_t)(n / CU_COUNT % 4);
    return w->index / SIMD_COUNT | w->index % SIMD_COUNT << 4 | cu << 8 | se << 13;
}
static uint32_t hwreg_read(const ks_wave *w, unsigned id)
{
    switch (id) {
    case HW_MODE: return w->mode | (w->gpr_index_on ? MODE_GPR_IDX : 0);
    case HW_STATUS: return status_of(w);
    case HW_HW_ID: return hw_id_of(w);
    case HW_LDS_ALLOC: return (w->launch->lds + 511) / 512 << 12;
    case HW_SH_MEM_BASES: return (uint32_t)(KS_SHARED_BASE >> 48 << 16 | KS_PRIVATE_BASE >> 48);
    case HW_XCC_ID: return w->launch->object->arch == KS_GFX942 ? (uint32_t)(w->group->index % XCC_COUNT) : 0;
    default: return 0; /* no traps, nothing outstanding */
    }
}
typedef struct field {
    unsigned id, offset;
    uint32_t mask;
} field;
static field field_of(const ks_inst *inst)
{
    unsigned imm = (unsigned)inst->imm & 0xffff, size = (imm >> 11) + 1;
    return (field){imm & 63, imm >> 6 & 31, size == 32 ? UINT32_MAX : (1u << size) - 1};
}
static void run_getreg(ks_wave *w, const ks_inst *inst)
{
    field f = field_of(inst);
    write_d(w, inst, hwreg_read(w, f.id) >> f.offset & f.mask);
}
static void run_setreg(ks_wave *w, const ks_inst *inst)
{
    field f = field_of(inst);
    uint64_t value;
    if (!ks_scalar_need(w, inst, &inst->s[0], "a hardware register's new value", &value) || f.id != HW_MODE)
        return; /* nothing else that may be written has an effect */
    uint32_t mode = hwreg_read(w, HW_MODE) & ~(f.mask << f.offset);
    mode |= ((uint32_t)value & f.mask) << f.offset;
    w->gpr_index_on = mode & MODE_GPR_IDX;
    w->mode = mode & ~(uint32_t)MODE_GPR_IDX;
}

/* ---- Indexed registers ---- */
/* M0's bits of mask become value; undefined: those that are not known. */
static void set_m0(ks_wave *w, uint32_t mask, uint32_t value, uint32_t undefined, uint32_t origin)
{
    ks_scalar_write(w, KS_M0, 1, (w->s[KS_M0] & ~mask) | (value & mask),
                    (w->su[KS_M0] & ~mask) | (undefined & mask), origin);
}
static void run_gpr_idx(ks_wave *w, const ks_inst *inst)
{
    uint64_t undefined, value = ks_scalar_read(w, &inst->s[0], &undefined);
    set_m0(w, 0xff, (uint32_t)value, (uint32_t)undefined, ks_scalar_origin(w, &inst->s[0]));
}
static void run_gpr_idx_on(ks_wave *w, const ks_inst *inst)
{
    w->gpr_index_on = true;
    run_gpr_idx(w, inst);
    set_m0(w, 0xf000, (inst->word[0] >> 8 & 15) << 12, 0, w->s_origin[KS_M0]);
}
static void run_gpr_idx_off(ks_wave *w, const ks_inst *inst)
{
    (void)inst;
    w->gpr_index_on = false;
}
static void run_gpr_idx_mode(ks_wave *w, const ks_inst *inst)
{
    set_m0(w, 0xf000, ((uint32_t)inst->imm & 15) << 12, 0, w->s_origin[KS_M0]);
}
/* reg + M0, where that and the next count - 1 are general registers or VCC. */
static bool moved(ks_wave *w, const ks_inst *inst, const ks_operand *o, ks_operand *out)
{
    static const ks_operand m0 = {.where = KS_SGPR, .reg = KS_M0, .count = 1};
    uint64_t index;
    if (!ks_scalar_need(w, inst, &m0, "the register's index in M0", &index))
        return false;
    *out = *o;
    if (index <= KS_VCC && o->reg + index + o->count <= KS_VCC + 2) {
        out->reg = (uint16_t)(o->reg + index);
        return true;
    }
    ks_report(w, inst, KILNSIM_TRAP, -1, 0, "s%u indexed by M0 = %d is no register: check the index", o->reg,
              (int)index);
    ks_stop(w, KS_LAUNCH_FAILURE);
    return false;
}
static void move(ks_wave *w, const ks_operand *d, const ks_operand *s)
{
    uint64_t undefined, value = ks_scalar_read(w, s, &undefined);
    ks_scalar_write(w, d->reg, d->count, value, undefined, ks_scalar_origin(w, s));
}
static void run_movrels(ks_wave *w, const ks_inst *inst)
{
    ks_operand s;
    if (moved(w, inst, &inst->s[0], &s))
        move(w, &inst->d[0], &s);
}
static void run_movreld(ks_wave *w, const ks_inst *inst)
{
    ks_operand d;
    if (moved(w, inst, &inst->d[0], &d))
        move(w, &d, &inst->s[0]);
}

/* name, run, class, flags, destination, source; sorted by name */
#define FLOW_OPS(X)                                                                                           \
    X(s_barrier, barrier, BARRIER, 0, NONE, NONE)                                                             \
    X(s_branch, branch, BRANCH, KS_F_JUMP, NONE, NONE)                                                        \
    X(s_call_b64, call, BRANCH, KS_F_JUMP, B64, NONE)                                                         \
    X(s_cbranch_cdbgsys, nothing, BRANCH, 0, NONE, NONE) /* no debugger is attached */                        \
    X(s_cbranch_cdbgsys_and_user, nothing, BRANCH, 0, NONE, NONE)                                             \
    X(s_cbranch_cdbgsys_or_user, nothing, BRANCH, 0, NONE, NONE)                                              \
    X(s_cbranch_cdbguser, nothing, BRANCH, 0, NONE, NONE)                                                     \
    X(s_cbranch_execnz, cbranch_execnz, BRANCH, KS_F_JUMP, NONE, NONE)                                        \
    X(s_cbranch_execz, cbranch_execz, BRANCH, KS_F_JUMP, NONE, NONE)                                          \
    X(s_cbranch_scc0, cbranch_scc0, BRANCH, KS_F_JUMP | KS_F_SCC_IN, NONE, NONE)                              \
    X(s_cbranch_scc1, cbranch_scc1, BRANCH, KS_F_JUMP | KS_F_SCC_IN, NONE, NONE)                              \
    X(s_cbranch_vccnz, cbranch_vccnz, BRANCH, KS_F_JUMP, NONE, NONE)                                          \
    X(s_cbranch_vccz, cbranch_vccz, BRANCH, KS_F_JUMP, NONE, NONE)                                            \
    X(s_decperflevel, nothing, NOP, 0, NONE, NONE)                                                            \
    X(s_endpgm, endpgm, SALU, KS_F_END, NONE, NONE)                                                           \
    X(s_endpgm_saved, endpgm, SALU, KS_F_END, NONE, NONE)                                                     \
    X(s_getpc_b64, getpc, SALU, 0, B64, NONE)                                                                 \
    X(s_getreg_b32, getreg, SALU, 0, B32, NONE)                                                               \
    X(s_icache_inv, nothing, CACHE, 0, NONE, NONE)                                                            \
    X(s_incperflevel, nothing, NOP, 0, NONE, NONE)                                                            \
    X(s_movreld_b32, movreld, SALU, 0, B32, B32)                                                              \
    X(s_movreld_b64, movreld, SALU, 0, B64, B64)                                                              \
    X(s_movrels_b32, movrels, SALU, 0, B32, B32)                                                              \
    X(s_movrels_b64, movrels, SALU, 0, B64, B64)                                                              \
    X(s_nop, nothing, NOP, 0, NONE, NONE)                                                                     \
    X(s_sendmsg, sendmsg, MESSAGE, 0, NONE, NONE)                                                             \
    X(s_set_gpr_idx_idx, gpr_idx, SALU, 0, NONE, B32)                                                       \
    X(s_set_gpr_idx_mode, gpr_idx_mode, SALU, 0, NONE, NONE)                                                  \
    X(s_set_gpr_idx_off, gpr_idx_off, SALU, 0, NONE, NONE)                                                    \
    X(s_set_gpr_idx_on, gpr_idx_on, SALU, 0, NONE, B32)                                                       \
    X(s_sethalt, nothing, NOP, 0, NONE, NONE)                                                                 \
    X(s_setpc_b64, setpc, BRANCH, KS_F_JUMP, NONE, B64)                                                       \
    X(s_setprio, nothing, NOP, 0, NONE, NONE)                                                                 \
    X(s_setreg_b32, setreg, SALU, 0, NONE, B32)                                                               \
    X(s_setreg_imm32_b32, setreg, SALU, 0, NONE, B32)                                                         \
    X(s_sleep, sleep, NOP, 0, NONE, NONE)                                                                     \
    X(s_swappc_b64, swappc, BRANCH, KS_F_JUMP, B64, B64)                                                      \
    X(s_trap, trap, MESSAGE, 0, NONE, NONE)                                                                   \
    X(s_ttracedata, nothing, MESSAGE, 0, NONE, NONE)                                                          \
    X(s_waitcnt, nothing, WAIT, 0, NONE, NONE)                                                                \
    X(s_wakeup, nothing, NOP, 0, NONE, NONE)
static const ks_op ops[] = {
#define X(name_, run, class_, flags_, D, A)                                                                   \
    { .name = #name_, .exec = run_##run, .flags = (flags_), .class = KS_##class_##_OP,                        \
      .d = { { KS_##D, 0 } }, .s = { { KS_##A, 0 } } },
    FLOW_OPS(X)
#undef X
};
ks_op_table ks_flow_ops(void)
{
    return (ks_op_table){ops, sizeof ops / sizeof *ops};
}
