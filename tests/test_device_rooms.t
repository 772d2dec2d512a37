#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# No kind of device is named outside codelets/device, and what doc/adding-a-device.md has people edit
# is there. Who includes headers of codelets/device, tests/style.t checks.

top=${abs_top_srcdir:-$(dirname "$0")/..}
cd "$top" || exit 99
folder=$(mktemp -d) || exit 99
trap 'rm -rf "$folder"' EXIT

echo 1..3

check() { # number, text, file of offenders
    if [ -s "$3" ]; then
        echo "not ok $1 - $2"
        sed 's/^/# /' "$3"
    else
        echo "ok $1 - $2"
    fi
}

sources() {
    find core codelets scheduler memory apps -name '*.[ch]' | grep -v '^codelets/device/' | sort
}

# A word is a kind's name in lower case; options and their documentation name kinds.
kinds=$(sed -n 's/^ *\.name = "\(.*\)",$/\1/p' codelets/device/backends.c)
for kind in $kinds; do
    sources | grep -v -e '^core/cavs\.h$' -e '^apps/common/options\.c$' | xargs grep -Hni "$kind"
done >"$folder/named"

check 1 "no kind of device is named outside codelets/device, options and documents" "$folder/named"
if [ "$(echo "$kinds" | wc -l)" -ge 2 ] && [ "$(sources | wc -l)" -gt 100 ]; then
    echo "ok 2 - there was something to look at"
else
    echo "not ok 2 - there was something to look at"
fi

# The steps of the document: seven files, of which the first is new.
sed -n 's/^\*\*[1-7][.].*/&/p' doc/adding-a-device.md >"$folder/steps"
grep -A2 '^\*\*[1-7][.]' doc/adding-a-device.md |
    grep -o '`[a-z/_]*/[a-z_]*\.[a-z]*`\|`configure\.ac`' | tr -d '`' | sort -u | grep -v '^codelets/device/my_hip\.c$' | while read -r file; do
    [ -e "$file" ] || echo "$file"
done >"$folder/missing"
[ "$(wc -l <"$folder/steps")" -eq 7 ] || echo "it has $(wc -l <"$folder/steps") steps" >>"$folder/missing"
check 3 "doc/adding-a-device.md has seven steps, in files that exist" "$folder/missing"
