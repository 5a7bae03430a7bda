#!/bin/sh
# SPDX-License-Identifier: MIT
# Writes the C table of what `kiln new` starts from: templates/FAMILY/new/NAME.lua, given as arguments.  The files' licence
# lines are not for the files that users make of them.
set -e
cat <<'EOC'
// SPDX-License-Identifier: MIT
// Written by mk/new_templates.sh from templates/*/new/*.lua.
#include "command.h"

const kt_template kt_templates[] = {
EOC
for f; do
    name=${f##*/} folder=${f%/new/*}
    printf '    {"%s", "%s",\n' "${folder##*/}" "${name%.lua}"
    sed -e '/^-- SPDX-/d' -e 's/\\/\\\\/g; s/"/\\"/g; s/^/     "/; s/$/\\n"/' "$f"
    printf '    },\n'
done
cat <<'EOC'
};
const size_t kt_template_count = sizeof kt_templates / sizeof *kt_templates;
EOC
