// SPDX-License-Identifier: MIT
// Structs of programs that were compiled against another version's kiln.h.  Each begins with its
// size and grows at its end only: what a shorter one lacks is zero, and of a longer one the part
// that is not known here must be.
#include <string.h>
#include "internal.h"

enum { MOST = 4096 }; /* more is no struct's size, but a field that was never set */

static kiln_status check_size(const char *name, size_t given)
{
    if (given >= sizeof given && given % sizeof given == 0 && given <= MOST) return KILN_OK;
    return kr_fail(KILN_INVALID, "%s.struct_size is %zu: set it to sizeof(%s)", name, given, name);
}

static bool is_zero(const char *p, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (p[i]) return false;
    return true;
}

const void *kr_struct_in(const char *name, const void *p, size_t size, void *room)
{
    size_t given;
    if (!p) {
        kr_fail(KILN_INVALID, "the %s is NULL", name);
        return NULL;
    }
    memcpy(&given, p, sizeof given);
    if (given == size) return p;
    if (check_size(name, given)) return NULL;
    if (given > size && !is_zero((const char *)p + size, given - size)) {
        kr_fail(KILN_INVALID,
                "%s.struct_size is %zu, this libkiln's is %zu, and what lies behind is not zero: "
                "the program uses fields that version " KILN_VERSION " does not have",
                name, given, size);
        return NULL;
    }
    memset(room, 0, size);
    memcpy(room, p, given < size ? given : size);
    memcpy(room, &size, sizeof size);
    return room;
}

kiln_status kr_struct_out(const char *name, const void *p, size_t size, void *out, size_t given)
{
    const kiln_status status = check_size(name, given);
    if (status) return status;
    memcpy(out, p, given < size ? given : size);
    if (given > size) memset((char *)out + size, 0, given - size);
    memcpy(out, &given, sizeof given);
    return KILN_OK;
}
