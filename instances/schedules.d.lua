---@meta
-- Targets and schedules, for editors.  Written by `kiln-gen --annotations`; do not edit.

---@alias kiln.Target "gfx1100"|"gfx1201"|"gfx90a"|"gfx942"|"host"|"sm_90a"

---@alias kiln.host.q 4|8|16|32
---@alias kiln.host.kv 16|32|64
---@alias kiln.host.mc 256|512|1024|2048
---@alias kiln.host.nc 64|128|256|512
---@alias kiln.host.kc 128|256|512|1024|2048
---@alias kiln.host.piece 64|128|256
---@alias kiln.host.step 65536|262144

---@class kiln.host.Sweep
---@field q? kiln.host.q|kiln.host.q[] attention: queries that share a tile of keys
---@field kv? kiln.host.kv|kiln.host.kv[] attention: keys of a tile
---@field mc? kiln.host.mc|kiln.host.mc[] gemm: most rows that a thread takes at a time
---@field nc? kiln.host.nc|kiln.host.nc[] gemm: columns that a thread packs at a time
---@field kc? kiln.host.kc|kiln.host.kc[] gemm: length along k of a packed panel
---@field piece? kiln.host.piece|kiln.host.piece[] rowwise: columns that are computed at once
---@field step? kiln.host.step|kiln.host.step[] rowwise: bytes of rows that a thread takes at a time

---attention: tiles of keys by vectors, rows shared out among threads: any size, stride and alignment; gemm: packed, register-blocked kernel for CPUs: any size, stride and alignment; rowwise: rows by vectors, shared out among threads: any size, stride and alignment.
---A sweep: all combinations of these values, the other tunables as in the first default.
---@param axes kiln.host.Sweep
---@return kiln.Sweep
function host(axes) end

---@alias kiln.mfma.q 128|256
---@alias kiln.mfma.kv 32|64|128
---@alias kiln.mfma.m 16|32|48|64|96|128|192|256
---@alias kiln.mfma.n 8|16|24|32|48|64|96|128|192|256
---@alias kiln.mfma.k 8|16|32|64|128|256|512|1024
---@alias kiln.mfma.wm 1|2|4|8
---@alias kiln.mfma.wn 1|2|4|8
---@alias kiln.mfma.wk 1|2|4
---@alias kiln.mfma.mfma 16|32
---@alias kiln.mfma.ahead 1|2|4
---@alias kiln.mfma.split_k 1|2|4|8|16|32
---@alias kiln.mfma.stream 0|1
---@alias kiln.mfma.group 1|2|4|8|16|32
---@alias kiln.mfma.xf32 0|1

---@class kiln.mfma.Sweep
---@field q? kiln.mfma.q|kiln.mfma.q[] attention: queries of a block, 32 to a wave
---@field kv? kiln.mfma.kv|kiln.mfma.kv[] attention: keys of a tile in LDS
---@field m? kiln.mfma.m|kiln.mfma.m[] gemm: rows of the block's tile
---@field n? kiln.mfma.n|kiln.mfma.n[] gemm: columns of the block's tile
---@field k? kiln.mfma.k|kiln.mfma.k[] gemm: length along K of the tiles in LDS
---@field wm? kiln.mfma.wm|kiln.mfma.wm[] gemm: waves along M
---@field wn? kiln.mfma.wn|kiln.mfma.wn[] gemm: waves along N
---@field wk? kiln.mfma.wk|kiln.mfma.wk[] gemm: waves that share a tile's K in LDS, each a part; they add up before the way out
---@field mfma? kiln.mfma.mfma|kiln.mfma.mfma[] gemm: rows and columns of a matrix instruction
---@field ahead? kiln.mfma.ahead|kiln.mfma.ahead[] gemm: tiles of K on their way from memory, in registers; the main loop is unrolled by it
---@field split_k? kiln.mfma.split_k|kiln.mfma.split_k[] gemm: blocks that share a tile, each a part of K; above 1 a second kernel sums
---@field stream? kiln.mfma.stream|kiln.mfma.stream[] gemm: 1: only the tiles past the last that fill the device are shared, and where that pays
---@field group? kiln.mfma.group|kiln.mfma.group[] gemm: tiles along M that neighbouring blocks share B for
---@field xf32? kiln.mfma.xf32|kiln.mfma.xf32[] gemm: 1: f32 is multiplied as xf32, of 10 bits of mantissa: only where a sweep asks for it

