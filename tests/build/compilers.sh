#!/bin/bash
# SPDX-License-Identifier: MIT
# Which compiler mk/toolchain.sh takes for which target, out of several releases of hipcc and of clang, all of them fakes. TAP.
# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh disable=SC2154
. "$(dirname "$0")/../lib/tap.sh"
mkdir -p "$tmp/bin"
printf '#!/bin/sh\nexit 1\n' >"$tmp/bin/nvcc"
chmod +x "$tmp/bin/nvcc"
PATH=$tmp/bin:$PATH

llvm() { # VERSION [ARCH that it does not know]: a folder like /usr/lib/llvm-19
    mkdir -p "$tmp/llvm-${1%%.*}/bin"
    touch "$tmp/llvm-${1%%.*}/bin/ld.lld"
    cat >"$tmp/llvm-${1%%.*}/bin/clang++" <<END
#!/bin/bash
case \$* in
-dumpversion) echo $1; exit ;;
-print-resource-dir) echo $tmp; exit ;;
*=${2:-no-such}\ *) exit 1 ;;
*'-### -o '*) # the two steps, where there is "$tmp/steps"; the linker is what that says
    [ -e "$tmp/steps" ] || exit
    all=\$* out=\${all##*-o }
    printf ' "%s" "-cc1" "-main-file-name" "probe.hip" "-o" "/tmp/x.o" "-x" "hip" "%s"\\n' "\$0" "\${out#* }"
    printf ' "%s" "-o" "%s" "/tmp/x.o"\\n' "\$(cat "$tmp/steps")" "\${out%% *}"
    exit
    ;;
esac
while [ \$# -gt 0 ]; do
    case \$1\$3 in
    -o*) printf '\\177ELF%s' $1 >"\$2" ;;
    -dependency-file-MT) echo probe.h >"\$2" ;;
    -Xclang-Xclang) [ "\$2" != -dependency-file ] || echo probe.h >"\$4" ;;
    -MF*) [ ${1%%.*} -ge 21 ] || echo probe.h >"\$2" ;;
    esac
    shift
