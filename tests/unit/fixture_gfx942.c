// SPDX-License-Identifier: MIT
// The fixture for AMD gfx942.
#define FIXTURE_TARGET "gfx942"
#define FIXTURE_GPU
#include "fixture_module.h"