---attention: AMD matrix cores: exponentials go from product to product in registers; gemm: AMD matrix cores: matrix instructions without a gap between them.
---A sweep: all combinations of these values, the other tunables as in the first default.
---@param axes kiln.mfma.Sweep
---@return kiln.Sweep
function mfma(axes) end

---@alias kiln.mma.m 16|32|64|128
---@alias kiln.mma.n 16|32|64|128|256
---@alias kiln.mma.wm 1|2|4
---@alias kiln.mma.wn 1|2|4|8
---@alias kiln.mma.wk 1|2|4
---@alias kiln.mma.slabs 1|2|4
---@alias kiln.mma.word 1|4|8
---@alias kiln.mma.lines 0|1
---@alias kiln.mma.depth 1|2|3|4|5|6|8
---@alias kiln.mma.blocks 1|2|3|4|6
---@alias kiln.mma.split_k 0|1|2|3|4|5|6|7|8

---@class kiln.mma.Sweep
---@field m? kiln.mma.m|kiln.mma.m[] rows of the block's tile
---@field n? kiln.mma.n|kiln.mma.n[] columns of the block's tile
---@field wm? kiln.mma.wm|kiln.mma.wm[] warps of a block along M
---@field wn? kiln.mma.wn|kiln.mma.wn[] and along N
---@field wk? kiln.mma.wk|kiln.mma.wk[] and along K
---@field slabs? kiln.mma.slabs|kiln.mma.slabs[] pieces of 128 bytes along K that arrive together
---@field word? kiln.mma.word|kiln.mma.word[] bytes that lines of A and B begin at multiples of, and that are copied at once; 1: at any address
---@field lines? kiln.mma.lines|kiln.mma.lines[] 1: few rows of A; lines of B, along K, come from any address straight to registers
---@field depth? kiln.mma.depth|kiln.mma.depth[] tiles of A and B in shared memory; with lines: steps of B's, 64 bytes of each, in registers
---@field blocks? kiln.mma.blocks|kiln.mma.blocks[] blocks that a unit holds at once
---@field split_k? kiln.mma.split_k|kiln.mma.split_k[] blocks that share a tile, each a part of K; 0: chosen at the launch

---matrix units by single warps: operands at any address, small tiles.
---A sweep: all combinations of these values, the other tunables as in the first default.
---@param axes kiln.mma.Sweep
---@return kiln.Sweep
function mma(axes) end

---@alias kiln.simt.q 4|8|16
---@alias kiln.simt.kv 32|64|128
---@alias kiln.simt.m 16|32|64|128
---@alias kiln.simt.n 16|32|64|128
---@alias kiln.simt.k 8|16|32|64
---@alias kiln.simt.tm 1|2|4|8
---@alias kiln.simt.tn 1|2|4|8
---@alias kiln.simt.split_k 1|2|4|8|16|32
---@alias kiln.simt.lanes 16|32|64|128|256|512|1024
---@alias kiln.simt.rows 1|2|4|8|16
---@alias kiln.simt.v 1|2|3|4|6|8
---@alias kiln.simt.resident 0|1
---@alias kiln.simt.split 1|2|4|8|16|32
---@alias kiln.simt.cluster 1|2|4|8
---@alias kiln.simt.narrow 0|1|2

---@class kiln.simt.Sweep
---@field q? kiln.simt.q|kiln.simt.q[] attention: queries of a block, of one head or of several that share K and V
---@field kv? kiln.simt.kv|kiln.simt.kv[] attention: keys of a tile
---@field m? kiln.simt.m|kiln.simt.m[] gemm: rows of the block's tile
---@field n? kiln.simt.n|kiln.simt.n[] gemm: columns of the block's tile
---@field k? kiln.simt.k|kiln.simt.k[] gemm: length along K of the tiles in LDS
---@field tm? kiln.simt.tm|kiln.simt.tm[] gemm: rows of a thread's tile
---@field tn? kiln.simt.tn|kiln.simt.tn[] gemm: columns of a thread's tile
---@field split_k? kiln.simt.split_k|kiln.simt.split_k[] gemm: blocks that share a tile, each a part of K; above 1 a second kernel sums
---@field lanes? kiln.simt.lanes|kiln.simt.lanes[] rowwise: threads of a row
---@field rows? kiln.simt.rows|kiln.simt.rows[] rowwise: rows of a block
---@field v? kiln.simt.v|kiln.simt.v[] rowwise: pieces of 4 or 8 columns that a thread takes at once
---@field resident? kiln.simt.resident|kiln.simt.resident[] rowwise: 1: a row stays in registers, and must fit
---@field split? kiln.simt.split|kiln.simt.split[] rowwise: blocks that share a row, a kernel for each phase
---@field cluster? kiln.simt.cluster|kiln.simt.cluster[] rowwise: blocks of a cluster that share a row
---@field narrow? kiln.simt.narrow|kiln.simt.narrow[] rowwise: columns of a piece, where rows are aligned to no more; 0: 4 or 8

