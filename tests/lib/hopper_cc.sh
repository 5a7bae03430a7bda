#!/bin/sh
# SPDX-License-Identifier: MIT
# hopper_cc.sh FLAG... -o OUT SOURCE: a kernel for Hopper as a shared library for tests/emul/emulator.cc, with what it includes of
# kiln_wgmma.h from emulated.h.  Flags of NVIDIA's assembler fall away; what nvcc hands on to the host's compiler, with commas
# between, is this one's.  -O0: what optimising takes, few kernels run for.
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
for flag; do
    shift
    case $flag in
    -Xptxas* | -Xcompiler) ;;
    -MMD,*) # shellcheck disable=SC2046 # words
        set -- "$@" $(echo "$flag" | tr , ' ') ;;
    *) set -- "$@" "$flag" ;;
    esac
done
exec "${CXX:-g++}" -std=c++17 -O0 -march=native -ffp-contract=off -w -fPIC -shared -fno-strict-aliasing "-I$here/../emul" -include emulated.h "$@"
