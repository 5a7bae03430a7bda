#!/bin/bash
# SPDX-License-Identifier: MIT
# What templates include and schedules require from the folder lib/ beside them: what comes out, what a wrong one says and
# where, and that a change of one is built.  And that templates stay short: 600 lines, of 120 columns.
# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh disable=SC2016,SC2015
. "$(dirname "$0")/../lib/tap.sh"
src=$tmp/src
mkdir -p "$src/instances" "$src/templates/targets" "$src/templates/gemm/lib"
cp "$root/templates/gemm/family.lua" "$src/templates/gemm"
lib=$src/templates/gemm/lib tmpl=$src/templates/gemm/one.c.tmpl

cat >"$src/templates/targets/here.lua" <<'END'
return target { name = "here", vendor = "host", source = "c", ext = ".c", arch = "x" }
END
cat >"$src/instances/it.lua" <<'END'
gemm "it" { types = { { a = f32, b = f32, e = f32 } }, layouts = { "rcr" }, epilogue = function(acc) return acc end }
END
launch='function(p, t) return { { grid = { p.m }, block = { 1 } } } end'
schedule() { # FIRST LINE, LAUNCH: a schedule of two instances
    cat >"$src/templates/gemm/one.lua" <<END
$1
return schedule { family = "gemm", title = "test", supports = function() return true end,
  tunables = { { "m", values = { 1, 2 } } }, defaults = function() return { { m = 1 }, { m = 2 } } end,
  name = function(t) return "m" .. t.m end, cost = function() return 1 end, launch = $2 }
END
}
run() { "$gen" --templates "$src/templates" --out "$src/out" "$src/instances" >"$tmp/said" 2>&1; }
part() { cat >"$lib/$1"; }
text() { # NAME M TEMPLATE WANTED
    printf '%s' "$3" >"$tmpl"
    printf '%s' "$4" >"$tmp/want"
    { run && diff "$tmp/want" "$src"/out/here/it/*_m"$2".c; } >"$tmp/log" 2>&1 || { cat "$tmp/said" >>"$tmp/log"; false; }
    result $? "$1" "$tmp/log"
}
refused() { # NAME MESSAGE: the run fails and says so, with its place
    run
    [ $? -eq 1 ] && grep -qF -- "$2" "$tmp/said"
    result $? "$1" "$tmp/said"
}
wrong() { # NAME TEMPLATE MESSAGE
    printf '%s' "$2" >"$tmpl"
    refused "$1" "$3"
}
schedule "" "$launch"

# ---- parts ----
part row.tmpl <<<'row @{i} of @{t.m}'
text "a part stands where it is included" 2 'a
%% for i = 1, t.m do
  %%   include "row"
%% end
b
' 'a
row 1 of 2
row 2 of 2
b
'
mkdir "$src/templates/lib"
echo 'of all' >"$src/templates/lib/row.tmpl"
echo 'of all @{require "sum"(i, 1)}' >"$src/templates/lib/other.tmpl"
echo 'return function(x, y) return x + y end' >"$src/templates/lib/sum.lua"
text "what families share is found behind what one has" 1 '%% for i = 1, 2 do
%%   include "row"
%%   include "other"
%% end
' 'row 1 of 1
of all 2
row 2 of 1
of all 3
'
printf 'one\n%%%% local seen = "seen"\n%%%% local function twice(x) return 2 * x end\n' >"$lib/define.tmpl"
text "what it defines is seen behind it, and by what it includes" 1 '%% include "define" -- names
@{seen} @{twice(21)}
' 'one
seen 42
'
printf '%%%% include "row"\nlast' >"$lib/outer.tmpl"
: >"$lib/empty.tmpl"
text "parts include parts, twice, and end with their last line" 1 '%% local i = 7
%% include "outer"
%% include "empty"
%% include "outer"
end' 'row 7 of 1
last
row 7 of 1
last
end'
text "include is a word of its own" 1 '%% local included = 3
%% included = included + 1
@{included}
' '4
'
wrong "a part that is not there" 'a
%%  include "nowhere"
' "one.c.tmpl:2:13: error: include 'nowhere': no file '$lib/nowhere.tmpl'"
wrong "... or elsewhere" '%% include "../one.c"
' "one.c.tmpl:1:12: error: include '../one.c': only a file of the folder lib/ here, by its name without '.tmpl'"
wrong "... or has no name" '%% include ""
' "one.c.tmpl:1:12: error: include '': only a file"
for line in 'include row' 'include "row' 'include "row" .. "x"' 'include("row")' 'include = 3'; do
    wrong "... or is not named: $line" "%% $line
" "error: a part's name is expected, alone in its line: %% include \"name\""
done
printf 'x\n%%%% include "b"\n' >"$lib/a.tmpl"
printf '\n\n%%%% include "a"\n' >"$lib/b.tmpl"
wrong "parts that include each other" '%% include "a"
' "lib/b.tmpl:3:12: error: include 'a': that part is what includes this line"
echo '%% include "self"' >"$lib/self.tmpl"
wrong "... or themselves" '%% include "self"
' "lib/self.tmpl:1:12: error: include 'self': that part is what includes this line"
{ echo '%% include "p20"' >"$lib/p1.tmpl"; head -c 1000 /dev/zero | tr '\0' x >"$lib/p20.tmpl"; }
for i in $(seq 1 19); do printf '%%%% include "p%d"\n%%%% include "p%d"\n' $((i + 1)) $((i + 1)) >"$lib/p$i.tmpl"; done
wrong "... or a million times" '%% include "p1"
' "one.c.tmpl:1: error: larger than 1 MiB with its parts"
rm "$lib"/p[0-9]*.tmpl

printf 'fine\nfine @{t.m}\n%%%% if t.m == 1 then\n@{t.missing}\n%%%% end\n' >"$lib/bad.tmpl"
wrong "a hole in a part that is nil" '

%% include "bad"
' "lib/bad.tmpl:4:1: error: @{t.missing} is nil"
printf 'fine\n%%%% local x = nil + 1\n' >"$lib/bad.tmpl"
wrong "an error of a part's Lua" 'text
%% include "bad"
' "lib/bad.tmpl:2:1: error: attempt to perform arithmetic on a nil value"
printf 'fine\n\n  @{x y}\n' >"$lib/bad.tmpl"
wrong "an expression in a part that is none" 'text
%% include "bad"
' "lib/bad.tmpl:3:3: error: @{x y} is not an expression"
printf 'fine\n%%%% local = 3\n' >"$lib/bad.tmpl"
wrong "Lua in a part that is none" '%% include "bad"
text
' "lib/bad.tmpl:2:10: error: <name> expected"
printf '\n%%%% for i = 1, 2 do\n' >"$lib/bad.tmpl"
wrong "a loop that a part leaves open" 'one
two
%% include "bad"
text
' "'end' expected (to close 'for' at $lib/bad.tmpl:2)"
printf 'fine\n' >"$lib/bad.tmpl"
wrong "an error behind a part" '%% include "bad"
%% include "bad"

text @{t.nothing}
' "one.c.tmpl:4:1: error: @{t.nothing} is nil"
wrong "... of a name that nobody has" '%% include "bad"
%% include "bad"
%% wrong()
' "one.c.tmpl:3:4: error: unknown name 'wrong'"

# ---- require ----
cat >"$lib/shared.lua" <<'END'
local count = 0
local shared = {}
function shared.launch(p) return { { grid = { p.m }, block = { 1 } } } end
function shared.next()
  count = count + 1
  return count
end
shared.next()
return shared
END
schedule 'local shared = require "shared"
assert(shared == require "shared" and shared.next() == 2)' shared.launch
echo '@{require "shared".next()}' >"$lib/count.tmpl"
text "schedules, templates and parts require Lua, each rendering its own" 2 '%% local shared = require "shared"
@{shared.next()} @{require "shared".next()}
%% include "count"
' '2 3
4
'
diff "$src"/out/here/it/*_m[12].c >"$tmp/log"
result $? "... the other one its own, too" "$tmp/log"
echo 'return 5' >"$lib/five.lua"
echo 'return { twice = function(x) return x + x end, five = require "five" }' >"$lib/needs.lua"
text "what is required requires its neighbours" 1 '%% local needs = require "needs"
@{needs.twice(needs.five)}
' '10
'
wrong "a file that is not there" '
%% local x = require "nowhere"
' "one.c.tmpl:2:22: error: require 'nowhere': no file '$lib/nowhere.lua'"
wrong "... or elsewhere" '%% local x = require "../one"
' "one.c.tmpl:1:22: error: require '../one': only a file of the folder lib/ here, by its name without '.lua'"
wrong "... or has no name" '%% local x = require(nil)
' "one.c.tmpl:1:14: error: require needs a name, got a nil"
echo 'return op.name' >"$lib/sees.lua"
wrong "what is required sees nothing of an instance" '%% local x = require "sees"
' "lib/sees.lua:1:8: error: unknown name 'op'"
printf 'local x = 1\nreturn x.y.z\n' >"$lib/fails.lua"
wrong "an error while it runs" '%% local x = require "fails"
' "lib/fails.lua:2:"
grep -qF "one.c.tmpl:1:22: error: require 'fails': that file is wrong" "$tmp/said"
result $? "... is the template's, too" "$tmp/said"
echo 'return require "two"' >"$lib/one.lua"
printf '\nlocal x = require "one"\n' >"$lib/two.lua"
wrong "two files that need each other" '%% local x = require "one"
' "lib/two.lua:2:19: error: require 'one': that file is running, and needs this one"
echo 'fine' >"$tmpl"
schedule 'local x = require "nowhere"' "$launch"
refused "a schedule that requires what is not there" "one.lua:1:19: error: require 'nowhere': no file '$lib/nowhere.lua'"
schedule 'local x = require "two"' "$launch"
refused "... or what needs each other" "lib/one.lua:1:16: error: require 'two': that file is running, and needs this one"
echo 'return { launch = function(p) return { { grid = { 0 }, block = { 1 } } } end }' >"$lib/launch.lua"
schedule 'local x = require "launch"' x.launch
refused "what a required function returns wrongly is said at its line" "lib/launch.lua:1"

# ---- dependencies: what make generates again ----
mkdir -p "$tmp/build/bin" && ln -s "$gen" "$tmp/build/bin/kiln-gen" && : >"$tmp/build/toolchain.mk"
stamp() { make -s -f mk/instances.mk DIR="$src/instances" OUT="$src/made" LIB="$src/mods" BUILD="$tmp/build" \
    SCHEDULES="$src/templates" TARGETS=here "$src/made/generated.stamp"; }
made() { stamp >"$tmp/said" 2>&1 && cat "$src"/made/here/it/*_m1.c; }
schedule '' 'require "shared".launch'
printf '%%%% include "row"\n' >"$tmpl"
echo 'first' >"$lib/row.tmpl"
test "$(made)" = first
result $? "make generates" "$tmp/said"
sleep 0.02
echo 'second' >"$lib/row.tmpl"
test "$(made)" = second
result $? "... again when a part has changed" "$tmp/said"
sleep 0.02
sed -i 's/block = { 1 }/block = { 64 }/' "$lib/shared.lua"
stamp >"$tmp/said" 2>&1 && grep -q 64 "$src/made/here/module.c"
result $? "... or what is required" "$tmp/said"
sleep 0.02
rm "$lib/row.tmpl" "$src/templates/lib/row.tmpl"
! stamp >"$tmp/said" 2>&1 && grep -q "no file '.*lib/row.tmpl'" "$tmp/said"
result $? "... or is gone" "$tmp/said"

# ---- the templates of this checkout ----
check "tests/gpu's schedules go with the others" bash -c 'sh tests/gpu/templates.sh "$0/gpu" && "$KILN_GEN" --templates "$0/gpu" --check tests/gpu/instances/tma.lua' "$tmp"
check "no template has more than 600 lines" bash -c '! find templates -name "*.tmpl" -exec wc -l {} + | awk "\$2 != \"total\" && \$1 > 600" | grep .'
check "no line of templates/ is longer than 120 columns" bash -c '! grep -rnE ".{121}" templates'
# ---- default tiles ----
echo 'all' >"$tmpl"
schedule "" "$launch"
sed -i 's/{ m = 2 } } end/{ m = 2, name = true } } end/' "$src/templates/gemm/one.lua"
refused 'a default set has tunables, and no other word' "one.lua:3: error: defaults: no tunable 'name'"
finish
