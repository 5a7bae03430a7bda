#!/bin/sh
# SPDX-License-Identifier: MIT
# toolchain.sh OUT: finds for every GPU target of templates/targets/ a hipcc command that compiles it, and writes them to
# OUT for make.  For each target that a compiler was found for
#   KILN_HIPCC_<target>     `$(KILN_HIPCC_gfx942) -o x.co x.hip`, from the checkout's root
#   KILN_COMPILER_<target>  what that is, for people to read
#   KILN_CACHED_<target>    the same through ccache, where that is there, makes the same object and says of what
#   KILN_DEPEND_<target>    flags that make it write $@.d, which says what $@ was made of
#   KILN_CC1_<target>, KILN_LINK_<target>
#                           the same in two steps, where that makes the same object: the compiler proper, which makes
#                           $@.o, and the linker, which makes $@ of it
#   KILN_STEPS_<target>     nvcc's steps, where they make the same object
# and KILN_NEEDS_<target>, what to install, for each other; KILN_TARGETS_AVAILABLE; KILN_HIPCC_PROGRAMS, hipcc for whole
# programs for AMD, where there is one.
#   AMD      a hipcc of ROCm 6 or later with the compiler that it brings; else hipcc on the oldest of Debian's clangs that
#            is good for the target (`clang`, its facts) through a private ROCm-like folder, $BUILD/rocm-VERSION.
#            KILN_LLVM=/usr/lib/llvm-22 names another, or several with colons between.
#   NVIDIA   hipcc's nvidia platform over nvcc, else nvcc itself
# hipcc is a script: a fifth of a kernel's compile time is its start.  So it is asked for the compiler's command line
# (HIPCC_VERBOSE), which is used in its place where it makes the same object.  That command is clang's driver, another
# tenth: so it is asked (-###) for the two that it starts; nvcc (--dryrun) for its three.
# Needs no network and no root.  OUT.probed has a fingerprint of all that was looked at: while that holds, nothing is
# probed again.  $BUILD/toolchain/<target> changes when the target's command or compiler does: kernels depend on it.
# Paths within the checkout are written relative to it: a copy, or a path with spaces in it, makes no difference.
set -u
out=${1:?usage: toolchain.sh OUT}
build=${BUILD:-build}
cd "$(dirname -- "$0")/.." || exit
targets_dir=templates/targets

# Address space of one compiler process, in KiB: a runaway pass ends with a message, not with a swapping machine.
memory_limit=6291456
# No cuid: a hash of the command line, and so of the folder, in every object.
amd_flags='-O3 -std=c++17 -fuse-cuid=none -nogpuinc -nogpulib -mcode-object-version=4 -fno-gpu-flush-denormals-to-zero'
nvidia_flags='-O3 -std=c++17'

die() { echo "kiln: $*" >&2; exit 1; }
first_of() { for tool in "$@"; do command -v "$tool" 2>/dev/null && return; done; return 1; }
fact() { sed -n "s/.*[ ,{]$2 *= *\"\{0,1\}\([a-z0-9_.]*\).*/\1/p" "$targets_dir/$1.lua" | head -n 1; } # fact gfx942 vendor