---attention: portable vector-unit kernel: any size, stride and alignment; gemm: portable vector-unit kernel: any size, stride and alignment; rowwise: rows in registers, on lanes, waves or blocks: any size, stride and alignment.
---A sweep: all combinations of these values, the other tunables as in the first default.
---@param axes kiln.simt.Sweep
---@return kiln.Sweep
function simt(axes) end

---@alias kiln.simt_decode.q 1|2|4|8
---@alias kiln.simt_decode.lanes 8|16|32
---@alias kiln.simt_decode.deep 1|2|4
---@alias kiln.simt_decode.parts 1|16|64|128
---@alias kiln.simt_decode.m 1|2|4|8
---@alias kiln.simt_decode.n 2|4
---@alias kiln.simt_decode.threads 256|512

---@class kiln.simt_decode.Sweep
---@field q? kiln.simt_decode.q|kiln.simt_decode.q[] attention: queries of a block, of one head or of several that share K and V
---@field lanes? kiln.simt_decode.lanes|kiln.simt_decode.lanes[] attention: lanes that share a key
---@field deep? kiln.simt_decode.deep|kiln.simt_decode.deep[] attention: keys that a lane has in flight
---@field parts? kiln.simt_decode.parts|kiln.simt_decode.parts[] attention: most blocks that share a tile's keys
---@field m? kiln.simt_decode.m|kiln.simt_decode.m[] gemm: rows that a block multiplies at once; one has code of its own
---@field n? kiln.simt_decode.n|kiln.simt_decode.n[] gemm: columns of a wave, where B is contiguous along K
---@field threads? kiln.simt_decode.threads|kiln.simt_decode.threads[] gemm: of a block

---attention: few queries: blocks share the keys, each key and value is read once; gemm: few rows on vector units, at any stride and alignment.
---A sweep: all combinations of these values, the other tunables as in the first default.
---@param axes kiln.simt_decode.Sweep
---@return kiln.Sweep
function simt_decode(axes) end

---@alias kiln.wgmma.wg 1|2|3|4
---@alias kiln.wgmma.keys 64|96|128|160|176|192
---@alias kiln.wgmma.depth 3|4|5|6|7|8|9|10|2|11|12|13|14|15|16
---@alias kiln.wgmma.turns 0|1
---@alias kiln.wgmma.m 8|16|24|32|40|48|56|64|72|80|88|96|104|112|120|128|136|144|152|160|168|176|184|192|200|208|216|224|232|240|248|256|264|272|280|288|296|304|312|320
---@alias kiln.wgmma.n 8|16|24|32|40|48|56|64|72|80|88|96|104|112|120|128|136|144|152|160|168|176|184|192|200|208|216|224|232|240|248|256|264|272|280|288|296|304|312|320
---@alias kiln.wgmma.cluster 1|2|4|8
---@alias kiln.wgmma.e_depth 0|1|2|4
---@alias kiln.wgmma.group 0|1|2|4|8|16|32
---@alias kiln.wgmma.stream 0|1
---@alias kiln.wgmma.pingpong 0|1
---@alias kiln.wgmma.promote 0|1|2|4|8
---@alias kiln.wgmma.gather 0|1
---@alias kiln.wgmma.tf32 0|1
---@alias kiln.wgmma.slabs 1|2|4
---@alias kiln.wgmma.collect 0|1
---@alias kiln.wgmma.share_x 0|1
---@alias kiln.wgmma.swap 0|1

