#!/bin/sh
# SPDX-License-Identifier: MIT
# Writes the page of `kiln report --html` as C: tools/page/report.html with report.css and report.js, in the folder that
# is the argument, where its lines @STYLE@ and @SCRIPT@ are.
set -e
cat <<'EOC'
// SPDX-License-Identifier: MIT
// Written by mk/page.sh from tools/page/.
#include "report_page.h"

const char kt_page_text[] =
EOC
sed -e "/^@STYLE@\$/{r $1/report.css" -e 'd;}' -e "/^@SCRIPT@\$/{r $1/report.js" -e 'd;}' "$1/report.html" |
    sed -e '/SPDX-/d' -e 's/\\/\\\\/g; s/"/\\"/g; s/^/    "/; s/$/\\n"/'
echo '    "";'