# One name, however it is called.
within() { case $1 in "$PWD"/*) echo "${1#"$PWD"/}" ;; *) echo "$1" ;; esac; }
build=$(within "$build") out=$(within "$out")
mkdir -p "$build/toolchain" "$(dirname -- "$out")" || die "cannot make $build"

# ---- what there is ----
hipcc=$(first_of "${KILN_HIPCC:-hipcc}" "${ROCM_PATH:-/opt/rocm}/bin/hipcc" /opt/rocm/bin/hipcc) || hipcc=
nvcc=$(first_of nvcc "${CUDA_PATH:-/usr/local/cuda}/bin/nvcc" /usr/local/cuda/bin/nvcc) || nvcc=
ccache=$(first_of "${KILN_CCACHE:-ccache}") || ccache=
llvms= # folders, the oldest first
for version in 15 16 17 18 19 20 21 22 23 24 25; do llvms=$llvms:/usr/lib/llvm-$version; done
llvms=$(echo "${KILN_LLVM:-$llvms}" | tr ':' '\n' | while read -r dir; do
    if [ -x "$dir/bin/clang++" ] && [ -x "$dir/bin/ld.lld" ]; then echo "$dir"; fi
done)

identity() { # identity FILE...
    for f in "$@"; do [ -n "$f" ] && printf '%s ' "$f" && stat -L -c '%s %Y' "$f"; done | cksum
}
# shellcheck disable=SC2046,SC2086 # folders of compilers, without spaces
fingerprint="$(identity "$hipcc" "$nvcc" "$ccache" $(printf '%s/bin/clang++ ' $llvms)) $build $(cat mk/toolchain.sh "$targets_dir"/*.lua | cksum)"
if [ -r "$out" ] && [ "$(cat "$out.probed" 2>/dev/null)" = "$fingerprint" ]; then
    whole=yes # nothing of it was deleted
    # shellcheck disable=SC2013
    for dir in $(grep -o "ROCM_PATH=$build/[^ ]*" "$out" | sort -u); do [ -d "${dir#*=}" ] || whole=; done
    # shellcheck disable=SC2013
    for target in $(sed -n 's/^KILN_HIPCC_\([a-z0-9_]*\) .*/\1/p' "$out"); do [ -e "$build/toolchain/$target" ] || whole=; done
    [ -z "$whole" ] || exit 0
fi

work=$(mktemp -d "$build/probe.XXXXXX") || die "cannot write in $build"
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
echo 'typedef int kiln_probe_int;' >"$work/probe.h"
printf '#include "probe.h"\nextern "C" __attribute__((global)) void kiln_probe(kiln_probe_int *p) { p[0] = 1; }\n' >"$work/probe.hip"
cp "$work/probe.hip" "$work/probe.cpp"
printf '#include <hip/hip_runtime.h>\n__global__ void kiln_probe(int *p) { p[threadIdx.x] = 1; }\n' >"$work/program.hip"

# ---- Debian's hipcc on a clang of our choice ----
# Each release of hipcc calls ROCM_PATH/llvm/bin/clang++ with its own version behind it, whatever HIP_CLANG_PATH says.  The
# folder holds links, and for chips that the packaged device library predates the one file of it that differs: the constant
# with the chip's version.
data_layout='e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-p7:160:256:256:32-p8:128:128-p9:192:256:256:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7:8:9'
isa_bitcode() { # isa_bitcode LLVM DIR CHIP NUMBER
    [ -e "$2/oclc_isa_version_$3.bc" ] && return
    printf 'target datalayout = "%s"\ntarget triple = "amdgcn-amd-amdhsa"\n@__oclc_ISA_version = linkonce_odr protected local_unnamed_addr addrspace(4) constant i32 %s, align 4\n' \
        "$data_layout" "$4" | "$1/bin/llvm-as" -o "$2/oclc_isa_version_$3.bc" -
}

# The device library: this clang's own, else the newest of an older one (a reader of bitcode knows older bitcode alone).
bitcode_of() { # bitcode_of MAJOR
    version=$1
    while [ "$version" -ge 15 ]; do
        for dir in /usr/lib/llvm-"$version"/lib/clang/*/amdgcn/bitcode; do if [ -d "$dir" ]; then echo "$dir"; return; fi; done
        version=$((version - 1))
    done
    for dir in /usr/lib/*/amdgcn/bitcode; do if [ -d "$dir" ]; then echo "$dir"; return; fi; done
}

private_rocm() { # private_rocm DIR LLVM VERSION
    rm -rf "$1"
    mkdir -p "$1/amdgcn/bitcode" "$1/bin" "$1/include" "$1/lib" "$1/share" "$1/llvm/bin" "$1/llvm/lib/clang" || return
    for name in clang++ clang; do
        ln -s "$2/bin/$name" "$1/llvm/bin/$name"
        for suffix in 15 16 17 18 19 20 21 22 23 24 25; do ln -s "$2/bin/$name" "$1/llvm/bin/$name-$suffix"; done
    done
    # Whole programs need the bundler too, and it what it finds beside it: hipcc's own package brings that of its clang.
    for tool in clang-offload-bundler llvm-objcopy; do
        # shellcheck disable=SC2012
        for dir in "$2" $(ls -d /usr/lib/llvm-* 2>/dev/null | sort -rV); do
            if [ -x "$dir/bin/$tool" ]; then ln -s "$dir/bin/$tool" "$1/llvm/bin/"; break; fi
        done
    done
    # hipcc looks for the headers under the full version, Debian keeps them under the major one.
    ln -s "$("$2/bin/clang++" -print-resource-dir)" "$1/llvm/lib/clang/$3"
    for dir in /usr/include/hip /usr/include/hsa; do if [ -d "$dir" ]; then ln -s "$dir" "$1/include/"; fi; done
    if [ -d /usr/share/hip ]; then ln -s /usr/share/hip "$1/share/"; fi
    bitcode=$(bitcode_of "${3%%.*}")
    if [ -n "$bitcode" ] && [ -x "$2/bin/llvm-as" ]; then
        ln -s "$bitcode"/*.bc "$1/amdgcn/bitcode/"
        for file in "$targets_dir"/*.lua; do
            arch=$(fact "$(basename "$file" .lua)" arch)
            case $arch in gfx*) ;; *) continue ;; esac
            # gfx942 -> 9402, gfx90a -> 9010, gfx1201 -> 12001: major*1000 + minor*100 + stepping, minor and stepping hex
            digits=${arch#gfx}; family=${digits%??}; rest=${digits#"$family"}
            isa_bitcode "$2" "$1/amdgcn/bitcode" "$digits" \
                $((family * 1000 + 0x${rest%?} * 100 + 0x${rest#?}))
        done
    fi
}

# ---- candidates, best first; each line: what it is, |, a command prefix.  The first that works on the target wins ----
limited="ulimit -v $memory_limit 2>/dev/null;"
bare="$limited env HIP_PLATFORM=amd"
on_clang() { # on_clang VERSION: hipcc in the private folder
    echo "$limited env HIP_PLATFORM=amd HIP_CLANG_PATH=$build/rocm-$1/llvm/bin HIP_PATH=$build/rocm-$1 ROCM_PATH=$build/rocm-$1 $hipcc"
}

# hipcc's compiler is its own (ROCm's), or one of the clangs that are looked at one by one.
hip=0 own=
if [ -n "$hipcc" ]; then
    "$hipcc" --version >"$work/version" 2>/dev/null
    hip=$(sed -n 's/^HIP version: *\([0-9]*\).*/\1/p' "$work/version")
    hip=${hip:-0}
    own=$(sed -n 's/.*clang version \([0-9.]*\).*/\1/p' "$work/version" | head -n 1)
    installed=$(sed -n 's/^InstalledDir: *//p' "$work/version" | head -n 1)
    case $installed in /usr/lib/llvm-*) own= ;; /usr/bin) if [ -x "/usr/lib/llvm-${own%%.*}/bin/clang++" ]; then own=; fi ;; esac
