// SPDX-License-Identifier: MIT
// A module whose op bias_relu means something else.
#define FIXTURE_TARGET "host"
#define FIXTURE_CLASH
#include "fixture_module.h"
