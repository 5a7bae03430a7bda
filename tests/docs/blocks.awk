# SPDX-License-Identifier: MIT
# Fenced blocks of a Markdown file, one file each: DIR/DOC.LINE.INFO, INFO being the words behind the fence joined by
# dots ("lua.instance").  Usage: awk -v dir=DIR -v doc=NAME -f blocks.awk FILE
/^```/ {
    if (out != "") { close(out); out = ""; next }
    info = substr($0, 4)
    gsub(/ +/, ".", info)
    out = sprintf("%s/%s.%04d.%s", dir, doc, NR, info == "" ? "none" : info)
    printf "" > out
    next
}
out != "" { print > out }
END { if (out != "") { print FILENAME ": a fence is not closed" > "/dev/stderr"; exit 1 } }
