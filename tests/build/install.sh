#!/bin/bash
# SPDX-License-Identifier: MIT
# make install, as a packager calls it: what lies under DESTDIR works where it lies, whatever the umask.  TAP.
# Alone: runs make in the build folder.
# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh disable=SC2154
. "$(dirname "$0")/../lib/tap.sh"
unset KILN_MODULE_PATH
export KILN_DEVICE=host TARGETS=host # else all of gfx942 is built first
dest=$tmp/dest usr=$tmp/dest/usr

(umask 077 && make install DESTDIR="$dest" PREFIX=/usr) >"$tmp/out" 2>&1; result $? 'make install'
find "$dest" ! -type l ! -perm -444 >"$tmp/out"
[ ! -s "$tmp/out" ]; result $? 'all of it is readable by everybody'
! grep -rl "$dest" "$usr" >"$tmp/out" 2>&1; result $? 'DESTDIR is in no file'

export PKG_CONFIG_PATH=$usr/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$dest
flags=$(pkg-config --cflags --libs kiln)
# shellcheck disable=SC2086
gcc -std=c11 -Wall -Wextra -Werror examples/readme.c -o "$tmp/readme" $flags >"$tmp/out" 2>&1; result $? "README's program compiles with pkg-config"
LD_LIBRARY_PATH=$usr/lib "$tmp/readme" >"$tmp/out" 2>&1 && grep -q '^E\[0\] = 100$' "$tmp/out"; result $? 'and finds the installed modules'
for lang in 'c -std=c99 -pedantic' 'c++ -std=c++11'; do
    # shellcheck disable=SC2086
    echo '#include <kiln.h>' | gcc -x $lang -Wall -Wextra -Werror -fsyntax-only -I"$usr/include" - >"$tmp/out" 2>&1
    result $? "<kiln.h> alone is ${lang%% *}"
done

"$usr/bin/kiln" list --op bias_relu >"$tmp/out" 2>&1; result $? 'the installed kiln finds library and modules'
(cd "$tmp" && "$usr/bin/kiln-gen" --check "$usr/share/kiln/instances") >"$tmp/out" 2>&1; result $? 'the installed kiln-gen finds its templates'

# Folders of one's own are built by what is installed, which stays as it is.
mkdir "$tmp/my_ops"
sed 's/"bias_relu"/"mine"/; s/bf16/f32/g; s/"rrr"/"rrc"/' instances/bias_relu.lua >"$tmp/my_ops/mine.lua"
touch "$tmp/mark"; sleep 0.02
(cd "$tmp" && env -i HOME="$HOME" PATH="$PATH" "$usr/bin/kiln" build my_ops --target host) >"$tmp/out" 2>&1
result $? 'the installed kiln builds a folder'
KILN_MODULE_PATH=$tmp/my_ops/build "$usr/bin/kiln" verify --all --quick --op mine >"$tmp/out" 2>&1; result $? 'into modules that it finds'
"$kiln" build "$tmp/my_ops" --target host -o "$tmp/other" >"$tmp/out" 2>&1 && cmp "$tmp/other/libkiln-host.so" "$tmp/my_ops/build/libkiln-host.so" >>"$tmp/out" 2>&1
result $? "and that are, byte for byte, the checkout's"
if grep -q '^KILN_NEEDS_gfx942' "$BUILD/toolchain.mk"; then
    skip 'a folder for gfx942' 'nothing here compiles gfx942'
else
    "$usr/bin/kiln" build "$tmp/my_ops" --target gfx942 >"$tmp/out" 2>&1 && "$usr/bin/kiln" list --modules "$tmp/my_ops/build" --target gfx942 >"$tmp/list" &&
        grep -q mine "$tmp/list"
    result $? 'for gfx942, too'
