// SPDX-License-Identifier: MIT
// Words that C, C++, generated code or a generated file have a meaning for: no names of ops, inputs, scalars, products.
// Sorted.
#ifndef KILN_RESERVED_H
#define KILN_RESERVED_H
#define KILN_RESERVED(X)                                                                                            \
    X("alignas") X("alignof") X("and") X("asm") X("auto") X("bitand") X("bitor") X("bool") X("break") X("case")     \
    X("catch") X("char") X("class") X("compl") X("concept") X("const") X("constexpr") X("continue") X("decltype")   \
    X("default") X("delete") X("do") X("double") X("else") X("enum") X("explicit") X("export") X("extern")          \
    X("false") X("float") X("for") X("friend") X("goto") X("if") X("inline") X("int") X("kiln") X("long") X("main") \
    X("manifest") X("module") X("mutable") X("namespace") X("new") X("noexcept") X("not") X("nullptr")              \
    X("operator") X("or") X("private") X("protected") X("public") X("register") X("requires") X("restrict")         \
    X("return") X("short") X("signed") X("sizeof") X("static") X("struct") X("switch") X("template") X("this")      \
    X("throw") X("true") X("try") X("typedef") X("typeid") X("typename") X("typeof") X("union") X("unsigned")       \
    X("using") X("virtual") X("void") X("volatile") X("while") X("xor")
#endif