done
END
    cp "$tmp/llvm-${1%%.*}/bin/clang++" "$tmp/llvm-${1%%.*}/bin/clang"
    chmod +x "$tmp/llvm-${1%%.*}/bin/"*
}
hipcc() { # HIP'S VERSION, SUFFIX: one of Debian's, which calls clang++SUFFIX, from the folder that ROCM_PATH says
    cat >"$tmp/hipcc" <<END
#!/bin/sh
if [ "\$1" = --version ]; then
    printf 'HIP version: %s\nDebian clang version %s\nInstalledDir: %s\n' $1 ${3:-17.0.6} ${4:-/usr/lib/llvm-17/bin}
    exit
fi
line="\${ROCM_PATH:-$tmp/own}/llvm/bin/clang++${2-} \$*"
[ -z "\${HIPCC_VERBOSE-}" ] || echo "hipcc-cmd: \$line"
exec \$line
END
    chmod +x "$tmp/hipcc"
}
out=$tmp/build/toolchain.mk
found() { # VERSIONS with colons between
    local path
    path=$tmp/llvm-${1//:/:$tmp/llvm-}
    KILN_LLVM=$path KILN_HIPCC=$tmp/hipcc BUILD=$tmp/build mk/toolchain.sh "$out" >"$tmp/out" 2>&1
    local rc=$?
    cat "$out" >>"$tmp/out"
    return $rc
}
is() { # TARGET VERSION: that compiler, run without hipcc
    grep -q "^KILN_COMPILER_$1 := clang $2 ($tmp/llvm-${2%%.*})\$" "$out" && grep -q "^KILN_HIPCC_$1 := .*/rocm-$2/llvm/bin/clang++" "$out"
}
amd=$(grep -l 'vendor = "amd"' templates/targets/*.lua | sed 's|.*/||; s|\.lua||')
all() { for target in $amd; do is "$target" "$1" || return; done; }

llvm 17.0.6; llvm 19.1.7; llvm 21.1.8; llvm 22.1.8; llvm 23.0.0
for release in '5.2.21153-0 -15' '5.7.31921-0 -17' '6.4.43484-9999'; do
    # shellcheck disable=SC2086
    hipcc $release
    rm -rf "$tmp/build"
    found 17:19:22 && all 19.1.7; result $? "HIP ${release%%-*}: the oldest good clang, by the name that hipcc has for it"
done
hipcc 5.2.21153-0 -15
rm -rf "$tmp/build"
found 19 && all 19.1.7; result $? 'one clang'
touch "$tmp/mark"; sleep 0.02
found 19:22 && all 19.1.7; result $? 'a newer one beside it changes nothing'
[ -z "$(find "$tmp/build/toolchain" -newer "$tmp/mark")" ]; result $? 'and makes no kernel out of date'
for version in 21.1.8 22.1.8 23.0.0; do
    found ${version%%.*} && all $version; result $? "clang $version alone"
    grep -q '^KILN_DEPEND_gfx942 = .*\$@\.d' "$out"; result $? "says what a kernel was made of"
done

# The driver's two steps take its place where they make the same.
llvm 19.1.7
echo "$tmp/llvm-19/bin/clang" >"$tmp/steps"
rm -rf "$tmp/build"
found 19 && all 19.1.7 && grep -q '^KILN_CC1_gfx942 := .*/llvm/bin/clang++-15" "-cc1" -x hip$' "$out" && grep -q '^KILN_LINK_gfx942 = .* "-o" \$@ \$@\.o$' "$out"
result $? "the compiler proper and the linker, without clang's driver"
cp "$out" "$tmp/in_steps.mk"
echo "$tmp/llvm-22/bin/clang" >"$tmp/steps"
rm -rf "$tmp/build"
found 19 && all 19.1.7 && ! grep -q KILN_CC1 "$out"; result $? 'with it, where they make something else'
rm "$tmp/steps"

llvm 19.1.7 gfx1201
touch "$tmp/llvm-19/bin/clang++" -d '2 days ago'
found 19:22 && is gfx942 19.1.7 && is gfx1201 22.1.8; result $? 'a target that the oldest does not know takes the next; the others do not'
touch "$tmp/mark"; sleep 0.02
touch "$tmp/llvm-22/bin/clang++"
found 19:22; [ "$(cd "$tmp/build/toolchain" && find . -newer "$tmp/mark" -type f)" = ./gfx1201 ]
result $? 'another compiler of its name makes its kernels out of date alone'
found 17; grep -q '^KILN_NEEDS_gfx942 := hipcc clang-19 lld-19 llvm-19' "$out" && ! grep -q KILN_HIPCC_gfx942 "$out"
result $? 'none that is good: what to install'

# ROCm's hipcc has a compiler of its own.
mkdir -p "$tmp/own/llvm/bin"
llvm 18.0.0
ln -s "$tmp/llvm-18/bin/clang++" "$tmp/own/llvm/bin/clang++"
hipcc 6.2.41133 '' 18.0.0 /opt/rocm-6.2/lib/llvm/bin
found 19:22; grep -q '^KILN_COMPILER_gfx942 := hipcc of HIP 6, clang 18.0.0' "$out" && grep -q "^KILN_HIPCC_gfx942 := .*$tmp/own/llvm/bin/clang++" "$out"
result $? "ROCm's hipcc stays with the compiler that it brings"

# Targets without a compiler, in a build.
mkdir -p "$tmp/build/bin" "$tmp/ops"
ln -s "$gen" "$tmp/build/bin/kiln-gen"
printf 'gemm "tiny" { types = { { a = f32, b = f32, e = f32 } }, layouts = { "rrr" }, epilogue = function(acc) return acc end }\n' >"$tmp/ops/tiny.lua"
hipcc 5.2.21153-0 -15
found 17
instances() { make -f mk/instances.mk BUILD="$tmp/build" DIR="$tmp/ops" OUT="$tmp/build/gen" LIB="$tmp/build/lib" "$@" >"$tmp/out" 2>&1; }
! instances TARGETS='gfx942 host' && grep -q 'nothing here compiles gfx942; install: hipcc clang-19' "$tmp/out" && [ ! -e "$tmp/build/gen" ]
result $? 'a target that nothing compiles is refused, before anything is compiled'
instances TARGETS='gfx942 host' OPTIONAL='gfx942 host' && grep -q 'gfx942 is left out.*install: hipcc clang-19' "$tmp/out" && [ -e "$tmp/build/lib/libkiln-host.so" ]
result $? 'one that nobody asked for is left out, and said'
grep -q '^WITH .*for host' "$tmp/out"; result $? 'the compiler is said before it is used'

# A kernel's command, with the steps above.
"$gen" --out "$tmp/build/gen" --templates templates --target gfx942 "$tmp/ops" && cp "$tmp/in_steps.mk" "$out"
kernel=$(cd "$tmp/build/gen" && find gfx942/tiny -name '*.hip' | head -n 1)
command_of() { instances -n SECOND=1 STEPS=1 TARGETS=gfx942 KILN_CCACHE= V=1 "$@" "$tmp/build/gen/${kernel%.hip}.co"; }
command_of && grep -q '"-cc1" .* && .*clang" "-o" [^ ]*\.co ' "$tmp/out"; result $? 'a kernel is compiled in two steps'
command_of "KILN_FLAGS_${kernel%.hip}.co=-mllvm -x" && grep -q '"-cc1" .*-mllvm -x' "$tmp/out"; result $? "with LLVM's options, too"
command_of "KILN_FLAGS_${kernel%.hip}.co=-ffast-math" && grep -q 'clang++.* -ffast-math' "$tmp/out" && ! grep -q -e -cc1 "$tmp/out"
result $? 'but not with those that are the driver'"'"'s'

# nvcc's three steps, where they make what it makes.
printf '#!/bin/bash\nexec "%s/compiled" "$@"\n' "$tmp" | tee "$tmp/bin/gcc" "$tmp/bin/cicc" >"$tmp/bin/ptxas"
cat >"$tmp/compiled" <<'END'
#!/bin/bash
# An ELF behind -o, and where -MF says what was read.
while [ $# -gt 0 ]; do
    case $1 in
    -o) out=$2 ;;
    -MF) echo probe.h >"$2" ;;
    *-MF,*) made=${1#*-MF,} && echo probe.h >"${made%%,*}" ;;
    esac
    shift
done
printf '\177ELF' >"$out"
END
cat >"$tmp/bin/nvcc" <<END
#!/bin/bash
all=\$* src=\${all##* } out=\${all##* -o }
out=\${out%% *}
case \$all in
--version) echo 'Cuda, release 13.0, V13' ;;
*' --dryrun '*)
    printf '#$ %s\n' "_HERE_=$tmp/bin" "CICC_PATH=$tmp/bin" >&2
    printf '#$ gcc -DX -E -x c++ -MMD -MP -MF %s.d -MT %s "%s" -o "/tmp/tmpxft_1.cpp1.ii"\n' \$out \$out \$src >&2
    printf '#$ "\$CICC_PATH/cicc" --orig_src_path_name "%s" --gen_c_file_name "/tmp/tmpxft_1.cudafe1.c" "/tmp/tmpxft_1.cpp1.ii" -o "/tmp/tmpxft_1.ptx"\n' \$src >&2
    printf '#$ ptxas -arch=sm_90a "/tmp/tmpxft_1.ptx" -o "%s"\n' \$out >&2
    ;;
