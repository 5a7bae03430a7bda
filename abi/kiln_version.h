// SPDX-License-Identifier: MIT
// The version of generator and library, which are made together; a module says by which.
#ifndef KILN_VERSION_H
#define KILN_VERSION_H
#define KILN_VERSION "0.1.0"
#endif
