// SPDX-License-Identifier: MIT
// What fixture modules and the tests that open them share: files in a folder of the test's own,
// sealed as `kiln-gen --seal` does, and ways of damaging them.
#ifndef KILN_FIXTURE_H
#define KILN_FIXTURE_H
#include <stddef.h>
#include <stdint.h>

enum { FIXTURE_CODE_SIZE = 16 + 64 * 16 };
#define FIXTURE_CODE_MARK "KILNfixtureCODE"
#endif