*) "$tmp/compiled" "\$@" && [ ! -e "$tmp/more" ] || echo more >>"\$out" ;;
esac
END
chmod +x "$tmp/compiled" "$tmp/bin/"*
rm -f "$tmp/hipcc" "$out"
found 17 && grep -q '^KILN_HIPCC_sm_90a := .*/nvcc ' "$out" &&
    grep -q '^KILN_STEPS_sm_90a = .* gcc -DX -E $(KILN_INCLUDE) .* $< -o $@.ii && .*/cicc .* $@.ii -o $@.ptx && .*/ptxas -arch=sm_90a $(KILN_PTXAS) $@.ptx -o $@$' "$out"
result $? "nvcc's preprocessor, compiler and assembler, without it"
"$gen" --out "$tmp/build/gen" --templates templates --target sm_90a "$tmp/ops"
kernel=$(cd "$tmp/build/gen" && find sm_90a/tiny -name '*.cpp' | head -n 1)
cubin_of() { instances -n SECOND=1 STEPS=1 TARGETS=sm_90a KILN_CCACHE= V=1 "$@" "$tmp/build/gen/${kernel%.cpp}.cubin"; }
cubin_of && grep -q 'gcc -DX -E -Iabi .*/ptxas -arch=sm_90a */' "$tmp/out"; result $? 'a kernel is compiled in three steps'
cubin_of "KILN_FLAGS_${kernel%.cpp}.cubin=-Xptxas=-v" && grep -q '/ptxas -arch=sm_90a -v /' "$tmp/out"; result $? "with ptxas's options, too"
cubin_of "KILN_FLAGS_${kernel%.cpp}.cubin=-lineinfo" && grep -q '/nvcc .* -lineinfo' "$tmp/out" && ! grep -q '/cicc' "$tmp/out"
result $? 'but not with others'
touch "$tmp/more"
rm -f "$out"
found 17 && grep -q '^KILN_HIPCC_sm_90a := .*/nvcc ' "$out" && ! grep -q KILN_STEPS "$out"; result $? 'with it, where they make something else'
finish
