// SPDX-License-Identifier: MIT
// The fixture for NVIDIA sm_90a.
#define FIXTURE_TARGET "sm_90a"
#define FIXTURE_GPU
#define FIXTURE_REALIGNS
#include "fixture_module.h"
