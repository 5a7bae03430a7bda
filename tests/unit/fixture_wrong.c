// SPDX-License-Identifier: MIT
// The fixture for the host, of which the instance that is fastest, and modelled so, computes nothing.
#define FIXTURE_TARGET "host"
#define FIXTURE_WIDE 5
#include "fixture_module.h"
