// SPDX-License-Identifier: MIT
// A module of another version of kiln-gen.
#define FIXTURE_TARGET  "host"
#define FIXTURE_VERSION "9.9.9"
#include "fixture_module.h"