---@class kiln.wgmma.Sweep
---@field wg? kiln.wgmma.wg|kiln.wgmma.wg[] attention: warpgroups of 64 queries each that share keys and values; gemm: warpgroups that multiply
---@field keys? kiln.wgmma.keys|kiln.wgmma.keys[] attention: keys of a block
---@field depth? kiln.wgmma.depth|kiln.wgmma.depth[] attention: blocks of keys or values in the ring; gemm: tiles of A and B in the ring
---@field turns? kiln.wgmma.turns|kiln.wgmma.turns[] attention: 1: warpgroups issue their products in turn
---@field m? kiln.wgmma.m|kiln.wgmma.m[] gemm: rows of the block's tile
---@field n? kiln.wgmma.n|kiln.wgmma.n[] gemm: columns of the block's tile
---@field cluster? kiln.wgmma.cluster|kiln.wgmma.cluster[] gemm: blocks that load one operand's tile together
---@field e_depth? kiln.wgmma.e_depth|kiln.wgmma.e_depth[] gemm: strips of E that each warpgroup has in shared memory; 0: each warp has eight rows of its tile's
---@field group? kiln.wgmma.group|kiln.wgmma.group[] gemm: tiles (in clusters: clusters) along X that neighbours share Y's operand for; 0: 1 or 8, by its bytes
---@field stream? kiln.wgmma.stream|kiln.wgmma.stream[] gemm: 1: tiles beyond whole waves are cut along K into equal runs; a second kernel sums
---@field pingpong? kiln.wgmma.pingpong|kiln.wgmma.pingpong[] gemm: 1: warpgroups take tiles in turn, one multiplies while one finishes; 0: they share them
---@field promote? kiln.wgmma.promote|kiln.wgmma.promote[] gemm: fp8: tiles of K after which sums of 14 bits go to f32; 0: never
---@field gather? kiln.wgmma.gather|kiln.wgmma.gather[] gemm: 1: A and B may lie at any address: warps copy them; 0: all by tensor map
---@field tf32? kiln.wgmma.tf32|kiln.wgmma.tf32[] gemm: 1: f32 is multiplied as tf32, of 10 bits of mantissa
---@field slabs? kiln.wgmma.slabs|kiln.wgmma.slabs[] gemm: steps of 128 bytes of the other operand that come together with rows of B of 4 bits
---@field collect? kiln.wgmma.collect|kiln.wgmma.collect[] gemm: 1: rows of A that are numbers are brought together in the workspace, ahead; 0: warps copy a tile's
---@field share_x? kiln.wgmma.share_x|kiln.wgmma.share_x[] gemm: 1: a cluster's blocks load the 64-row side's tile together, neighbours along the other; 0: the other's
---@field swap? kiln.wgmma.swap|kiln.wgmma.swap[] gemm: 1: the 64-row side is that of B where E is contiguous along N, of A where it is along M

---attention: Hopper's matrix unit: scores of the next keys while values of these are summed; gemm: Hopper's matrix unit: warp-specialised, persistent, tiles by TMA.
---A sweep: all combinations of these values, the other tunables as in the first default.
---@param axes kiln.wgmma.Sweep
---@return kiln.Sweep
function wgmma(axes) end

---@alias kiln.wgmma_decode.rows 16|32|64
---@alias kiln.wgmma_decode.keys 32|64|128
---@alias kiln.wgmma_decode.depth 2|3|4|5|6|7|8|9|10|11|12
---@alias kiln.wgmma_decode.blocks 1|2|3|4
---@alias kiln.wgmma_decode.cluster 1|2
---@alias kiln.wgmma_decode.parts 1|16|64|128
---@alias kiln.wgmma_decode.m 8|16|32|64|80|96|112|128|144|160|192|224|240|256
---@alias kiln.wgmma_decode.n 32|56|64|88|96|112|128|144|160|168|176|192|224|256|288|320|384|448
---@alias kiln.wgmma_decode.wg 1|2|3|4
---@alias kiln.wgmma_decode.slabs 1|2|4
---@alias kiln.wgmma_decode.box 128|64|32
---@alias kiln.wgmma_decode.ring 0|2|3|4|5|6|8
---@alias kiln.wgmma_decode.l2 0|1|2
---@alias kiln.wgmma_decode.fetch 128|256
---@alias kiln.wgmma_decode.release 0|1
---@alias kiln.wgmma_decode.turn 0|1
---@alias kiln.wgmma_decode.across 0|1
---@alias kiln.wgmma_decode.apart 0|1
---@alias kiln.wgmma_decode.sets 1|2
---@alias kiln.wgmma_decode.order 0|1
---@alias kiln.wgmma_decode.gather 0|1|2|3
---@alias kiln.wgmma_decode.split_k 0|1|2|3|4|5|6|7|8