fi
clangs=$(for dir in $llvms; do echo "$("$dir/bin/clang++" -dumpversion) $dir"; done) # a line each: 19.1.7 /usr/lib/llvm-19

amd_candidates() { # amd_candidates ARCH LEAST
    args="--genco --no-gpu-bundle-output --offload-arch=$1 $amd_flags"
    [ -n "$hipcc" ] || return
    asis="hipcc of HIP $hip, clang $own ($hipcc)|$bare $hipcc $args"
    [ -n "$own" ] && [ "$hip" -ge 6 ] && echo "$asis"
    echo "$clangs" | while read -r version dir; do
        if [ -n "$dir" ] && [ "${version%%.*}" -ge "$2" ]; then echo "clang $version ($dir)|$(on_clang "$version") $args"; fi
    done
    [ -n "$own" ] && [ "$hip" -lt 6 ] && echo "$asis"
}

nvidia_candidates() { # nvidia_candidates ARCH
    [ -n "$nvcc" ] || return
    args="-cubin $nvidia_flags -gencode=arch=compute_${1#sm_},code=$1"
    cuda=$(dirname -- "$(dirname -- "$(readlink -f "$nvcc")")")
    name="nvcc $("$nvcc" --version 2>/dev/null | sed -n 's/.* release \([0-9.]*\),.*/\1/p') ($nvcc)"
    [ -n "$hipcc" ] && echo "$name|$limited env HIP_PLATFORM=nvidia CUDA_PATH=$cuda $hipcc $args"
    echo "$name|$limited $nvcc $args"
}

# What a kernel was made of.  clang's driver does without -MF where it compiles for the device alone, from version 21 on; the
# compiler proper takes the same as it always did.
depend() { # depend VENDOR OBJECT
    case $1 in
    amd) echo "-Xclang -dependency-file -Xclang $2.d -Xclang -MT -Xclang $2 -Xclang -MP" ;;
    # The preprocessor's own list: nvcc's costs it another run of the preprocessor.
    *) echo "-Xcompiler '-MMD,-MP,-MF,$2.d,-MT,$2'" ;;
    esac
}

