// SPDX-License-Identifier: MIT
// Rules that generator, runtime and tools must agree on and that are no part of a module: which type sums have, in which
// types A and B are multiplied, which words are no names.
#ifndef KILN_RULES_H
#define KILN_RULES_H
#include "kiln_dtype.h"

static inline int kiln_dtype_bytes(kiln_dtype t)
{
    switch (t) {
#define X(name, id, bytes, ...) \
    case id: return bytes;
        KILN_DTYPES(X)
#undef X
    case KILN_DTYPE_NONE:
    case KILN_DTYPE_COUNT: break;
    }
    return 0;
}

static inline int kiln_dtype_is_float(kiln_dtype t)
{
    switch (t) {
#define X(name, id, bytes, is_float, ...) \
    case id: return is_float;
        KILN_DTYPES(X)
#undef X
    case KILN_DTYPE_NONE:
    case KILN_DTYPE_COUNT: break;
    }
    return 0;
}

/* Of sums, unless the op says. */
static inline kiln_dtype kiln_default_acc(kiln_dtype a, kiln_dtype b)
{
    return kiln_dtype_is_float(a) || kiln_dtype_is_float(b) ? KILN_F32 : KILN_I32;
}

/* What A's and B's elements are when they are multiplied: docs/language.md, a_op. */
static inline void kiln_mul_types(kiln_dtype a, kiln_dtype b, kiln_dtype *mul_a, kiln_dtype *mul_b)
{
    const int bytes_a = kiln_dtype_bytes(a), bytes_b = kiln_dtype_bytes(b);
    const int two_fp8 = bytes_a == 1 && bytes_b == 1 && kiln_dtype_is_float(a) && kiln_dtype_is_float(b);
    *mul_a = *mul_b = KILN_F32;
    if (a == b || two_fp8) {
        *mul_a = a;
        *mul_b = b;
    } else if (bytes_a + bytes_b == 3) { /* one of two bytes, one of one */
        *mul_a = *mul_b = bytes_a == 2 ? a : b;
    }
}

/* Words that C, C++ or generated code have a meaning for: no names of ops, inputs, scalars, products.  Sorted. */
#define KILN_RESERVED(X)                                                                                            \
    X("alignas") X("alignof") X("and") X("asm") X("auto") X("bitand") X("bitor") X("bool") X("break") X("case")     \
    X("catch") X("char") X("class") X("compl") X("concept") X("const") X("constexpr") X("continue") X("decltype")   \
    X("default") X("delete") X("do") X("double") X("else") X("enum") X("explicit") X("export") X("extern")          \
    X("false") X("float") X("for") X("friend") X("goto") X("if") X("inline") X("int") X("kiln") X("long") X("main") \
    X("module") X("mutable") X("namespace") X("new") X("noexcept") X("not") X("nullptr") X("operator") X("or")      \
    X("private") X("protected") X("public") X("register") X("requires") X("restrict") X("return") X("short")        \
    X("signed") X("sizeof") X("static") X("struct") X("switch") X("template") X("this") X("throw") X("true")        \
    X("try") X("typedef") X("typeid") X("typename") X("typeof") X("union") X("unsigned") X("using") X("virtual")    \
    X("void") X("volatile") X("while") X("xor")
#endif
