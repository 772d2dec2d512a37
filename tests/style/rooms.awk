# SPDX-License-Identifier: Apache-2.0
#
# rooms.awk - reads tests/style/rooms, then lines "FILE:LINE:#include "HEADER"", and tells the
# includes that the table does not allow: "FILE HEADER<tab>...".

function room_of(path) {
    if (path == "core/cavs.h" || path == "core/cavs_cells.h") return "interface"
    sub(/\/[^\/]*$/, "", path)
    return path
}

function may(from, to) {
    return ((from, to) in allowed) || ((from, "*") in allowed)
}

FILENAME != "-" {
    sub(/#.*/, "")
    if (NF == 0) next
    for (i = 2; i <= NF; i++) {
        if ($i != "*" && !($i in known))
            print "rooms\t" $1 " may include " $i ", which does not stand above it"
        allowed[$1, $i] = 1
    }
    known[$1] = 1
    next
}

{
    file = $0
    sub(/:.*/, "", file)
    header = $0
    sub(/^[^"]*"/, "", header)
    sub(/".*/, "", header)
    if (header == "config.h" || header ~ /\.inc$/) next
    from = room_of(file)
    to = room_of(header)
    if (header !~ /\//) to = header == "cavs.h" ? "interface" : from
    if (!(from in known)) print file "\tthe table has no room " from
    else if (from != to && !may(from, to) && !may(file, to))
        print file " " header "\t" from " does not include from " to
}
