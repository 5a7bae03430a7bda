-- Every function and operator once, on a traced value and on numbers.
gemm "functions" {
  types    = { { a = f32, b = f32, e = f32 } },
  layouts  = { "rrr" },
  epilogue = function(acc)
    local x = -acc
    for _, f in ipairs { relu, gelu, gelu_tanh, silu, sigmoid, tanh, exp, log, sqrt, rsqrt, abs, round } do
      x = x + f(acc) + f(0.5)
    end
    x = x + leaky_relu(acc, 0.1) + min(acc, 1) + max(2, acc) + clamp(acc, -1, 1) + clamp(5, -1, 1)
    x = x + select(lt(acc, 0), 1, acc) + select(le(1, acc), acc, 2) + select(gt(acc, x), 1, 2) + select(ge(acc, x), 1, 2)
    x = x + select(lt(1, 2), acc, x) + cast(acc, f16) + cast(acc, i8) + cast(1.5, f32)
    return (x - 1) / (2 - acc) * acc + 2 * acc + 1 / acc
  end,
}
