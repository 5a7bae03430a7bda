#!/bin/sh
# SPDX-License-Identifier: MIT
# toolchain.sh OUT: finds for every GPU target of templates/targets/ a hipcc command that compiles it, and writes them to
# OUT for make: KILN_HIPCC_<target> (`$(KILN_HIPCC_gfx942) -o x.co x.hip`), KILN_HIPCC_PROGRAMS (hipcc for whole programs
# for AMD, where there is one) and KILN_TARGETS_AVAILABLE.
#   AMD      a hipcc of ROCm 6 or later (PATH, $ROCM_PATH, /opt/rocm) as it is; else Debian's hipcc 5.2, which knows
#            nothing newer than gfx90a, on Debian's newer clang through a private ROCm-like folder, $BUILD/rocm
#   NVIDIA   hipcc's nvidia platform over nvcc, else nvcc itself
# hipcc is a script: a fifth of a kernel's compile time is its start.  So it is asked for the compiler's command line
# (HIPCC_VERBOSE), which is used in its place where it makes the same object.
# Needs no network and no root.  OUT.probed has a fingerprint of all that was looked at: while that holds, nothing is
# probed again.  OUT keeps its age, and kernels stay as they are, while compilers and commands are the same.
set -u
out=${1:?usage: toolchain.sh OUT}
build=${BUILD:-build}
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
targets_dir=$here/../templates/targets

# Address space of one compiler process, in KiB: a runaway pass ends with a message, not with a swapping machine.
memory_limit=6291456
# No cuid: a hash of the command line, and so of the folder, in every object.
amd_flags='-O3 -std=c++17 -fuse-cuid=none -nogpuinc -nogpulib -mcode-object-version=4 -fno-gpu-flush-denormals-to-zero'
nvidia_flags='-O3 -std=c++17'
amd_packages='hipcc rocm-device-libs clang-19 lld-19 llvm-19'

die() { echo "kiln: $*" >&2; exit 1; }
first_of() { for tool in "$@"; do command -v "$tool" 2>/dev/null && return; done; return 1; }
fact() { sed -n "s/.*[ ,{]$2 *= *\"\([^\"]*\)\".*/\1/p" "$targets_dir/$1.lua" | head -n 1; } # fact gfx942 vendor

mkdir -p "$build" "$(dirname -- "$out")" || die "cannot make $build"
build=$(CDPATH='' cd -- "$build" && pwd) # one name, however it is called

# ---- what there is ----
hipcc=$(first_of "${KILN_HIPCC:-hipcc}" "${ROCM_PATH:-/opt/rocm}/bin/hipcc" /opt/rocm/bin/hipcc) || hipcc=
nvcc=$(first_of nvcc "${CUDA_PATH:-/usr/local/cuda}/bin/nvcc" /usr/local/cuda/bin/nvcc) || nvcc=
llvm=
for version in 23 22 21 20 19; do
    dir=/usr/lib/llvm-$version
    if [ -x "$dir/bin/clang++" ] && [ -x "$dir/bin/ld.lld" ]; then llvm=$dir; break; fi
