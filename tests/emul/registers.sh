#!/bin/bash
# SPDX-License-Identifier: MIT
# tests/gpu/registers.awk on listings as nvdisasm writes them: a loop that writes what its products read, one that spills, one over
# lanes around a load, and their sound twins.
# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

# listing LOAD WAIT: a loop that loads by LOAD, waits for all but WAIT groups, and multiplies by R24 to R27, then R28 to R31.
listing() {
    cat <<END
.L_x_1:
        /*0000*/                   SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR17+0x33000], R9 ;
        /*0010*/                   $1 ;
        /*0020*/                   WARPGROUP.DEPBAR.LE gsb0, 0x$2 ;
        /*0030*/                   HGMMA.64x224x16.F32.BF16 R40, R24, gdesc[UR20], R40, gsb0 ;
        /*0040*/                   HGMMA.64x224x16.F32.BF16 R40, R28, gdesc[UR20], R40, gsb0 ;
        /*0050*/               @P0 BRA \`(.L_x_1) ;
        /*0060*/                   MOV R28, RZ ;
END
}
looked() { listing "$2" "$3" | awk -v name=loop -f tests/gpu/registers.awk >"$tmp/out"; }
finds() {
    looked "$@"
    [ $? -eq 1 ] && grep -qF "loop: written while a product reads it: ${2#@* }" "$tmp/out"
    result $? "found: $1"
}
passes() {
    looked "$@"
    result $? "sound: $1"
}

finds "a load into registers of the round before" "LDSM.16.M88.4 R28, [R5]" 1
finds "its last word" "LDSM.16.M88.4 R21, [R5]" 1
finds "with a predicate" "@!P1 LDS.U16 R30, [R5]" 1
passes "other registers" "LDSM.16.M88.4 R32, [R5]" 1
passes "just below them" "LDSM.16.M88.4 R20, [R5]" 1
passes "a store of one" "STS.64 [R5], R28" 1
wait='        /*0008*/                   WARPGROUP.DEPBAR.LE gsb0, 0x0 ;'
listing "LDSM.16.M88.4 R28, [R5]" 0 | sed "2i\\$wait" | awk -v name=loop -f tests/gpu/registers.awk >"$tmp/out"
result $? "sound: a load behind the wait"
# outer INNER OUTER: a loop of products with INNER in it, in another with OUTER.
outer() {
    echo '.L_x_0:'
    listing "$1" 0 | grep -v MOV
    printf '        /*0070*/                   %s ;\n        /*0080*/               @P2 BRA `(.L_x_0) ;\n' "$2"
}
outer '@P1 LDL R3, [R1+0x4] (*"SpillRefill"*)' "IADD3 R3, R3, 0x1, RZ" | awk -v name=loop -f tests/gpu/registers.awk >"$tmp/out"
[ $? -eq 1 ] && [ "$(grep -c 'loop: spilled in a loop of products: @P1 LDL R3' "$tmp/out")" = 1 ]
result $? "found: a spilled register in the innermost loop of products, once"
outer "LDL R3, [R1+UR4]" 'STL [R1+0x4], R3 (*"SpillRefill"*)' | awk -v name=loop -f tests/gpu/registers.awk >"$tmp/out"
result $? "sound: one around it, and an array"
# lanes LOAD: a loop over lanes around that.
lanes() {
    cat <<END
.L_x_2:
        /*0000*/              @P0 ELECT P1, URZ, PT ;
        /*0010*/                  $1 ;
        /*0020*/              @P1 PLOP3.LUT P0, PT, P1, PT, PT, 0x8, 0x0 ;
        /*0030*/              @P0 BRA.U.ANY \`(.L_x_2) ;
END
}
lanes "UTMALDG.3D.MULTICAST [UR16], [UR30], UR8" | awk -v name=loop -f tests/gpu/registers.awk >"$tmp/out"
[ $? -eq 1 ] && grep -qF "loop: a loop over lanes around a load: UTMALDG.3D.MULTICAST" "$tmp/out"
result $? "found: a loop over lanes around a load"
lanes "UTMASTG.3D [UR8], [UR4]" | awk -v name=loop -f tests/gpu/registers.awk >"$tmp/out"
result $? "sound: one around a store"
finish
