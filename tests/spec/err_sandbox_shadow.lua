-- expect: 2:1: error: assigns to 'relu', which belongs to the language; use another name or 'local'
relu = nil
