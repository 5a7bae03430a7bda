-- SPDX-License-Identifier: MIT
-- How C spells sums of type `acc`, which is f32 or i32, and what becomes of them in words of 32 bits; e: E's type.
--   word             the type of a sum
--   bits, from_bits  what makes a word of a sum, and a sum of a word
--   add(x, y)        the sum of two sums (whole numbers wrap)
--   plus(x, w)       the sum x plus the one that the word w holds
--   real(x)          the f32 that the epilogue gets: the sum x, or its bits where E is the sum itself (`kept`)
return function(acc, e)
  if acc.name == "i32" then
    return {
      word = "int", bits = "(unsigned)", from_bits = "(int)",
      add = function(x, y) return ("(int)((unsigned)%s + (unsigned)%s)"):format(x, y) end,
      plus = function(x, w) return ("(int)((unsigned)%s + %s)"):format(x, w) end,
      real = function(x) return (e.kept and "kiln_from_bits((unsigned)%s)" or "(float)%s"):format(x) end,
    }
  end
  return {
    word = "float", bits = "kiln_bits", from_bits = "kiln_from_bits",
    add = function(x, y) return ("%s + %s"):format(x, y) end,
    plus = function(x, w) return ("%s + kiln_from_bits(%s)"):format(x, w) end,
    real = function(x) return x end,
  }
end
