// SPDX-License-Identifier: MIT
// Wait states that hardware does not insert by itself, as the MI200 and CDNA3 ISA documents list
// them (4.5 "Manually inserted wait states", 7.5 "Dependency resolution"); where the two speak of a
// case in less detail than LLVM's hazard recognizer for gfx90a and gfx940, LLVM's reading is taken,
// so that what compilers emit passes.
#ifndef KS_HAZARD_TABLE_H
#define KS_HAZARD_TABLE_H
#include "hazard.h"

/* How the second instruction depends on the first. V: vector registers, S: scalar ones, C: the
 * matrix addend. */
#define KS_RELATIONS(X)                                                                            \
    X(V_READ, "reads the VGPRs written")                                                           \
    X(V_READ_PAST_DGEMM, "reads the VGPRs written, with an f64 matrix instruction between")        \
    X(V_WRITE, "writes the VGPRs written")                                                         \
    X(V_USE_OTHER_OP, "another opcode uses the VGPRs written")                                     \
    X(V_AB_SAME_OP, "the same opcode reads the VGPRs written, not as its addend")                  \
    X(AB, "reads the VGPRs written as A, B or index")                                              \
    X(C_SAME, "reads exactly the VGPRs written as C")                                              \
    X(C_SAME_2, "reads exactly the VGPRs that two passes wrote as C")                              \
    X(C_PART, "reads as C some of the VGPRs written")                                              \
    X(WRITE_C, "writes VGPRs that are read as C")                                                  \
    X(WRITE_DATA, "writes VGPRs that are being stored")                                            \
    X(S_READ, "reads the SGPRs written")                                                           \
    X(S_CONST, "reads the SGPRs written, not as a mask or carry")                                  \
    X(S_LANE, "takes its lane number from the SGPR written")                                       \
    X(VCC, "reads VCC")                                                                            \
    X(EXEC, "depends on EXEC")                                                                     \
    X(EXEC_READ, "reads EXEC as data")                                                             \
    X(ZERO_FLAG, "reads VCCZ or EXECZ as data")                                                    \
    X(M0, "reads M0")                                                                              \
    X(HWREG, "accesses the same hardware register")                                                \
    X(NEXT, "follows")
typedef enum ks_relation {
#define X(name, text) KS_REL_##name,
    KS_RELATIONS(X)
#undef X
    KS_RELATION_COUNT
} ks_relation;

/* X(targets, kinds of the first, kinds of the second, relation, wait states per pass of the first,
 * and more) */