is_elf() { [ "$(head -c 4 "$1" 2>/dev/null | od -An -c | tr -d ' ')" = '177ELF' ]; }

probe() { # probe COMMAND EXT VENDOR: does it make a code object, and say of what?
    rm -f "$work/probe.out" "$work/probe.out.d"
    eval "$1 $(depend "$3" "$work/probe.out") -o $work/probe.out $work/probe$2" >"$work/log" 2>&1 && is_elf "$work/probe.out" &&
        grep -q 'probe\.h' "$work/probe.out.d" 2>/dev/null
}

direct() { # direct COMMAND EXT VENDOR: the command line behind hipcc's COMMAND, or COMMAND
    case $1 in *"$hipcc "*) ;; *) echo "$1"; return ;; esac
    line=$(eval "export HIPCC_VERBOSE=1; $1 -o $work/probe.out $work/probe$2" 2>/dev/null |
        sed -n "s/^hipcc-cmd: \(.*\) -o \"*[^ \"]*probe\.out\"*\(.*\) \"*[^ \"]*probe\\$2\"*\$/\1\2/p")
    if [ -n "$line" ] && mv "$work/probe.out" "$work/probe.hipcc" 2>/dev/null && probe "$limited $line" "$2" "$3" &&
        cmp -s "$work/probe.out" "$work/probe.hipcc"; then
        echo "$limited $line"
    else
        echo "$1"
    fi
}

steps() { # steps COMMAND TARGET EXT VENDOR: prints the two commands that COMMAND, clang's driver, starts
    eval "$1 -### -o $work/probe.out $work/probe$3" 2>&1 | sed -n 's/^ "/"/p' >"$work/steps"
    [ "$(sed -n '$=' "$work/steps")" = 2 ] || return
    front=$(sed -n 's/"-main-file-name" "[^"]*"\|"-dumpdir" "[^"]*"\|"-fdebug-compilation-dir=[^"]*"\|"-o" "[^"]*"//g
        1s/ "-x" "\([^"]*\)" "[^"]*" *$/ -x \1/p' "$work/steps" | tr -s ' ')
    link=$(sed -n "2s|\"[^\"]*\.o\"|\$@.o|;2s|\"[^\"]*probe\.out\"|\$@|p" "$work/steps")
    case $front in *'"-cc1" '*) ;; *) return ;; esac
    case $link in *'$@ '*'$@.o'*) ;; *) return ;; esac
    probe "$1" "$3" "$4" && mv "$work/probe.out" "$work/probe.plain" && rm -f "$work/probe.out.d" || return
    made=$(echo "$link" | sed "s|\$@|$work/probe.out|g")
    eval "$limited $front $(depend "$4" "$work/probe.out" | sed 's/-Xclang //g') -main-file-name probe$3 -o $work/probe.out.o $work/probe$3 && $made" \
        >"$work/log" 2>&1 && cmp -s "$work/probe.out" "$work/probe.plain" && grep -q 'probe\.h' "$work/probe.out.d" || return
    printf 'KILN_CC1_%s := %s\nKILN_LINK_%s = %s\n' "$2" "$limited $front" "$2" "$link"
}

