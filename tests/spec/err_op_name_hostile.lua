-- expect: 5:6: error: op '../../etc/passwd': a name is a letter a-z followed by letters a-z, digits and '_'
-- expect: 6:1: error: op 'x"; rm -rf': a name is a letter a-z followed by letters a-z, digits and '_'
-- expect: 7:1: error: op 'line\x0abreak': a name is a letter a-z followed by letters a-z, digits and '_'
-- expect: 8:6: error: op 'Gr\xc3\xb6\xc3\x9fe': a name is a letter a-z followed by letters a-z, digits and '_'
gemm "../../etc/passwd" {}
gemm "x\"; rm -rf" {}
gemm "line\nbreak" {}
gemm "Größe" {}
