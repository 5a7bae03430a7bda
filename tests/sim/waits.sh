#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Each s_waitcnt and s_nop of tests/sim/kernels/waits.hip that is one too weak is found, once; the same kernel with what is
# needed gives no finding, nor does anything that the compiler makes of waits_clean.hip at any level.
# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=../lib/amd.sh
. tests/lib/amd.sh
lib=$BUILD/lib
kernels=tests/sim/kernels
[ -e "$lib/libkilnsim.so" ] || { echo "1..0 # SKIP no $lib/libkilnsim.so"; exit 77; }
amd_available gfx942 || { echo "1..0 # SKIP no AMD compiler"; exit 77; }
# the library may be built for the address sanitizer
san=()
nm -D "$lib/libkilnsim.so" 2>/dev/null | grep -q __asan_init && san=("-fsanitize=address,undefined")
${CC:-cc} -std=gnu11 -Wall -Wextra "${san[@]}" -Isim -o "$tmp/driver" $kernels/memory_driver.c -L"$lib" -lkilnsim \
    -Wl,-rpath,"$(realpath "$lib")" || exit 1

drive() { # ARGS...: what the driver prints, in $tmp/out; findings do not stop it, so that each is seen
    KILN_SIM=log=off,checks=off,waits=on,hazards=on,errors=off,arch=$target timeout 60 "$tmp/driver" "$@" >"$tmp/out" 2>&1
}
quiet() {
    [ "$(cat "$tmp/out")" = error=0 ]
}

# NAME KIND TEXT
bugs="\
vmcnt waits v20 is read while global_load_dword at 0x[0-9a-f]* is still loading it: insert s_waitcnt vmcnt(1)
lgkmcnt waits v20 is read while ds_read_b32 .* insert s_waitcnt lgkmcnt(1)
scalar waits s40 is read while s_load_dword .* insert s_waitcnt lgkmcnt(0)
flat waits v20 is read while flat_load_dword .* insert s_waitcnt lgkmcnt(0)
atomic waits v20 is read while global_atomic_add .* insert s_waitcnt vmcnt(0)
stored waits v20 is read while global_load_dword .* insert s_waitcnt vmcnt(0)
overwritten waits v20 is written while global_load_dword .* insert s_waitcnt vmcnt(0)
accumulator waits a0 is read while global_load_dword .* insert s_waitcnt vmcnt(0)
scalar_address hazards global_load_dword comes 4 wait states after v_readfirstlane_b32 .*; 5 needed: insert s_nop 0
div_fmas hazards v_div_fmas_f32 comes 3 wait states after v_cmp_eq_u32 .* and reads VCC; 4 needed
lane_select hazards v_readlane_b32 comes 3 wait states after v_readfirstlane_b32 .*; 4 needed
dpp hazards v_add_u32 comes 1 wait state after v_mov_b32 .*; 2 needed
exec_dpp hazards v_add_u32 comes 4 wait states after v_cmpx_eq_u32 .* and depends on EXEC; 5 needed
store_data hazards v_mov_b32 comes [01] wait states* after global_store_dwordx4 .*; [12] needed
m0 hazards s_movrels_b32 comes 0 wait states after s_mov_b32 .* and reads M0; 1 needed
mode hazards s_getreg_b32 comes 1 wait state after s_setreg_imm32_b32 .*; 2 needed
matrix_read hazards v_mov_b32 comes 1[08] wait states after v_mfma_f32_32x32x8_*f16 .*; 1[19] needed
matrix_stored hazards ds_write_b32 comes 1[08] wait states after v_mfma_f32_32x32x8_*f16 .*; 1[19] needed
matrix_part hazards v_mfma_f32_16x16x16_*f16 comes [81]5* wait states after .* reads as C some .*; \(9\|16\) needed
matrix_input hazards v_mfma_f32_16x16x16_*f16 comes 1[08] wait states after .* as A, B or index; 1[19] needed
matrix_addend hazards v_mov_b32 comes \(6\|14\) wait states after .* that are read as C; 1*[75] needed
into_matrix hazards v_mfma_f32_16x16x16_*f16 comes 1 wait state after v_mov_b32 .*; 2 needed
matrix_f64 hazards ds_write_b32 comes 17 wait states after v_mfma_f64_16x16x4_*f64 .*; 18 needed"
gfx942_bugs="\
transcendental hazards v_add_f32 comes 0 wait states after v_exp_f32 .*; 1 needed
moved hazards v_mov_b32 comes 0 wait states after v_mad_i16 .*; 1 needed
scalar_constant hazards v_add_u32 comes 1 wait state after v_readfirstlane_b32 .*; 2 needed"

planted() {
    while read -r name kind text; do
        drive "$object" "${name}_bad"
        [ "$(wc -l <"$tmp/out")" -eq 2 ] && grep -q "^$kind .*text=$text" "$tmp/out" && grep -q '^error=0' "$tmp/out"
        result $? "$target: $name is found"
        drive "$object" "${name}_good"
        quiet
        result $? "$target: no finding without $name"
    done
}
for target in gfx942 gfx90a; do
    object=$tmp/$target.co
    if ! amd_available $target || ! amd_compile $target "$object" $kernels/waits.hip 2>"$tmp/out"; then
        result 1 "$target: compiles"
        continue
    fi
    planted <<<"$bugs"
    [ $target = gfx90a ] || planted <<<"$gfx942_bugs"
    drive "$object" sound
    quiet
    result $? "$target: no finding where nothing is needed"
done

# The compiler's own.
if [ -e "$BUILD/obj/sim.a" ]; then
    libs=$(make -s --no-print-directory BUILD="$BUILD" sim-libs)
    # shellcheck disable=SC2086 # both are lists
    check "walker" ${CC:-cc} -std=gnu11 -Wall -Wextra -O1 "${san[@]}" -Isim -Wl,--wrap=ks_report -o "$tmp/walk" \
        $kernels/waits_walk.c "$BUILD/obj/sim.a" $libs
    for target in gfx942 gfx90a; do
        for level in -O0 -O1 -O3; do
            amd_compile $target "$tmp/clean.co" $kernels/waits_clean.hip $level 2>"$tmp/out" &&
                timeout 60 "$tmp/walk" "$tmp/clean.co" >"$tmp/out" 2>&1
            result $? "$target: what $level makes has no finding"
        done
    done
else
    skip "the compiler's own code" "no $BUILD/obj/sim.a"
fi
finish