# What nvcc starts: a preprocessor, cicc, ptxas; the driver is 8 % of a kernel's time.  In the line $(KILN_INCLUDE) stands for
# more folders, $(KILN_PTXAS) for more options of ptxas.  cicc is spared the names of values, which nobody reads, where it can do
# without.
three_steps() { # three_steps COMMAND TARGET EXT: prints the line that makes what COMMAND, of nvcc, makes
    probe "$1" "$3" nvidia && mv "$work/probe.out" "$work/probe.plain" && rm -f "$work/probe.out.d" || return
    eval "$1 $(depend nvidia "$work/probe.out") --dryrun -o $work/probe.out $work/probe$3" 2>&1 | sed -n 's/^#\$ //p' >"$work/steps"
    here=$(sed -n 's/^_HERE_=//p' "$work/steps") cicc=$(sed -n 's/^CICC_PATH=//p' "$work/steps")
    [ "$(grep -c '^gcc .* -E \|^"\$CICC_PATH/cicc" \|^ptxas ' "$work/steps")" = 3 ] && [ "$(grep -vc '^[A-Z_]*=' "$work/steps")" = 3 ] || return
    joined=$(sed -n "s|^gcc \(.*\) -E |gcc \1 -E \$(KILN_INCLUDE) |p
        s|^\"\\\$CICC_PATH/cicc\"|$cicc/cicc|p
        s|^ptxas \(.*\) \(\"[^\"]*\.ptx\"\)|$here/ptxas \1 \$(KILN_PTXAS) \2|p" "$work/steps" |
        sed "s|\"[^\" ]*/tmpxft_[^\" ]*\.ii\"|\$@.ii|g; s|\"[^\" ]*/tmpxft_[^\" ]*\.ptx\"|\$@.ptx|g
             s|\"[^\" ]*tmpxft_[^\" ]*\.\([a-z_0-9]*\)\"|\$@.\1|g
             s|\"[^\" ]*/probe\\$3\"|\$<|g; s|$work/probe\.out\.d|\$@.d|g; s|\"*$work/probe\.out\"*|\$@|g" | tr -s ' ' |
        paste -sd '&' | sed 's/ *& */ \&\& /g')
    case $joined in *tmpxft* | *"$work"*) return ;; *'$< '*'$@.ii '*'$@.ptx '*'-o $@'*) ;; *) return ;; esac
    for line in "$(echo "$joined" | sed 's|/cicc |&--discard_value_names=1 |')" "$joined"; do
        made=$(echo "$line" | sed "s|\$(KILN_[A-Z]*)||g; s|\$@|$work/probe.out|g; s|\$<|$work/probe$3|g")
        rm -f "$work/probe.out" "$work/probe.out.d"
        if eval "$limited $made" >"$work/log" 2>&1 && cmp -s "$work/probe.out" "$work/probe.plain" && grep -q 'probe\.h' "$work/probe.out.d"; then
            printf 'KILN_STEPS_%s = %s %s\n' "$2" "$limited" "$line"
            return
        fi
    done
}

cached() { # cached COMMAND EXT VENDOR: COMMAND through ccache, from which the object comes the second time, or nothing
    case $1 in "$limited env "* | *"${hipcc:-hipcc} "*) return ;; esac # a script is no compiler that ccache knows
    [ -n "$ccache" ] && probe "$1" "$2" "$3" && mv "$work/probe.out" "$work/probe.plain" || return
    # Without -c it takes the call for one of the linker.  Of a hit in direct mode, in which nothing is preprocessed,
    # clang's own list of what was read would not be there.
    line="$limited CCACHE_NODIRECT=1 $ccache ${1#"$limited "} -c"
    for _ in first second; do
        probe "export CCACHE_DIR=$work/ccache; $line" "$2" "$3" && cmp -s "$work/probe.out" "$work/probe.plain" || return
    done
    echo "$line"
}

if [ -n "$hipcc" ]; then
    echo "$clangs" | while read -r version dir; do if [ -n "$dir" ]; then private_rocm "$build/rocm-$version" "$dir" "$version"; fi; done
fi

lean() { # lean COMMAND: COMMAND without CUDA's runtime headers, half of what a kernel's compiler reads, if kernels do without
    bare_line="$1 -D__CUDA_RUNTIME_H__ -D__CUDA_RUNTIME_API_H__"
    printf '%s\n' '#include "kiln_rows.h"' '#include "kiln_wgmma.h"' \
        'extern "C" __attribute__((global)) void kiln_probe(float *p)' \
        '{ p[kiln_thread()] = kiln_other_lane((float)(kiln_shared_address(p) + kiln_block_x() + kiln_uniform((int)p[1])), 1); }' >"$work/lean.cpp"
    if eval "$1 -Iabi -Itemplates/device -o $work/lean.all $work/lean.cpp" >"$work/log" 2>&1 &&
        eval "$bare_line -Iabi -Itemplates/device -o $work/lean.out $work/lean.cpp" >"$work/log" 2>&1 &&
        cmp -s "$work/lean.all" "$work/lean.out"; then
        echo "$bare_line"
    else
        echo "$1"
    fi
}

