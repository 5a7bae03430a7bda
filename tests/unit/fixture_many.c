// SPDX-License-Identifier: MIT
// A module with an op whose problems have the longest text.
#define FIXTURE_TARGET "host"
#define FIXTURE_MANY
#include "fixture_module.h"
