# SPDX-License-Identifier: Apache-2.0
#
# functions.awk - the functions of C files, found by their text: a line each,
# "declared<tab>NAME<tab>FILE:LINE" or "defined<tab>NAME<tab>FILE:LINE".  Static ones are left out.
#
# What counts stands outside of braces: a declaration ends in ";", a definition in "{", and its name
# is the first word that a "(" follows.

function start(file) {
    text = ""
    depth = comment = directive = 0
    name_of_file = file
}

# The line without comments, strings and directives of the preprocessor.
function bare(line,    out, at) {
    out = ""
    while (line != "") {
        if (comment) {
            at = index(line, "*/")
            if (!at) return out
            line = substr(line, at + 2)
            comment = 0
        } else if (match(line, /\/\*|\/\/|"|'/)) {
            out = out substr(line, 1, RSTART - 1)
            at = substr(line, RSTART, RLENGTH)
            line = substr(line, RSTART + RLENGTH)
            if (at == "/*") comment = 1
            else if (at == "//") return out
            else if (at == "\"") { sub(/^([^"\\]|\\.)*"/, "", line); out = out "S" }
            else { sub(/^([^'\\]|\\.)*'/, "", line); out = out "C" }
        } else
            return out line
    }
    return out
}

# What stands before a "{" or ";" outside of braces.
function is_function(text) {
    return text !~ /(^| )(static|typedef) / && text !~ /=/ && match(text, /[A-Za-z_][A-Za-z_0-9]*[ ]*\(/)
}

function tell(kind, text,    name) {
    gsub(/__attribute__ *\(\(([^()]|\([^()]*\))*\)\)/, "", text)
    sub(/^[ ]+/, "", text)
    if (!is_function(text)) return
    name = substr(text, RSTART, RLENGTH)
    # a macro that stands by itself is no declaration
    if (RSTART == 1) return
    sub(/[ ]*\($/, "", name)
    print kind "\t" name "\t" name_of_file ":" FNR
}

FNR == 1 { start(FILENAME) }

{
    if (!comment && (directive || $0 ~ /^[ \t]*#/)) {
        directive = $0 ~ /\\$/
        bare($0)
        next
    }
    line = bare($0)
    while (match(line, /[{};]/)) {
        text = text " " substr(line, 1, RSTART - 1)
        c = substr(line, RSTART, 1)
        line = substr(line, RSTART + 1)
        if (c == "{") {
            if (depth == 0 && text ~ /^ *extern S *$/) { text = ""; continue }
            if (depth == 0) {
                body = text ~ /\)[ ]*$/
                if (body) tell("defined", text)
            }
            depth++
        } else if (c == "}") {
            if (depth > 0) depth--
            if (depth == 0 && body) text = ""
        } else if (depth == 0) {
            tell("declared", text)
            text = ""
        }
        if (depth > 0) text = ""
    }
    if (depth == 0) text = text " " line
}
