#!/bin/bash
# SPDX-License-Identifier: MIT
# The Python package on the host, with numpy and ml_dtypes from PyPI in a virtual environment of the build folder, which is
# made once.  Skipped where the package is not built (no Python headers) or there is no such environment.  TAP.
# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh disable=SC2154
. "$(dirname "$0")/../lib/tap.sh"
package=$(realpath -m "$BUILD/python") venv=$(realpath -m "$BUILD/tests/venv")
skipped() { echo "1..0 # SKIP $1"; exit 77; }

[ -e "$package/kiln/_kiln.abi3.so" ] || skipped 'no Python headers: mk/deps.sh python, then make python'
if ! "$venv/bin/python" -c 'import numpy, ml_dtypes' 2>/dev/null; then
    for python in "${PYTHON:-python3}" /usr/bin/python3; do
        "$python" -c 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 9))' 2>/dev/null && break
        python=
    done
    [ -n "$python" ] || skipped 'no Python 3.9 with venv'
    rm -rf "$venv"
    "$python" -m venv "$venv" >"$tmp/out" 2>&1 || skipped 'no virtual environment can be made'
    timeout 120 "$venv/bin/pip" --disable-pip-version-check install -q numpy ml_dtypes >"$tmp/out" 2>&1 ||
        skipped "no numpy and ml_dtypes: $(tail -n 1 "$tmp/out")"
fi
export PYTHONPATH=$package PYTHONDONTWRITEBYTECODE=1 KILN_DEVICE=host XDG_CACHE_HOME=$tmp/cache TMPDIR=$tmp
export KILN_BUILD=$BUILD
unset KILN_MODULE_PATH
"$venv/bin/python" -W error tests/python/runner.py test_call test_errors test_tensors test_life test_simulated test_tools test_whole
