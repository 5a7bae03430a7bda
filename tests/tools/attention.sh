#!/bin/bash
# SPDX-License-Identifier: MIT
# Problems of attention as text: sizes, strides of heads, what may be left out, and what each mistake is told.
# shellcheck source-path=SCRIPTDIR source=lib/kiln.sh
. "$(dirname "$0")/lib/kiln.sh"

finds() { # PROBLEM KERNEL
    exits 0 explain --device host "$1" && says "$2"
}
told() { # PROBLEM MESSAGE
    kiln explain --device host "$1"
    [ "$code" != 0 ] && says "$2"
}
B=bf16,bf16,bf16,bf16
sizes='heads=8 kv_heads=2 q=5 kv=70'
check 'a row of head sizes by its sizes' finds "causal_attention $B $sizes dim=192 dimv=128" 'host/causal_attention/.*/192_128/'
check '... by the first of them' finds "causal_attention $B $sizes dim=96" '/96_96/'
check 'the only row need not be said' finds "mla $B $sizes" '/576_512/'
check 'strides of heads, interleaved' finds "mla $B $sizes ldq=4608 pq=576 ldo=4096 po=512" '/576_512/'
check 'inputs that heads and queries share' finds "bias_attention $B $sizes dim=64 pd.bias=broadcast ldd.bias=broadcast sd.bias=broadcast" '/64_64/'
check 'a window' finds "sink_attention $B $sizes window=16" '/64_64/'

paged="paged_attention $B heads=8 kv_heads=2 q=5 kv=70 batch=3"
check 'rows of all sequences in one matrix' finds "ragged_attention $B $sizes batch=9" '/ragged_attention/'
check 'pages, and strides from one to the next' finds "$paged pages=9 sk=8192 ldk=256 pk=128" '/paged_attention/'
check 'rows of a table that lie apart' finds "$paged pages=9 ldd.kv_pages=100 alignd.q_begin=16" '/paged_attention/'
check 'pages that are missing' told "$paged" 'pages= is missing'
check 'pages of an op without' told "ragged_attention $B $sizes pages=3" "unknown field 'pages'; there are heads kv_heads q kv dim dimv batch ldq"
check 'a table too narrow' told "$paged pages=9 ldd.kv_pages=4" "kv_pages's leading dimension is 4, but its rows have 5 elements"
check 'pages that overlap in V and K may' finds "$paged pages=9 sv=64" '/paged_attention/'

check 'sizes of a head that are not said' told "causal_attention $B $sizes" 'dim= is missing: causal_attention has dim=64 dimv=64, dim=96 dimv=96'
check 'sizes that no kernel is compiled for' told "causal_attention $B $sizes dim=80" 'causal_attention is not described for these sizes; it has dim=64 dimv=64'
check 'heads that do not divide' told "mla $B heads=8 kv_heads=3 q=1 kv=1" 'heads is 8 and kv_heads 3: the first must be a multiple of the second'
check 'no heads of K and V' told "mla $B heads=8 kv_heads=0 q=1 kv=1" 'heads is 8 and kv_heads 0: the first must be a multiple of the second'
check 'a size that is missing' told "mla $B heads=8 kv_heads=1 q=1" 'kv= is missing'
check 'a window that is missing' told "sink_attention $B $sizes" 'window= is missing'
check 'a window of an op without' told "mla $B $sizes window=3" "unknown field 'window'; there are heads kv_heads q kv dim dimv batch ldq"
check 'a stride of heads that is no number' told "mla $B $sizes pq=0" 'pq=0: a plane stride is a number of elements from 1, or `broadcast`'
check 'heads of O that share memory' told "mla $B $sizes po=broadcast" "O's plane stride is KILN_BROADCAST: every plane of the result needs its own place"
check 'heads of O that overlap' told "mla $B $sizes ldo=512 po=100" 'planes would overwrite each other'
check 'rows of Q that are one' told "mla $B $sizes ldq=100" "Q's leading dimension is 100, but its rows have 576 elements"
finish
