-- expect: 2:1: error: assigns to a field of string, which belongs to the language
string.rep = nil
