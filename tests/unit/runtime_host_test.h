// SPDX-License-Identifier: MIT
// For tests of the runtime that share one context on the host, with the host's fixture alone.
#ifndef KILN_RUNTIME_HOST_TEST_H
#define KILN_RUNTIME_HOST_TEST_H
#include "runtime_test.h"

static kiln_ctx *ctx;

static int open_host(void **state)
{
    (void)state;
    make_folder();
    install_fixture("host", "libkiln-host.so");
    ctx = open_ctx("host");
    return 0;
}

static int close_host(void **state)
{
    (void)state;
    kiln_close(ctx);
    return 0;
}
#endif
