// SPDX-License-Identifier: MIT
// A module of another ABI.
#define FIXTURE_TARGET "host"
#define FIXTURE_ABI    99
#include "fixture_module.h"
