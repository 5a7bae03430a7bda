-- expect: 2:1: error: runs too long: stopped after 20 million instructions or 1 second
while true do end
