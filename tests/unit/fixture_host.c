// SPDX-License-Identifier: MIT
// The fixture for the host.
#define FIXTURE_TARGET "host"
#include "fixture_module.h"
