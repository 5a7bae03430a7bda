#!/bin/bash
# SPDX-License-Identifier: MIT
# ccache and distcc in the instance build, and the build's last line.  Stand-ins that note what they are asked for show what
# goes through them; where there is a real ccache, what comes out of it is the same byte for byte.  TAP.
# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh disable=SC2154
. "$(dirname "$0")/../lib/tap.sh"
mkdir "$tmp/my_ops" "$tmp/bin"
export DISTCC_HOSTS=''
cat >"$tmp/my_ops/mine.lua" <<'END'
gemm "mine" {
  types = { { a = f16, b = f16, e = f16 } },
  layouts = { "rrr" },
  epilogue = function(acc) return relu(acc) end,
}
END
printf '#!/bin/sh\necho "$@" >>"%s/asked"\nexec $CCACHE_PREFIX "$@"\n' "$tmp" >"$tmp/bin/ccache"
chmod +x "$tmp/bin/ccache"
targets=(--target host)
grep -q '^KILN_NEEDS_gfx942' "$BUILD/toolchain.mk" || targets+=(--target gfx942)
build() { "$kiln" build "$tmp/my_ops" "${targets[@]}" -o "$tmp/$1" >"$tmp/out" 2>&1; }
same() { for f in "$tmp/$1"/*.so; do cmp "$f" "$tmp/$2/${f##*/}" >>"$tmp/out" 2>&1 || return; done; }
asked() { grep -cE -- "$1" "$tmp/asked"; }

KILN_CCACHE='' PATH=$tmp/bin:$PATH build without && ! grep -q 'ccache$' "$tmp/out"; result $? 'KILN_CCACHE= : without'
objects=$(find "$tmp/without/gen" -name '*.o' -o -name '*.co' | wc -l)
line="^BUILT   $(cat "$tmp"/without/gen/*/manifest | wc -l) instances\{0,1\} in [0-9]*\.[0-9] s, $(cat "$tmp"/without/*.so | wc -c) bytes of modules; slowest: [a-z0-9]*/mine/[^ ]* [0-9.]* s"
grep -q "$line" "$tmp/out"; result $? 'the last line: instances, seconds, bytes, the slowest'
steps=$((objects + (${#targets[@]} / 2)))
[ "$(grep -cE "^\[ *[1-9][0-9]*/$steps\] (CC   |HIPCC|LINK )  [a-z0-9]+" "$tmp/out")" -eq "$steps" ] && grep -q "^\[ *$steps/$steps\] LINK   " "$tmp/out"
result $? 'each step is said, and of how many'
KILN_CCACHE='' build without && ! grep -q BUILT "$tmp/out"; result $? 'nothing compiled: no such line'
[ ! -e "$tmp/asked" ] || ! grep -q ' gen/\|/gen/' "$tmp/asked"; result $? 'nothing was compiled through it'
rm -f "$tmp/asked"
PATH=$tmp/bin:$PATH build with && grep -q '^WITH.*, ccache$' "$tmp/out"; result $? 'ccache that is there is taken, and said'
[ "$(asked ' -o [^ ]*/with/gen/')" -eq "$objects" ]; result $? 'every object goes through it'
same without with; result $? 'modules are the same'
rm -f "$tmp/asked"
all=("${targets[@]}") targets=(--target host) # of which nothing is probed
cat >"$tmp/bin/distcc" <<'END'
#!/bin/sh
[ "$1" != --show-hosts ] || { echo "$DISTCC_HOSTS"; exit; }
echo "$@" >>"${0%/*}/../sent"
exec "$@"
END
chmod +x "$tmp/bin/distcc"
sent() { grep -c -- '^gcc .*-c -o [^ ]*/gen/host/' "$tmp/sent"; }
hosts() { find "$tmp/$1/gen/host" -name '*.o' | wc -l; }
KILN_CCACHE='' DISTCC_HOSTS=localhost/2 PATH=$tmp/bin:$PATH build idle && [ ! -e "$tmp/sent" ] && ! grep -q distcc "$tmp/out"
result $? 'distcc with no host but this is left alone'
KILN_CCACHE='' DISTCC_HOSTS=far PATH=$tmp/bin:$PATH build spread && grep -q '^WITH.*, distcc for the host$' "$tmp/out"
result $? 'distcc with hosts is taken, and said'
[ "$(sent)" -eq "$(hosts spread)" ] && same idle spread; result $? "every kernel of the host's goes through it"
rm -f "$tmp/sent" "$tmp/asked"
DISTCC_HOSTS=far PATH=$tmp/bin:$PATH build both && [ "$(sent)" -eq "$(asked '^gcc .*-o [^ ]*/gen/host')" ] &&
    [ "$(sent)" -eq "$(hosts both)" ] && same idle both; result $? "through ccache, where that is, too"
rm -f "$tmp/sent" "$tmp/asked"
KILN_CCACHE=$tmp/bin/ccache CC="$tmp/bin/ccache gcc" build twice && [ "$(asked '^gcc .*-o [^ ]*/gen/host')" -gt 0 ] && ! grep -q ccache "$tmp/asked"
result $? 'a CC with ccache in it has no second one'
targets=("${all[@]}")
if command -v ccache >/dev/null; then
    export CCACHE_DIR=$tmp/cache
    build real && rm -rf "$tmp/real" && build real && same without real; result $? 'out of the cache modules are the same'
    [ "$(find "$tmp/real/gen" -name '*.d' | wc -l)" -eq "$objects" ]; result $? 'and what they depend on is known'
    [ "$(ccache --print-stats | awk '/_hit\t|_hit / { n += $2 } END { print n + 0 }')" -ge "$objects" ]; result $? 'all came from there'
else
    skip 'a real ccache' 'not installed'
fi
finish
