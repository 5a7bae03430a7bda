#!/bin/sh
# SPDX-License-Identifier: MIT
# Prints the folder of Python's headers, 3.9 or later: those of $PYTHON, else of any that is installed, for the extension is
# for the limited API, which they all have.  Prints nothing where there are none, or no such Python.
good() {
    [ -e "$1/Python.h" ] && awk '$2 == "PY_MAJOR_VERSION" { major = $3 } $2 == "PY_MINOR_VERSION" { minor = $3 }
        END { exit !(major == 3 && minor >= 9) }' "$1/patchlevel.h"
}
own=$("${PYTHON:-python3}" -c 'import sys, sysconfig; print(sysconfig.get_paths()["include"] if sys.version_info >= (3, 9) else "")' \
    2>/dev/null)
[ -n "$own" ] || exit 0
for dir in "$own" /usr/include/python3.*; do
    if good "$dir" 2>/dev/null; then echo "$dir"; exit; fi
done
exit 0
