// SPDX-License-Identifier: MIT
// Which of Kiln's targets a GPU is: compute capability 9.0 -> sm_90a; AMD's architecture name
// without its features.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "driver.h"

static void nvidia_target(const kr_driver *d, int device, char *out, size_t size)
{
    int major = 0, minor = 0;
    if (d->device_attribute(&major, NV_ATTR_MAJOR, device) ||
        d->device_attribute(&minor, NV_ATTR_MINOR, device))
        return;
    /* From 9.0 on the architecture-specific instructions (wgmma, TMA forms) are part of the "a"
     * targets only. */
    snprintf(out, size, "sm_%d%d%s", major, minor, major >= 9 ? "a" : "");
}

/* HIP's property struct changed between versions, and with it the place of gcnArchName; the text
 * itself is unmistakable. */
static void amd_target(const kr_driver *d, int device, char *out, size_t size)
{
    enum { PROPERTIES = 1 << 16 }; /* far more than any version fills */
    char *p = calloc(1, PROPERTIES + 1);
    if (!p) return;
    int code = -1;
    if (d->device_properties) code = d->device_properties(p, device);
    if (code && d->device_properties_old) code = d->device_properties_old(p, device);
    for (int i = 0; code == 0 && i < PROPERTIES - 8; i++) {
        if (memcmp(p + i, "gfx", 3) != 0 || !isdigit((unsigned char)p[i + 3])) continue;
        size_t len = 3;
        while (isalnum((unsigned char)p[i + (int)len]) && len < 16) len++;
        snprintf(out, size, "%.*s", (int)len, p + i);
        break;
    }
    free(p);
}

void kr_gpu_target(const kr_driver *d, int device, char *out, size_t size)
{
    *out = 0;
    if (d->nvidia)
        nvidia_target(d, device, out, size);
    else
        amd_target(d, device, out, size);
}