---@class kiln.wgmma_decode.Sweep
---@field rows? kiln.wgmma_decode.rows|kiln.wgmma_decode.rows[] attention: queries of a tile, of all heads that share K and V; of f16 and bf16 64
---@field keys? kiln.wgmma_decode.keys|kiln.wgmma_decode.keys[] attention: keys of a block
---@field depth? kiln.wgmma_decode.depth|kiln.wgmma_decode.depth[] attention: blocks of keys or values in the ring
---@field blocks? kiln.wgmma_decode.blocks|kiln.wgmma_decode.blocks[] attention: blocks that a unit holds at once; they share its memory for the ring; gemm: blocks that a unit holds at once; they share its memory for the ring
---@field cluster? kiln.wgmma_decode.cluster|kiln.wgmma_decode.cluster[] attention: blocks that load keys together, each with its own rows
---@field parts? kiln.wgmma_decode.parts|kiln.wgmma_decode.parts[] attention: most blocks that share a tile's keys
---@field m? kiln.wgmma_decode.m|kiln.wgmma_decode.m[] gemm: rows of the block's tile
---@field n? kiln.wgmma_decode.n|kiln.wgmma_decode.n[] gemm: columns of the block's tile
---@field wg? kiln.wgmma_decode.wg|kiln.wgmma_decode.wg[] gemm: warpgroups that multiply, each a part of the columns
---@field slabs? kiln.wgmma_decode.slabs|kiln.wgmma_decode.slabs[] gemm: boxes of 128 bytes along K of B that arrive together; order: parts of K, each with warps of its own
---@field box? kiln.wgmma_decode.box|kiln.wgmma_decode.box[] gemm: bytes along K of a box of B; fewer than 128 of elements of 4 bits
---@field ring? kiln.wgmma_decode.ring|kiln.wgmma_decode.ring[] gemm: tiles in the ring, order: in a warp's; 0: as many as fit
---@field l2? kiln.wgmma_decode.l2|kiln.wgmma_decode.l2[] gemm: rings of B that come as far as L2 while the kernel ahead ends
---@field fetch? kiln.wgmma_decode.fetch|kiln.wgmma_decode.fetch[] gemm: bytes of B that L2 brings from memory at a time
---@field release? kiln.wgmma_decode.release|kiln.wgmma_decode.release[] gemm: the kernel behind may begin 0: when the last load is on its way, 1: at once
---@field turn? kiln.wgmma_decode.turn|kiln.wgmma_decode.turn[] gemm: 1: blocks begin at different places of their K
---@field across? kiln.wgmma_decode.across|kiln.wgmma_decode.across[] gemm: 1: 64 rows of A are wgmma's 64, and the columns its other side
---@field apart? kiln.wgmma_decode.apart|kiln.wgmma_decode.apart[] gemm: two products: 1: each warpgroup multiplies one of them; 0: both
---@field sets? kiln.wgmma_decode.sets|kiln.wgmma_decode.sets[] gemm: one-byte B: half slabs that a thread holds widened; 2: it widens one while it multiplies
---@field order? kiln.wgmma_decode.order|kiln.wgmma_decode.order[] gemm: B of 4 bits: 1: K comes in an order in which lanes have whole words, and warps multiply by themselves
---@field gather? kiln.wgmma_decode.gather|kiln.wgmma_decode.gather[] gemm: warpgroups that copy A and B, which may lie at any address; 0: they come by tensor map; 3: B does
---@field split_k? kiln.wgmma_decode.split_k|kiln.wgmma_decode.split_k[] gemm: blocks that share a tile, each a part of K; 0: chosen at the launch

---attention: few queries on Hopper's matrix unit: each key and value is read once, at the speed of memory; gemm: Hopper's matrix unit for few rows: weights at the speed of memory.
---A sweep: all combinations of these values, the other tunables as in the first default.
---@param axes kiln.wgmma_decode.Sweep
---@return kiln.Sweep
function wgmma_decode(axes) end
