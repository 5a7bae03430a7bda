#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Each planted bug of tests/sim/kernels/memory_bugs.hip is found, with its kind, lane, wave, address and source line, and
# the same kernel without the bug gives no finding; likewise for memory freed wrongly.
# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh disable=SC2154,SC2054,SC2015
. "$(dirname "$0")/../lib/tap.sh"
. tests/lib/amd.sh
lib=$BUILD/lib
kernels=tests/sim/kernels
[ -e "$lib/libkilnsim.so" ] || { echo "1..0 # SKIP no $lib/libkilnsim.so"; exit 77; }
amd_available gfx942 || { echo "1..0 # SKIP no AMD compiler"; exit 77; }
# the library may be built for the address sanitizer
san=()
! nm -D "$lib/libkilnsim.so" 2>/dev/null | grep -q __asan_init || san=(-fsanitize=address,undefined)
${CC:-cc} -std=gnu11 -Wall -Wextra "${san[@]}" -Isim -o "$tmp/driver" $kernels/memory_driver.c -L"$lib" -lkilnsim \
    -Wl,-rpath,"$(realpath "$lib")" || exit 1

drive() { # OPTIONS ARGS...: what the driver prints, in $tmp/out
    KILN_SIM=log=off,$1 timeout 60 "$tmp/driver" "${@:2}" >"$tmp/out" 2>&1
}
line_of() { # the source line below "BUG NAME"
    awk -v bug="// BUG $1" '{ sub(/^ */, "") } $0 == bug { print FNR + 1; exit }' $kernels/memory_bugs.hip
}
found() { # NAME KIND LANE WAVE ADDRESS TEXT: one finding, and it is this one
    [ "$(wc -l <"$tmp/out")" -eq 2 ] &&
        grep -q "^$2 lane=$3 wave=$4 at=$5 line=memory_bugs.hip:$(line_of "$1") text=.*$6" "$tmp/out"
}
quiet() {
    [ "$(cat "$tmp/out")" = error=0 ]
}

# NAME KIND LANE WAVE ADDRESS TEXT; a kernel whose twin has nothing to compare with stands in `sound`
bugs="\
after bounds 37 0 in+4096 just past the end of allocation 1 (4096 bytes)
before bounds 6 1 out-1 1 byte before allocation 2 (4096 bytes)
part bounds 5 0 in+4088 its last 8 bytes past the end of allocation 1
freed freed 0 0 in+0 byte 0 of allocation 1 (4096 bytes), which was freed
crooked misaligned 9 0 in+6 atomic of 4 bytes .* is not aligned to 4
unaligned misaligned 3 0 in+13 load of 4 bytes .* is not aligned to 4
buffer bounds 63 3 in+4096 just past the end of allocation 1
lds lds_bounds 2 2 1024 the workgroup has 1024 bytes
raw races 0 1 256 store of wave 1 at LDS byte 256 races with the load of wave 0, lane 0
war races 0 1 0 load of wave 1 at LDS byte 0 races with the store of wave 0, lane 0
waw races 0 1 256 store of wave 1 at LDS byte 256 races with the store of wave 0, lane 0
bytes races 11 2 45 load of wave 2 at LDS byte 45 races with the store of wave 1, lane 11
lanes races 1 0 0 lanes 0 and 1 of one store write 0x0 and 0x1
wait races 0 0 256 races with the store of wave 1, lane 0, .*: wait for that (s_waitcnt lgkmcnt(0)) before the barrier
unwritten_lds undefined 33 0 out+132 stores undefined bits (0xffffffff) of v[0-9]*, from the instruction at pc
unwritten_global undefined 33 0 in+132 stores undefined bits (0xffffffff) of v[0-9]*, from the instruction at pc
unwritten_among undefined 2 1 in+264 stores undefined bits (0xffffffff) of v[0-9]*, from the instruction at pc
unwritten_scalar undefined 0 0 in+0 stores undefined bits (0xffffffff) of v
unwritten_register undefined 0 0 out+0 stores undefined bits (0xffffffff) of v77, nothing has written it
unwritten_address undefined 0 0 0 address in v77 has undefined bits
unwritten_branch undefined -1 0 0 branch
private scratch_bounds 13 1 [0-9]* of private memory
own_direct waits 0 0 0 LDS byte 0 is read while buffer_load_.*dword at .* is still loading it: insert s_waitcnt vmcnt(1)
barrier barriers 40 0 0 24 of the wave's 64 work-items go on without having reached it
flat lds_bounds 8 3 1024 load of 4 bytes at LDS byte 1024"
direct="direct races 0 0 256 races with the store of wave 1, lane 0, .*: wait for that (s_waitcnt vmcnt(0)) before the barrier"

