#!/bin/bash
# SPDX-License-Identifier: MIT
# Kernels for NVIDIA are compiled without CUDA's runtime headers (mk/toolchain.sh), and are the same that way, byte for
# byte, and without a warning: one of each schedule, and one whose pieces of rows are an element.
# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
command=$(sed -n 's/^KILN_HIPCC_sm_90a := //p' "$BUILD/toolchain.mk" 2>/dev/null)
[ -n "$command" ] || { echo "1..0 # SKIP nothing here compiles sm_90a"; exit 77; }
mkdir "$tmp/ops"
cp instances/a16w8_linear.lua instances/multiply_multiply.lua instances/softmax.lua "$tmp/ops"
"$gen" --out "$tmp/gen" --target sm_90a "$tmp/ops" >"$tmp/out" 2>&1
result $? 'sources are generated'
whole=${command// -D__CUDA_RUNTIME_H__ -D__CUDA_RUNTIME_API_H__/}
[ "$whole" != "$command" ]
result $? 'the headers are left out'
for pattern in '*-simt_[0-9]*x*x*' '*-wgmma_[0-9]*' '*-wgmma_decode_*' '*-wgmma_decode_*_g1' '*-mma_[0-9]*' '*-simt_t*' '*-simt_t*_p1'; do
    source=$(find "$tmp/gen/sm_90a" -name "$pattern.cpp" | sort | head -n 1)
    rm -f "$tmp/out"
    for how in command whole; do
        eval "${!how} -Iabi -Itemplates/device -o $tmp/$how.cubin $source" >>"$tmp/out" 2>&1 || rm -f "$tmp/$how.cubin"
    done
    cmp "$tmp/command.cubin" "$tmp/whole.cubin" >>"$tmp/out" 2>&1
    result $? "${source##*/} is the same without them"
    [ -e "$tmp/command.cubin" ] && ! grep -qi warning "$tmp/out"
    result $? 'and nothing is to be warned of' "$tmp/out"
done
# nvcc's own steps, without it.
steps=$(sed -n 's/^KILN_STEPS_sm_90a = //p' "$BUILD/toolchain.mk" | sed 's/$(KILN_INCLUDE)/-Iabi -Itemplates\/device/; s/$(KILN_PTXAS)//')
steps=${steps//\$</$source} steps=${steps//\$@/$tmp/steps.cubin}
eval "$steps" >"$tmp/out" 2>&1 && cmp "$tmp/steps.cubin" "$tmp/command.cubin" >>"$tmp/out" 2>&1
result $? "nvcc's steps by themselves make the same"
# A template that wants them asks for them.
printf '%s\n' '#include "kiln_device.h"' 'KILN_KERNEL(32, 1) k(float *p) { p[kiln_thread()] = __expf(p[0]); }' >"$tmp/more.cpp"
eval "$command -U__CUDA_RUNTIME_H__ -U__CUDA_RUNTIME_API_H__ -Itemplates/device -o $tmp/more.cubin $tmp/more.cpp" >"$tmp/out" 2>&1
result $? 'with its flags a template has all of them'
finish