# ---- one group of lines per target, all targets side by side ----
group() { # group FILE: of templates/targets/; leaves commands and, for AMD, what compiles programs in $work
    target=$(basename "$1" .lua)
    vendor=$(fact "$target" vendor) arch=$(fact "$target" arch) ext=$(fact "$target" ext) least=$(fact "$target" clang)
    case $vendor in
    amd) candidates=$(amd_candidates "$arch" "${least:-0}") v=${least:+-$least}
        needs="hipcc clang$v lld$v llvm$v (or a later clang, or ROCm 6 or later)" ;;
    nvidia) candidates=$(nvidia_candidates "$arch") needs="hipcc, and nvcc of CUDA 12.4 or later" ;;
    *) return ;;
    esac
    compiler='' command=''
    while IFS='|' read -r name candidate; do
        if [ -n "$candidate" ] && probe "$candidate" "$ext" "$vendor"; then compiler=$name command=$candidate; break; fi
    done <<END
$candidates
END
    name="\$@" # nvcc takes commas for the end of an option
    case $vendor in nvidia) name="\$(subst \$(comma),\\\$(comma),\$@)" ;; esac
    echo "KILN_DEPEND_$target = $(depend "$vendor" "$name")" >"$work/commands"
    if [ -z "$command" ]; then
        echo "KILN_NEEDS_$target := $needs" >>"$work/commands"
        return
    fi
    line=$(direct "$command" "$ext" "$vendor")
    case $vendor in nvidia) line=$(lean "$line") ;; esac
    printf 'KILN_COMPILER_%s := %s\nKILN_HIPCC_%s := %s\n' "$target" "$compiler" "$target" "$line" >>"$work/commands"
    through=$(cached "$line" "$ext" "$vendor")
    if [ -n "$through" ]; then echo "KILN_CACHED_$target := $through" >>"$work/commands"; fi
    case $vendor in
    amd) steps "$line" "$target" "$ext" "$vendor" >>"$work/commands" ;;
    nvidia) three_steps "$line" "$target" "$ext" >>"$work/commands" ;;
    esac
    binary=${compiler##* (}
    binary=${binary%)}
    if [ -d "$binary" ]; then binary=$binary/bin/clang++; fi
    echo "$line $(identity "$binary")" >"$work/stamp"
    cmp -s "$work/stamp" "$build/toolchain/$target" || cp "$work/stamp" "$build/toolchain/$target" || return
    echo "$target" >"$work/available"
    if [ "$vendor" = amd ]; then
        echo "$arch" >"$work/arch"
        command=${command%% --genco*}
        case $command in *ROCM_PATH=*) command="$command -B$(echo "${command##*ROCM_PATH=}" | cut -d' ' -f1)/llvm/bin" ;; esac
        echo "$command" >"$work/program"
    fi
}
found=$work
for file in "$targets_dir"/*.lua; do
    {
        work=$found/$(basename "$file" .lua)
        { mkdir "$work" && cp "$found"/probe.* "$work" && group "$file"; } || : >"$found/failed"
    } &
done
wait
[ ! -e "$found/failed" ] || die "cannot write in $build"
available=$({ echo host; cat "$found"/*/available 2>/dev/null; } | paste -sd' ')
archs=$(cat "$found"/*/arch 2>/dev/null | sed 's/^/--offload-arch=/' | tr '\n' ' ')
programs=$(cat "$found"/*/program 2>/dev/null | awk '!seen[$0]++')

# Whole programs include HIP's headers and link its device library, which not every clang goes with; hipcc's own does.
programs=$(printf '%s\n' "$programs" "$bare $hipcc" | while [ -n "$archs" ] && read -r candidate; do
    if eval "$candidate --genco $archs -std=c++17 -o $found/program.out $found/program.hip" >"$found/log" 2>&1; then
        echo "$candidate"
        break
    fi
done)

{
    echo "KILN_TARGETS_AVAILABLE := $available"
    if [ -n "$programs" ]; then echo "KILN_HIPCC_PROGRAMS := $programs"; fi
    cat "$found"/*/commands
} >"$found/mk" || die "cannot write in $build"
cmp -s "$found/mk" "$out" || mv -f "$found/mk" "$out" || die "cannot write $out"
# Folders that no command names, and stamps of targets that nothing compiles any more.
for dir in "$build"/rocm "$build"/rocm-*; do if ! grep -q "ROCM_PATH=$dir \|$dir/" "$out"; then rm -rf "$dir"; fi; done
for file in "$build"/toolchain/*; do if ! grep -q "^KILN_HIPCC_${file##*/} " "$out"; then rm -f "$file"; fi; done
echo "$fingerprint" >"$out.probed" || die "cannot write $out.probed"
