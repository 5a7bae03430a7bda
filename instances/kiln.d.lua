---@meta
-- The description language for editors that run the Lua language server: completion, types and
-- help texts for instance files.  kiln-gen skips *.d.lua.  Reference: docs/language.md.

---@class kiln.Dtype

---@type kiln.Dtype IEEE 754 binary32
f32 = {}
---@type kiln.Dtype IEEE 754 binary16
f16 = {}
---@type kiln.Dtype bfloat16
bf16 = {}
---@type kiln.Dtype two's complement, 8 bits
i8 = {}
---@type kiln.Dtype two's complement, 32 bits
i32 = {}
---@type kiln.Dtype OCP FP8 E4M3: no infinity
f8e4m3 = {}
---@type kiln.Dtype OCP FP8 E5M2
f8e5m2 = {}
---@type kiln.Dtype gfx942's E4M3: bias 8, one NaN, no infinity, no negative zero
f8e4m3fnuz = {}
---@type kiln.Dtype gfx942's E5M2: bias 16, one NaN, no infinity, no negative zero
f8e5m2fnuz = {}
---@type kiln.Dtype two's complement, 4 bits: -8 .. 7; two to a byte, of A and B alone
i4 = {}
---@type kiln.Dtype unsigned, 4 bits: 0 .. 15; two to a byte, of A and B alone
u4 = {}
---@type kiln.Dtype unsigned, 8 bits: 0 .. 255
u8 = {}

---A value of one element while an epilogue, a_op, b_op or body is traced.  It can't be compared with
---`<` or tested by `if`: use `lt le gt ge eq ne` with `select`.
---@class kiln.Value
---@operator add(kiln.Value|number): kiln.Value
---@operator sub(kiln.Value|number): kiln.Value
---@operator mul(kiln.Value|number): kiln.Value
---@operator div(kiln.Value|number): kiln.Value
---@operator pow(kiln.Value|number): kiln.Value
---@operator unm: kiln.Value
---@field [string] kiln.Value accumulators of a two-product op, by the names given in `b`

---The outcome of `lt le gt ge eq ne` and of `and_ or_ not_`: the first argument of `select` and those of the latter, and
---nothing else.
---@class kiln.Condition

---@alias kiln.Number kiln.Value|number
---@alias kiln.Layouts "rrr"|"rrc"|"rcr"|"rcc"|"crr"|"crc"|"ccr"|"ccc"
---A dtype, or the name of one of the op's types.
---@alias kiln.SameAs kiln.Dtype|"a"|"b"|"acc"|"e"|string

---@class kiln.Types
---@field a kiln.Dtype elements of A (M x K)
---@field b kiln.Dtype elements of B (K x N)
---@field e kiln.Dtype elements of the result E (M x N)
---@field acc? kiln.Dtype of the sums; i32 for integer A and B, else f32

---An input or output: made by `full`, `per_row`, `per_col`, `per_tensor`, `per_block`, `per_head`, `per_kv_head` or
---`per_query`.
---@class kiln.Input

---@class kiln.Check
---@field rtol? number widens what a sum may be off by this share of the sum of |a||b|
---@field shapes? integer[][] more problems to verify: { { m, n, k }, ... }, of rowwise { { rows, cols }, ... }

---One schedule's tunables with the values to sweep, as `simt { m = { 64, 128 }, n = 64 }`: see schedules.d.lua.
---@class kiln.Sweep

---@alias kiln.Function fun(acc: kiln.Value, d: table<string, kiln.Value>, s: table<string, kiln.Value>): kiln.Number

---Of an element and the inputs that it has values of; of several products also the name of the one it is for.
---@alias kiln.AOperator fun(x: kiln.Value, d: table<string, kiln.Value>): kiln.Number
---@alias kiln.BOperator fun(x: kiln.Value, d: table<string, kiln.Value>, product: string): kiln.Number

---The text of a device expression, in place of an epilogue: made by `code`.
---@class kiln.Code

