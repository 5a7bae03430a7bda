-- SPDX-License-Identifier: MIT
-- What quantised outputs are converted to: the end of an op's name, the type, and the number that the largest magnitude
-- becomes.  Inference engines leave f8e4m3fnuz a little room: 224 of its 240.
return {
  { name = "", type = f8e4m3, most = 448 },
  { name = "_fnuz", type = f8e4m3fnuz, most = 224 },
  { name = "_i8", type = i8, most = 127 },
}