done
bitcode=
for dir in /usr/lib/*/amdgcn/bitcode; do if [ -d "$dir" ]; then bitcode=$dir; break; fi; done

identity() { # identity FILE...
    for f in "$@"; do [ -n "$f" ] && printf '%s ' "$f" && stat -L -c '%s %Y' "$f"; done | cksum
}
compilers="$(identity "$hipcc" "$nvcc" "${llvm:+$llvm/bin/clang++}") ${hipcc:-no-hipcc} ${nvcc:-no-nvcc} ${llvm:-no-llvm}"
fingerprint="$compilers $(identity "$0" "$targets_dir"/*.lua) $build"
if [ -r "$out" ] && [ "$(cat "$out.probed" 2>/dev/null)" = "$fingerprint" ]; then
    if [ -d "$build/rocm" ] || ! grep -q 'ROCM_PATH=' "$out"; then exit 0; fi
fi

work=$(mktemp -d "$build/probe.XXXXXX") || die "cannot write in $build"
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
printf 'extern "C" __attribute__((global)) void kiln_probe(int *p) { p[0] = 1; }\n' >"$work/probe.hip"
cp "$work/probe.hip" "$work/probe.cpp"

# ---- Debian's hipcc on a newer clang ----
# hipcc 5.2 calls ROCM_PATH/llvm/bin/clang++-15 whatever HIP_CLANG_PATH says.  The folder holds links, and for chips that
# the packaged device library predates the one file of it that differs: the constant with the chip's version.
data_layout='e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-p7:160:256:256:32-p8:128:128-p9:192:256:256:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7:8:9'
isa_bitcode() { # isa_bitcode DIR CHIP NUMBER
    [ -e "$1/oclc_isa_version_$2.bc" ] && return
    printf 'target datalayout = "%s"\ntarget triple = "amdgcn-amd-amdhsa"\n@__oclc_ISA_version = linkonce_odr protected local_unnamed_addr addrspace(4) constant i32 %s, align 4\n' \
        "$data_layout" "$3" | "$llvm/bin/llvm-as" -o "$1/oclc_isa_version_$2.bc" -
}

private_rocm() { # private_rocm DIR
    rm -rf "$1"
    mkdir -p "$1/amdgcn/bitcode" "$1/bin" "$1/include" "$1/lib" "$1/llvm/bin" "$1/llvm/lib/clang" || return
    for name in clang++-15 clang++ clang-15 clang; do ln -s "$llvm/bin/clang++" "$1/llvm/bin/$name"; done
    for name in clang-15 clang; do ln -sf "$llvm/bin/clang" "$1/llvm/bin/$name"; done
    # Whole programs need the bundler too: hipcc's own package brings that of its clang.
    for version in 23 22 21 20 19 18 17 16 15; do
        tool=/usr/lib/llvm-$version/bin/clang-offload-bundler
        if [ -x "$tool" ]; then ln -s "$tool" "$1/llvm/bin/"; break; fi
    done
    # hipcc looks for the headers under the full version, Debian keeps them under the major one.
    full=$("$llvm/bin/clang++" -dumpversion)
    ln -s "$("$llvm/bin/clang++" -print-resource-dir)" "$1/llvm/lib/clang/$full"
    for dir in /usr/include/hip /usr/include/hsa; do if [ -d "$dir" ]; then ln -s "$dir" "$1/include/"; fi; done
    if [ -n "$bitcode" ] && [ -x "$llvm/bin/llvm-as" ]; then
        ln -s "$bitcode"/*.bc "$1/amdgcn/bitcode/"
        for target in $(cd "$targets_dir" && ls ./*.lua); do
            arch=$(fact "$(basename "$target" .lua)" arch)
            case $arch in gfx*) ;; *) continue ;; esac
            # gfx942 -> 9402, gfx90a -> 9010, gfx1201 -> 12001: major*1000 + minor*100 + stepping, minor and stepping hex
            digits=${arch#gfx}; family=${digits%??}; rest=${digits#"$family"}
            isa_bitcode "$1/amdgcn/bitcode" "$digits" \
                $((family * 1000 + 0x${rest%?} * 100 + 0x${rest#?}))
        done
    fi
}

# ---- candidates, best first; each line: a command prefix.  A prefix is tried on the target and the first that works wins ----
hip_major() { "$hipcc" --version 2>/dev/null | sed -n 's/^HIP version: *\([0-9]*\).*/\1/p'; }
limited="ulimit -v $memory_limit 2>/dev/null;"