---@class kiln.Gemm
---@field types kiln.Types[] number formats: one set of instances for each row
---@field layouts kiln.Layouts[] of A, B, E: r = row-major, c = column-major
---@field epilogue kiln.Function|kiln.Code value of one element of E
---@field d? table<string, kiln.Input> extra inputs by name, at most 8
---@field scalars? string[] names of f32 values given at each launch, at most 8
---@field b? string[] names of two products that share A: { "gate", "up" }
---@field groups? boolean rows of E are of groups, each with its own B; which, begin and end say at launch
---@field gather? boolean with groups: row r of A is row index[r] of a matrix of tokens
---@field a_op? kiln.AOperator applied to each element of A before the product
---@field b_op? kiln.BOperator applied to each element of B before the product
---@field block? kiln.BOperator what becomes of the sum over a block of K: it, times an expression of per_block inputs
---@field tiles? table<string, any> sweeps by target, and `where`; absent: each schedule's defaults
---@field targets? kiln.Target[] build for these only
---@field check? kiln.Check more to verify
---@field outputs? table<string, kiln.Input> outputs beside E by name: full, per_row, per_col or per_block; the epilogue returns a table then
---@field ref? kiln.Function what `epilogue = code [[...]]` computes, for the reference

---Describes one fused operation E = epilogue(A·B, D...).
---
---    gemm "bias_relu" {
---      types    = { { a = f16, b = f16, e = f16 } },
---      layouts  = { "rcr" },
---      d        = { bias = per_col "e" },
---      epilogue = function(acc, d) return relu(acc + d.bias) end,
---    }
---@param name string
---@return fun(op: kiln.Gemm)
function gemm(name) end

---Where the element is, as numbers.
---@class kiln.Place
---@field row kiln.Value
---@field col kiln.Value

---@alias kiln.Body fun(d: table<string, kiln.Value>, s: table<string, kiln.Value>, at: kiln.Place): table<string, kiln.Number>|kiln.Number

---@class kiln.Rowwise
---@field types table<string, kiln.Dtype>[] names of types and what they are: one set of instances for each row
---@field sums? "compensated" sums and means exact but for one rounding, on every device; absent: as f32 adds them up
---@field d? table<string, kiln.Input> inputs by name: full, per_row, per_col or per_tensor
---@field scalars? string[] names of f32 values given at each launch, at most 8
---@field outputs table<string, kiln.Input> outputs by name: full, per_row or per_block; with the inputs at most 12
---@field body kiln.Body the outputs' values at one element, as a table; of one output the value alone will do
---@field tiles? table<string, any> sweeps by target, and `where`; absent: each schedule's defaults
---@field targets? kiln.Target[] build for these only
---@field check? kiln.Check more to verify

---Describes operations on rows of matrices: element-wise, and with reductions of a row or of blocks of it.
---
---    rowwise "rmsnorm" {
---      types   = { { x = bf16 } },
---      d       = { x = full "x", weight = per_col "x" },
---      scalars = { "eps" },
---      outputs = { y = full "x" },
---      body    = function(d, s) return d.x * rsqrt(row_mean(d.x * d.x) + s.eps) * d.weight end,
---    }
---@param name string
---@return fun(op: kiln.Rowwise)
function rowwise(name) end

---Where a score is: `q` counted among the keys.
---@class kiln.ScorePlace
---@field q kiln.Value
---@field k kiln.Value
---@field head kiln.Value
---@field batch kiln.Value

---@alias kiln.Named table<string, kiln.Value>

---@class kiln.Attention
---@field types table<"q"|"k"|"v"|"o", kiln.Dtype>[] number formats: one set of instances for each row
---@field heads integer[][] sizes of a head: { { of Q and K, of V and O }, ... }
---@field mask? "causal"|"window" keys that a query sees; absent: all
---@field lengths? "ragged" all sequences' rows in one matrix, and arrays of where each begins; absent: a matrix for each
---@field kv? string paged(n): K and V in pages of n keys, and a table of each sequence's; absent: a matrix for each
---@field score? fun(x: kiln.Value, at: kiln.ScorePlace, s: kiln.Named, d: kiln.Named): kiln.Number absent: x / sqrt(dim)
---@field sink? fun(s: kiln.Named, d: kiln.Named): kiln.Number score of one more key, whose value is zero
---@field epilogue? fun(x: kiln.Value, s: kiln.Named, d: kiln.Named): kiln.Number an element of O
---@field d? table<string, kiln.Input> inputs by name: full, per_head, per_kv_head or per_tensor
---@field scalars? string[] names of f32 values given at each launch, at most 8
---@field outputs? table<"lse", kiln.Input> { lse = per_query(f32) }
---@field tiles? table<string, any> sweeps by target, and `where`; absent: each schedule's defaults
---@field targets? kiln.Target[] build for these only
---@field check? kiln.Check more to verify

