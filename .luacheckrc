-- luacheck of what users write: instance files, schedules and targets.
-- The names are those of `kiln-gen --language`; tests/docs/check.sh compares.
max_line_length = 120
exclude_files = { "**/*.d.lua", "tests/spec" } -- tests/spec: mistakes on purpose

local dtypes = { "f32", "f16", "bf16", "i8", "i32", "f8e4m3", "f8e5m2", "f8e4m3fnuz", "f8e5m2fnuz", "i4", "u4", "u8" }
local language = {
  "gemm", "rowwise", "attention", "code", "full", "per_row", "per_col", "per_tensor", "per_block",
  "per_head", "per_kv_head", "per_query", "causal", "window", "ragged", "paged", "compensated",
  "relu", "leaky_relu", "gelu", "gelu_tanh", "silu", "sigmoid", "tanh", "exp", "log", "sqrt", "rsqrt", "abs",
  "min", "max", "clamp", "round", "select", "lt", "le", "gt", "ge", "cast",
  "floor", "eq", "ne", "and_", "or_", "not_",
  "row_sum", "row_mean", "row_max", "row_min", "block_sum", "block_mean", "block_max", "block_min",
  "col_sum", "col_mean", "col_max", "col_min",
}
local sandbox = {
  "string", "table", "math", "ipairs", "pairs", "tostring", "tonumber", "type", "error", "assert", "require",
}
local schedules = {
  "family", "schedule", "target", "ceil_div", "min", "max", "select", "lt", "le", "gt", "ge", "eq", "all", "any", "not_",
}

-- Each schedule is a sweep's constructor in `tiles`.
local sweeps = {}
local folder = io.popen("cd templates 2>/dev/null && ls attention gemm rowwise ../tests/gpu/templates/gemm ../tests/gen/templates/gemm")
for file in folder:lines() do sweeps[#sweeps + 1] = file:match("^([a-z0-9_]+)%.lua$") end
folder:close()

local function names(...)
  local set = {}
  for _, list in ipairs { ... } do
    for _, name in ipairs(list) do set[name] = { other_fields = true } end
  end
  return set
end

stds.instance = { read_globals = names(dtypes, language, sandbox, sweeps) }
local spelling = { "to_f32", "from_f32", "to_bits", "bits", "words", "element" } -- in templates and what they require
stds.template = { read_globals = names(dtypes, sandbox, schedules) }
stds.part = { read_globals = names(dtypes, sandbox, schedules, spelling) }

files["**/instances/*.lua"] = { std = "instance" }
files["examples/ops/*.lua"] = { std = "instance" }
files["tests/family/instances/*.lua"] = { read_globals = { "transpose" } }
files["tests/host/**/*.lua"] = { std = "instance" }
files["tests/host/*.lua"] = { std = "instance" }
files["tests/sim/attention*/*.lua"] = { std = "instance" }
files["tests/sim/groups/*.lua"] = { std = "instance" }
files["tests/sim/matrix/*.lua"] = { std = "instance" }
files["tests/sim/forms/*.lua"] = { std = "instance" }
-- Functions of a schedule share argument lists.
files["**/templates/*/**/*.lua"] = { std = "template", ignore = { "212" } }
files["templates/*/lib/*.lua"] = { std = "part", ignore = { "212" } }
-- What `kiln new` starts from.
files["templates/*/new/*.lua"] = { std = "instance" }
files["**/templates/targets/*.lua"] = { std = "template" }
files["tests/gpu/templates/gemm/*.lua"] = { max_line_length = 140 }
