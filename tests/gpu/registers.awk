# SPDX-License-Identifier: MIT
# nvdisasm -c CUBIN | awk -v name=CUBIN -f registers.awk: writes, in a loop of products, of a register that an unfinished one takes its
# operand X from; status 1 if there are any.  ptxas does not look after them: to it they are free once a product is issued.
# A loop's text is read twice, from its first instruction to its branch back: groups of products that one round leaves
# unfinished meet the next one's writes.  HGMMA (f16, bf16, tf32), QGMMA (fp8) and IGMMA (i8) end a group where they say gsb0.
# Spilled registers, as nvdisasm marks them, in the innermost loop of products; ptxas may spill a few around it, where they
# cost nothing.
# And loops over lanes around a load by wgmma's maps (three dimensions, no policy of L2): one lane asks (kiln_elect), but ptxas
# does not know.
function first_register(text,    at) { # of an operand list: its number, or -1
    while (text ~ /^U?P[0-9T]+, */) sub(/^U?P[0-9T]+, */, "", text)
    return text ~ /^R[0-9]+[^0-9]/ ? substr(text, 2) + 0 : -1
}
function width(op) {
    if (op ~ /^LDSM/) return op ~ /\.4$/ ? 4 : op ~ /\.2$/ ? 2 : 1
    return op ~ /\.128/ ? 4 : op ~ /\.64|WIDE/ ? 2 : 1
}
function forget(pending,    r) { # groups but the last `pending` have ended
    for (r in group) if (group[r] <= groups - pending) delete group[r]
}
function step(text,    op, operands, to, i, n, part) {
    sub(/^@!?U?P[0-9]+ +/, "", text)
    op = text
    sub(/ .*/, "", op)
    operands = substr(text, length(op) + 2)
    sub(/^ +/, "", operands)
    if (op ~ /^[HQI]GMMA/) {
        n = split(operands, part, /, */)
        if (part[2] ~ /^R[0-9]+/) {
            to = substr(part[2], 2) + 0
            for (i = 0; i < 4; i++) group[to + i] = groups + 1
        }
        if (operands ~ /gsb0/) groups++
    } else if (op ~ /^WARPGROUP\.DEPBAR/) {
        sub(/.*gsb0, 0x/, "", operands)
        forget(operands + 0)
    } else if (op !~ /^(ST|RED|SYNCS|BAR|UTMA|R2UR|WARPGROUP|BRA|EXIT)/ && (to = first_register(operands)) >= 0) {
        n = 0
        for (i = 0; i < width(op); i++) n += (to + i) in group
        if (n) print name ": written while a product reads it: " text
        found += n
    }
}
# In a loop of products without another one inside, or one that it enters in the midst; loops come in the order of their ends.
function spilled(start, end,    at, products, i) {
    for (at = start; at < end; at++) products += line[at] ~ /^(@!?U?P[0-9]+ +)?[HQI]GMMA/
    if (!products) return
    for (i = 1; i <= inner; i++) if (to[i] >= start) return
    to[++inner] = end
    for (at = start; at < end; at++)
        if (line[at] ~ /^(@!?U?P[0-9]+ +)?(STL|LDL).*SpillRefill/) {
            print name ": spilled in a loop of products: " line[at]
            found++
        }
}
/^[ \t]*\.L_x_[0-9]+:/ {
    label = $1
    sub(/:.*/, "", label)
    place[label] = count + 1
    next
}
/^[ \t]*\/\*[0-9a-f]+\*\/ / {
    sub(/^[ \t]*\/\*[0-9a-f]+\*\/[ \t]*/, "")
    sub(/ *;.*/, "")
    line[++count] = $0
}
END {
    for (end = 1; end <= count; end++) {
        if (line[end] !~ /BRA.*`\(\.L_x_[0-9]+\)/) continue
        label = line[end]
        sub(/.*`\(/, "", label)
        sub(/\).*/, "", label)
        start = place[label]
        if (!start || start >= end || end - start > 2000) continue
        for (at = start; at < end && line[end] ~ /BRA\.U\.ANY/; at++)
            if (line[at] ~ /UTMALDG\.3D/ && line[at] !~ /desc/) {
                print name ": a loop over lanes around a load: " line[at]
                found++
            }
        spilled(start, end)
        for (round = 0; round < 2; round++)
            for (at = start; at < end; at++) step(line[at])
        forget(0)
    }
    exit found > 0
}