---Describes attention: O = epilogue(softmax(mask(score(Q·K'))) · V).
---
---    attention "causal_attention" {
---      types = { { q = bf16, k = bf16, v = bf16, o = bf16 } },
---      heads = { { 128, 128 } },
---      mask  = causal,
---    }
---@param name string
---@return fun(op: kiln.Attention)
function attention(name) end

---A mask: no key after the query.
causal = "causal"
---A mask: no key after the query, nor one that is `window` or more before it.
window = "window"
---Lengths: each sequence has its own.
ragged = "ragged"
---Sums: as two floats, of which one is what additions lose.
compensated = "compensated"
---K and V in pages.
---@param n integer keys of a page, 1 to 4096
---@return string
function paged(n) end

---A matrix: M x N, of rowwise rows x cols, of attention a query and key's.
---@param type kiln.SameAs
---@param layout? "r"|"c" default: E's
---@return kiln.Input
function full(type, layout) end

---One element per row.
---@param type kiln.SameAs
---@return kiln.Input
function per_row(type) end

---One element per column.
---@param type kiln.SameAs
---@return kiln.Input
function per_col(type) end

---One element.
---@param type kiln.SameAs
---@return kiln.Input
function per_tensor(type) end

---One element per block of an operand of gemm: "a", "b", or one of two products by its name.
---@param operand string
---@param type kiln.SameAs
---@param along integer rows of A, columns of B, of a block: 1 to 65535
---@param k integer its length along K; the last one may be cut
---@param layout? "r"|"c" default: the operand's
---@return kiln.Input
---@overload fun(type: kiln.SameAs, rows: 1, columns: integer): kiln.Input of rowwise: an output with one element per row and block of 2, 4, 8 ... 256 columns
function per_block(operand, type, along, k, layout) end

---One element per head of Q: an input of attention.
---@param type kiln.SameAs
---@return kiln.Input
function per_head(type) end

---One element per head of K and V: an input of attention.
---@param type kiln.SameAs
---@return kiln.Input
function per_kv_head(type) end

---One element per head and query: an output of attention.
---@param type kiln.SameAs
---@return kiln.Input
function per_query(type) end

---Runs another file of the same folder once; its value is what that file returns.
---@param name string the file's name without `.lua`
---@return any
function require(name) end

---A C expression as an epilogue; needs `ref`, the function that it computes.
---@param text string
---@return kiln.Code
function code(text) end

---max(x, 0)
---@param x kiln.Number
---@return kiln.Value
function relu(x) end

---x > 0 ? x : slope*x
---@param x kiln.Number
---@param slope kiln.Number
---@return kiln.Value
function leaky_relu(x, slope) end

---x/2 * (1 + erf(x/sqrt 2))
---@param x kiln.Number
---@return kiln.Value
function gelu(x) end

---x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3)))
---@param x kiln.Number
---@return kiln.Value
function gelu_tanh(x) end

---x / (1 + exp(-x))
---@param x kiln.Number
---@return kiln.Value
function silu(x) end

---1 / (1 + exp(-x))
---@param x kiln.Number
---@return kiln.Value
function sigmoid(x) end

---tanh x
---@param x kiln.Number
---@return kiln.Value
function tanh(x) end

---e^x
---@param x kiln.Number
---@return kiln.Value
function exp(x) end

---Natural logarithm.
---@param x kiln.Number
---@return kiln.Value
function log(x) end

---Square root.
---@param x kiln.Number
---@return kiln.Value
function sqrt(x) end

---1 / sqrt x
---@param x kiln.Number
---@return kiln.Value
function rsqrt(x) end

---|x|
---@param x kiln.Number
---@return kiln.Value
function abs(x) end

---Smaller of x and y; NaN if either is.
---@param x kiln.Number
---@param y kiln.Number
---@return kiln.Value
function min(x, y) end

---Larger of x and y; NaN if either is.
---@param x kiln.Number
---@param y kiln.Number
---@return kiln.Value
function max(x, y) end

---min(max(x, lo), hi)
---@param x kiln.Number
---@param lo kiln.Number
---@param hi kiln.Number
---@return kiln.Value
function clamp(x, lo, hi) end

---To the nearest integer, ties to even.
---@param x kiln.Number
---@return kiln.Value
function round(x) end

---The largest integer that is not above x.
---@param x kiln.Number
---@return kiln.Value
function floor(x) end

---cond ? x : y
---@param cond kiln.Condition
---@param x kiln.Number
---@param y kiln.Number
---@return kiln.Value
function select(cond, x, y) end

---x < y
---@param x kiln.Number
---@param y kiln.Number
---@return kiln.Condition
function lt(x, y) end

---x <= y
---@param x kiln.Number
---@param y kiln.Number
---@return kiln.Condition
function le(x, y) end

---x > y
---@param x kiln.Number
---@param y kiln.Number
---@return kiln.Condition
function gt(x, y) end

---x >= y
---@param x kiln.Number
---@param y kiln.Number
---@return kiln.Condition
function ge(x, y) end

---x = y
---@param x kiln.Number
---@param y kiln.Number
---@return kiln.Condition
function eq(x, y) end

---x ~= y: not eq(x, y); ne(x, x) holds for NaN
---@param x kiln.Number
---@param y kiln.Number
---@return kiln.Condition
function ne(x, y) end

---Both conditions.
---@param c kiln.Condition
---@param d kiln.Condition
---@return kiln.Condition
function and_(c, d) end

---Either condition, or both.
---@param c kiln.Condition
---@param d kiln.Condition
---@return kiln.Condition
function or_(c, d) end

---Not the condition.
---@param c kiln.Condition
---@return kiln.Condition
function not_(c) end

---Converted to a number format and back to f32: rounded, saturated where that format saturates.
---@param x kiln.Number
---@param type kiln.Dtype
---@return kiln.Value
function cast(x, type) end

---Sum over the row; NaN if any is NaN.
---@param x kiln.Number
---@return kiln.Value
function row_sum(x) end

---Mean over the row; NaN if any is NaN.
---@param x kiln.Number
---@return kiln.Value
function row_mean(x) end

---Largest over the row; NaN if any is NaN.
---@param x kiln.Number
---@return kiln.Value
function row_max(x) end

---Smallest over the row; NaN if any is NaN.
---@param x kiln.Number
---@return kiln.Value
function row_min(x) end

---Sum over the column, in a gemm with outputs beside E; NaN if any is NaN.
---@param x kiln.Number
---@return kiln.Value
function col_sum(x) end

---Mean over the column, in a gemm with outputs beside E; NaN if any is NaN.
---@param x kiln.Number
---@return kiln.Value
function col_mean(x) end

---Largest of the column, in a gemm with outputs beside E; NaN if any is NaN.
---@param x kiln.Number
---@return kiln.Value
function col_max(x) end

---Smallest of the column, in a gemm with outputs beside E; NaN if any is NaN.
---@param x kiln.Number
---@return kiln.Value
function col_min(x) end

---Sum over each n neighbouring columns of the row, the last of which may be fewer.
---@param x kiln.Number
---@param n 2|4|8|16|32|64|128|256
---@return kiln.Value
function block_sum(x, n) end

---Mean over each n neighbouring columns of the row, the last of which may be fewer.
---@param x kiln.Number
---@param n 2|4|8|16|32|64|128|256
---@return kiln.Value
function block_mean(x, n) end

---Largest over each n neighbouring columns of the row, the last of which may be fewer.
---@param x kiln.Number
---@param n 2|4|8|16|32|64|128|256
---@return kiln.Value
function block_max(x, n) end

---Smallest over each n neighbouring columns of the row, the last of which may be fewer.
---@param x kiln.Number
---@param n 2|4|8|16|32|64|128|256
---@return kiln.Value
function block_min(x, n) end