fi
[ -z "$(find "$dest" -newer "$tmp/mark")" ]; result $? 'nothing of the installation was written to'
: >"$tmp/out"
if command -v scdoc >/dev/null && command -v groff >/dev/null; then
    for page in "$usr"/share/man/man?/*; do groff -man -ww -Tutf8 "$page" 2>>"$tmp/out" >/dev/null; done
    [ "$(find "$usr/share/man" -type f | wc -l)" -ge 4 ] && [ ! -s "$tmp/out" ]; result $? 'man pages render without a warning'
fi
site=$usr/lib/python3/dist-packages
if [ -e "$site/kiln/_kiln.abi3.so" ]; then
    (cd "$tmp" && export PYTHONPATH=$site PYTHONDONTWRITEBYTECODE=1 && "${PYTHON:-python3}" -m kiln list --op bias_relu &&
        "${PYTHON:-python3}" -c 'import kiln; print(kiln.find("bias_relu bf16,bf16,bf16 rcr m=1 n=1 k=1", "host").name)') >"$tmp/out" 2>&1
    result $? 'the installed Python package finds library, modules and tool'
else
    skip 'the Python package' 'no Python headers'
fi
bash -c '. "$1" && complete -p kiln' - "$usr/share/bash-completion/completions/kiln" >"$tmp/out" 2>&1; result $? 'bash takes the completion'

make install DESTDIR="$tmp/with space" PREFIX='/opt/a kiln' >"$tmp/out" 2>&1 && "$tmp/with space/opt/a kiln/bin/kiln" list --op bias_relu >>"$tmp/out" 2>&1
result $? 'folders with spaces in their names'
"$tmp/with space/opt/a kiln/bin/kiln" build "$tmp/my_ops" --target host -o "$tmp/third" >"$tmp/out" 2>&1 && cmp "$tmp/third/libkiln-host.so" "$tmp/other/libkiln-host.so" >>"$tmp/out" 2>&1
result $? 'build folders, too'
PKG_CONFIG_SYSROOT_DIR='' PKG_CONFIG_PATH="$tmp/with space/opt/a kiln/lib/pkgconfig" pkg-config --cflags kiln >"$tmp/out" 2>&1 && grep -qF '/opt/a\ kiln/include' "$tmp/out"
result $? 'and pkg-config quotes them'
make install DESTDIR="$tmp/d64" PREFIX=/usr LIBDIR=lib64/deep PYTHONDIR=lib/python3/site-packages >"$tmp/out" 2>&1 &&
    "$tmp/d64/usr/bin/kiln" list --op bias_relu >>"$tmp/out" 2>&1 && [ ! -e "$tmp/d64/usr/lib/libkiln.so.0" ]
result $? 'LIBDIR=lib64/deep: the program finds its library there'
if [ -e "$tmp/d64/usr/lib/python3/site-packages/kiln/_kiln.abi3.so" ]; then
    (cd "$tmp" && PYTHONPATH=$tmp/d64/usr/lib/python3/site-packages PYTHONDONTWRITEBYTECODE=1 "${PYTHON:-python3}" -c 'import kiln') >"$tmp/out" 2>&1
    result $? 'and so does the Python package elsewhere'
fi
# Documents: every relative link leads to something installed, headings included.
links() {
    python3 - "$usr/share/doc/kiln" <<'PY'
import os, re, sys
bad, seen = [], 0
def text(path):
    return re.sub(r"^```.*?^```", "", open(path).read(), flags=re.M | re.S)
for folder, _, files in os.walk(sys.argv[1]):
    for f in [f for f in files if f.endswith(".md")]:
        here = os.path.join(folder, f)
        for link in re.findall(r"\]\(([^)]+)\)", text(here)):
            if re.match(r"[a-z]+:", link): continue
            path, _, anchor = link.partition("#")
            to = os.path.normpath(os.path.join(folder, path)) if path else here
            seen += 1
            heads = [re.sub(r"[^a-z0-9_ -]", "", h.lower()).replace(" ", "-")
                     for h in re.findall(r"^#+ (.*)", text(to), re.M)] if to.endswith(".md") and os.path.exists(to) else []
            if not os.path.exists(to) or not os.path.realpath(to).startswith(os.path.realpath(sys.argv[1] + "/../../..")) or anchor and anchor not in heads:
                bad.append(f"{here}: {link}")
print("\n".join(bad))
sys.exit(bool(bad) or seen < 60)
PY
}
links >"$tmp/out" 2>&1; result $? 'links in installed documents lead to what is installed'

# A folder of one's own goes beside the modules that are there.
mkdir "$tmp/install_ops"
sed 's/"bias_relu"/"mine"/; s/bf16/f32/g; s/"rrr"/"rrc"/' instances/bias_relu.lua >"$tmp/install_ops/mine.lua"
make install DESTDIR="$dest" PREFIX=/usr TARGETS=host INSTANCES="$tmp/install_ops" >"$tmp/out" 2>&1; result $? 'make install INSTANCES=folder'
"$usr/bin/kiln" verify --all --quick --op mine >"$tmp/out" 2>&1 && "$usr/bin/kiln" list --op bias_relu >>"$tmp/out" 2>&1
result $? 'adds its ops to the others'
rm -rf "$BUILD/modules/install_ops"
mkdir "$tmp/none"
! make install DESTDIR="$tmp/d2" INSTANCES="$tmp/none" TARGETS=host >"$tmp/out" 2>&1 && [ ! -e "$tmp/d2" ]; result $? 'no modules: nothing is installed'
finish
