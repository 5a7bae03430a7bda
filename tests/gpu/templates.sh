#!/bin/sh
# SPDX-License-Identifier: MIT
# templates.sh DIR: makes DIR anew, of links: the templates of this checkout with the schedules of tests/gpu/templates among them.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
rm -rf "${1:?usage: templates.sh DIR}"
mkdir -p "$1"
ln -s "$root"/templates/* "$1"
rm "$1/gemm"
mkdir "$1/gemm"
ln -s "$root"/templates/gemm/* "$root"/tests/gpu/templates/gemm/* "$1/gemm/"