amd_candidates() { # amd_candidates ARCH
    args="--genco --no-gpu-bundle-output --offload-arch=$1 $amd_flags"
    [ -n "$hipcc" ] || return
    asis="$limited env HIP_PLATFORM=amd $hipcc $args"
    [ "$hip" -ge 6 ] && echo "$asis"
    [ -n "$llvm" ] && echo "$limited env HIP_PLATFORM=amd HIP_PATH=$build/rocm ROCM_PATH=$build/rocm $hipcc $args"
    [ "$hip" -lt 6 ] && echo "$asis"
}

nvidia_candidates() { # nvidia_candidates ARCH
    [ -n "$nvcc" ] || return
    args="-cubin $nvidia_flags -gencode=arch=compute_${1#sm_},code=$1"
    cuda=$(dirname -- "$(dirname -- "$(readlink -f "$nvcc")")")
    [ -n "$hipcc" ] && echo "$limited env HIP_PLATFORM=nvidia CUDA_PATH=$cuda $hipcc $args"
    echo "$limited $nvcc $args"
}

is_elf() { [ "$(head -c 4 "$1" 2>/dev/null | od -An -c | tr -d ' ')" = '177ELF' ]; }

probe() { # probe COMMAND EXT: does it make a code object?
    rm -f "$work/probe.out"
    (cd "$work" && eval "$1 -o probe.out probe$2") >"$work/log" 2>&1 && is_elf "$work/probe.out"
}

direct() { # direct COMMAND EXT: the command line behind hipcc's COMMAND, or COMMAND
    case $1 in *"$hipcc "*) ;; *) echo "$1"; return ;; esac
    line=$(cd "$work" && eval "export HIPCC_VERBOSE=1; $1 -o probe.out probe$2" 2>/dev/null |
        sed -n "s/^hipcc-cmd: \(.*\) -o \"*probe\.out\"*\(.*\) \"*probe\\$2\"*\$/\1\2/p")
    if [ -n "$line" ] && mv "$work/probe.out" "$work/probe.hipcc" 2>/dev/null && probe "$limited $line" "$2" &&
        cmp -s "$work/probe.out" "$work/probe.hipcc"; then
        echo "$limited $line"
    else
        echo "$1"
    fi
}

hip=0
if [ -n "$hipcc" ]; then hip=$(hip_major); hip=${hip:-0}; fi
if [ -n "$hipcc" ] && [ "$hip" -lt 6 ] && [ -n "$llvm" ]; then private_rocm "$build/rocm"; fi

# ---- one line per target ----
available=host programs=
: >"$work/commands"
for file in "$targets_dir"/*.lua; do
    target=$(basename "$file" .lua)
    vendor=$(fact "$target" vendor) arch=$(fact "$target" arch) ext=$(fact "$target" ext)
    case $vendor in
    amd) candidates=$(amd_candidates "$arch") needs="$amd_packages (or ROCm 6 or later)" ;;
    nvidia) candidates=$(nvidia_candidates "$arch") needs="hipcc, and nvcc of CUDA 12.4 or later" ;;
    *) continue ;;
    esac
    command=
    while IFS= read -r candidate; do
        if [ -n "$candidate" ] && probe "$candidate" "$ext"; then command=$candidate; break; fi
    done <<END
$candidates
END
    if [ -n "$command" ]; then
        available="$available $target"
        echo "KILN_HIPCC_$target := $(direct "$command" "$ext")" >>"$work/commands"
        case $vendor$command in amd*"$hipcc "*) programs=${command%% --genco*} ;; esac
    else
        echo "KILN_HIPCC_$target := echo 'kiln: nothing here compiles $target; install: $needs' >&2; exit 1;" >>"$work/commands"
    fi
done
{
    echo "# compilers: $compilers"
    echo "KILN_TARGETS_AVAILABLE := $available"
    if [ -n "$programs" ]; then echo "KILN_HIPCC_PROGRAMS := $programs"; fi
    cat "$work/commands"
} >"$work/mk" || die "cannot write in $build"
cmp -s "$work/mk" "$out" || mv -f "$work/mk" "$out" || die "cannot write $out"
echo "$fingerprint" >"$out.probed" || die "cannot write $out.probed"