for target in gfx942 gfx90a; do
    object=$tmp/$target.co
    if ! amd_available $target || ! amd_compile $target "$object" $kernels/memory_bugs.hip -g -O1 2>"$tmp/out"; then
        result 1 "$target: compiles"
        continue
    fi
    [ $target = gfx90a ] || bugs=$bugs$'\n'$direct
    while read -r name kind lane wave address text; do
        options=arch=$target,alignment=hardware first=()
        [ "$name" != unaligned ] || options=arch=$target,alignment=strict
        [[ ! $name =~ unwritten_(global|among|scalar) ]] || options=$options,unwritten=on
        [ "$name" != freed ] || first=(free_first)
        drive "$options" "$object" "${first[@]}" "${name}_bad"
        found "$name" "$kind" "$lane" "$wave" "$address" "$text"
        result $? "$target: $name is found"
        drive "$options" "$object" "${name}_good"
        quiet
        result $? "$target: no finding without $name"
    done <<<"$bugs"
    bugs=${bugs%$'\n'"$direct"}
    # the atomic and the plain load of another wave: whichever comes second is found
    drive "arch=$target" "$object" atomic_bad
    grep -q "^races .*memory_bugs.hip:.*\(atomic of wave 1.*load of wave 0\|load of wave.*atomic of wave\)" "$tmp/out"
    result $? "$target: an atomic beside a plain load is found"
    for name in past behind; do
        drive "arch=$target" "$object" ${name}_bad
        grep -q "^races .* text=.* races with the .*: put a barrier" "$tmp/out" && grep -q error=719 "$tmp/out"
        result $? "$target: a race whose value is used is found: $name"
        drive "arch=$target,undefined=off" "$object" ${name}_bad
        grep -q "^races .* text=.* races with the .*: put a barrier" "$tmp/out"
        result $? "$target: without undefined: $name"
    done
    for name in merged atomic unwritten_part unaligned past behind half; do
        drive "arch=$target" "$object" ${name}_good
        quiet
        result $? "$target: $name is sound"
    done
    drive "arch=$target" "$object" unwritten_global_bad
    quiet
    result $? "$target: global memory is defined unless unwritten=on"
    drive "arch=$target" "$object" unaligned_bad
    quiet
    result $? "$target: hardware loads unaligned words"
done

for bug in "double_free freed twice" "interior byte 16 of allocation 1" "foreign was never allocated"; do
    drive checks=on - "${bug%% *}"
    grep -q '^error=1$' "$tmp/out" && grep -q "^double_free lane=-1 .*${bug#* }" "$tmp/out"
    result $? "${bug%% *}: found, hipErrorInvalidValue"
done
drive checks=on - none
quiet
result $? "memory freed once: no finding"
KILN_SIM=checks=on timeout 60 "$tmp/driver" - leak >"$tmp/out" 2>&1
grep -q "allocation 1 (4096 bytes)" "$tmp/out"
result $? "leak: found at exit"
KILN_SIM=checks=on timeout 60 "$tmp/driver" - none >"$tmp/out" 2>&1
quiet
result $? "no leak: nothing at exit"
finish
