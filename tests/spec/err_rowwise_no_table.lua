-- expect: 3:1: error: rowwise takes the name alone and then the table, without brackets and comma: rowwise "name" { ... }
rowwise "y"
rowwise("x", {})
