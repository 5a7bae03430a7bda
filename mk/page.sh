#!/bin/sh
# SPDX-License-Identifier: MIT
# Writes the page of `kiln report --html` as C: report.html of the first argument, a folder, its lines @FILE@ replaced by
# those files.  The second argument is where the page itself goes.
set -e
cat <<'EOC'
// SPDX-License-Identifier: MIT
// Written by mk/page.sh from tools/page/.
#include "report_page.h"

const char kt_page_text[] =
EOC
awk -v folder="$1" '/^@[a-z.]+@$/ { file = folder "/" substr($0, 2, length($0) - 2)
        while ((got = getline line <file) > 0) print line
        if (got < 0) { print file ": not there" >"/dev/stderr"; exit 1 }
        next } 1' "$1/report.html" >"$2"
sed -e '/SPDX-/d' -e 's/\\/\\\\/g; s/"/\\"/g; s/^/    "/; s/$/\\n"/' "$2"
echo '    "";'