#define KS_HAZARDS(X)                                                                              \
    X(BOTH, K(SETREG), K(SETREG) | K(GETREG), HWREG, 0, 2)                                         \
    X(BOTH, K(WRITES_S) | K(WRITES_EXEC), K(VALU), ZERO_FLAG, 0, 5)                                \
    X(BOTH, K(WRITES_S), K(SELECT), S_LANE, 0, 4)                                                  \
    X(BOTH, K(WRITES_S), K(FMAS), VCC, 0, 4)                                                       \
    X(BOTH, K(WRITES_S), K(VMEM), S_READ, 0, 5)                                                    \
    X(BOTH, K(SALU_M0), K(READS_M0), M0, 0, 1)                                                     \
    X(BOTH, K(WRITES_V) | K(DOT), K(DPP), V_READ, 0, 2)                                            \
    X(BOTH, K(WRITES_EXEC), K(DPP), EXEC, 0, 5)                                                    \
    X(GFX90A, K(WIDE_STORE), K(VALU), WRITE_DATA, 0, 1)                                            \
    X(GFX942, K(WIDE_STORE), K(VALU), WRITE_DATA, 0, 2)                                            \
    X(GFX942, K(WRITES_S), K(VALU), S_CONST, 0, 2)                                                 \
    X(GFX942, K(WRITES_EXEC), K(VALU), EXEC_READ, 0, 2)                                            \
    X(GFX942, K(WRITES_EXEC), K(LANE), EXEC, 0, 4)                                                 \
    X(GFX942, K(WRITES_V) | K(DOT), K(READ_LANE), V_READ, 0, 1)                                    \
    X(GFX942, K(MOVES), K(VALU) | MATRIX, V_READ, 0, 1)                                            \
    X(GFX942, K(TRANS), K(NO_TRANS) | MATRIX, V_READ, 0, 1)                                        \
    X(GFX90A, K(WRITES_V), K(VMEM) | K(DS), V_READ_PAST_DGEMM, 0, 2)                               \
    X(BOTH, K(DOT), K(VALU) | K(VMEM) | K(DS) | MATRIX, V_USE_OTHER_OP, 0, 3)                      \
    X(BOTH, K(DOT), K(DOT), V_AB_SAME_OP, 0, 3)                                                    \
    X(BOTH, K(WRITES_V), MATRIX, V_READ, 0, 2)                                                     \
    X(BOTH, K(WRITES_EXEC), MATRIX, EXEC, 0, 4)                                                    \
    X(BOTH, DGEMM, K(FMA64), NEXT, 0, 2)                                                           \
    X(BOTH, K(DGEMM4), MATRIX, AB, 0, 6)                                                           \
    X(BOTH, K(DGEMM4), K(DGEMM4), C_SAME, 0, 4)                                                    \
    X(BOTH, K(DGEMM4), DGEMM | K(SGEMM), C_PART, 0, 4)                                             \
    X(BOTH, K(DGEMM4), K(VALU), V_READ, 0, 6)                                                      \
    X(BOTH, K(DGEMM4), K(VALU), V_WRITE, 0, 6)                                                     \
    X(BOTH, K(DGEMM4), K(VMEM) | K(DS), V_READ, 0, 9)                                              \
    X(BOTH, K(DGEMM16), MATRIX, AB, 0, 11)                                                         \
    X(BOTH, K(DGEMM16), DGEMM | K(SGEMM), C_PART, 0, 9)                                            \
    X(BOTH, K(DGEMM16), K(VALU), V_READ, 0, 11)                                                    \
    X(BOTH, K(DGEMM16), K(VALU), V_WRITE, 0, 11)                                                   \
    X(BOTH, K(DGEMM16), K(VMEM) | K(DS), V_READ, 0, 18)                                            \
    X(GFX90A, K(XDL), K(XDL), C_PART, 1, 0)                                                        \
    X(GFX90A, K(XDL), DGEMM, C_PART, 1, 1)                                                         \
    X(GFX942, K(XDL) | K(SGEMM), MATRIX, C_SAME_2, 0, 2)                                           \
    X(GFX942, K(XDL), MATRIX, C_PART, 1, 1)                                                        \
    X(GFX942, K(SGEMM), DGEMM | K(SGEMM), C_PART, 1, 0)                                            \
    X(BOTH, K(XDL), MATRIX, AB, 1, 3)                                                              \
    X(BOTH, K(XDL), K(VALU) | K(VMEM) | K(DS), V_READ, 1, 3)                                       \
    X(BOTH, K(XDL), K(VALU), V_WRITE, 1, 3)                                                        \
    X(BOTH, K(XDL), K(VALU), WRITE_C, 1, -1)                                                       \
    X(GFX942, K(SGEMM), MATRIX, AB, 1, 2)                                                          \
    X(GFX942, K(SGEMM), K(VALU) | K(VMEM) | K(DS), V_READ, 1, 2)                                   \
    X(GFX942, K(SGEMM), K(VALU), V_WRITE, 1, 2)

typedef struct ks_rule {
    uint8_t arches; /* bit: ks_arch */
    uint64_t first, second;
    uint8_t relation, per_pass;
    int8_t more;
} ks_rule;
extern const ks_rule ks_rules[];
extern const size_t ks_rule_count;
#endif
