# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154
# The share of its time that a main loop keeps the matrix unit busy, by llvm-mca: one wave, without barriers, branches
# and bank conflicts.  Needs $tmp.  $mca is "" where there is no llvm-mca.
# Of LLVM 19, by which the documents' figures are, else the newest.
mca=$(command -v llvm-mca-19 || { compgen -c llvm-mca- | grep -xE 'llvm-mca-[0-9]+' | sort -t- -k3,3nr | head -n 1; } || true)
mca=${mca:-$(command -v llvm-mca)}

# The body of the innermost loop with the most matrix instructions of a kernel, without what llvm-mca does not price.  It crashes on
# MUBUF instructions: MTBUF ones that take as long stand in for them; and for loads from global memory, of which it thinks that
# they count as LDS's do.
loop_of() { # ASSEMBLER KERNEL
    awk -v kernel="$2:" '
        { sub(/;.*/, "") }
        index($0, kernel) == 1 { inside = 1 }
        !inside { next }
        /s_endpgm/ { exit }
        /^\.L[A-Za-z0-9_]*:/ { split($0, part, ":"); at[part[1]] = n }
        /s_c?branch/ && ($2 in at) {
            matrices = 0
            for (i = at[$2]; i < n; i++) matrices += line[i] ~ /v_mfma/
            inner = at[$2] >= last # no loop ended since it began
            last = at[$2] > last ? at[$2] : last
            if (inner && matrices > best) { best = matrices; from = at[$2]; to = n }
        }
        { line[n++] = $0 }
        END {
            for (i = from; i < to; i++)
                if (line[i] !~ /^\.|branch|s_barrier|^[ \t]*$/) print line[i]
        }' "$1" | sed -E 's/buffer_(load|store)_dwordx4/tbuffer_\1_format_xyzw/; s/buffer_(load|store)_dwordx3/tbuffer_\1_format_xyz/
            s/buffer_(load|store)_dwordx2/tbuffer_\1_format_xy/; s/buffer_load_(dword|[us](byte|short)) /tbuffer_load_format_x /
            s/buffer_store_(dword|byte|short) /tbuffer_store_format_x /
            s/global_load_(dword|[us](byte|short)) (v[0-9]+), v\[?([0-9]+)[]:0-9]*, .*/tbuffer_load_format_x \3, v\4, s[0:3], 0 offen/'
}
mca_cycles() { # BODY CPU TIMES: steps of four cycles
    (ulimit -v 4000000; timeout 60 "$mca" -mtriple=amdgcn -mcpu="$2" -iterations="$3" "$1" 2>>"$tmp/out") |
        awk '/^Total Cycles/ { print $3 }'
}
mca_share() { # ASSEMBLER KERNEL CPU PASSES
    loop_of "$1" "$2" >"$tmp/body.s"
    local once twice
    once=$(mca_cycles "$tmp/body.s" "$3" 100) twice=$(mca_cycles "$tmp/body.s" "$3" 200)
    awk -v once="$once" -v twice="$twice" -v passes="$4" -v n="$(grep -c v_mfma "$tmp/body.s")" \
        'BEGIN { if (twice > once) printf "%.3f", n * passes / ((twice - once) / 100) }'
}
