#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# shellcheck disable=SC2086 # arguments are split on purpose
# What all programs have in common, of each that the local.mk files name: --help, --version, mistakes, files that are not
# there, results.  A new program is walked without being named here, but for the sample that tiny() gives it.
# Arguments name programs: only these are walked.

data=${abs_top_srcdir:-.}/tests/data
apps=${abs_top_builddir:-.}/apps
work=$(mktemp -d "${abs_top_builddir:-.}/tests/home/programs.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT

# shellcheck source=tests/programs.sh
. "${abs_top_srcdir:-.}/tests/programs.sh"

CAVS_DATA=/nonexistent
export CAVS_DATA

# tiny PROGRAM: what it trains on here
tiny() {
    case $1 in
    tree_fc) echo "--leaves 5 --samples 10" ;;
    tree_lstm | dyn_tree_lstm | dyn_spinn) echo "--embed 8 --train $data/mini.txt --dev $data/mini-dev.txt" ;;
    fixed_lstm | var_lstm) echo "--embed 8 --train $data/mini-text.txt --dev $data/mini-text-dev.txt" ;;
    dyn_tagger | dyn_char_tagger | bilstm_tagger | bilstm_char_tagger)
        echo "--embed 8 --min-count 2 --train $data/mini-tags.txt --dev $data/mini-tags-dev.txt"
        ;;
    parser | dyn_parser | dag_rnn | dep_tree_lstm) echo "--embed 8 --min-count 1 --train $data/mini.conllu --dev $data/mini.conllu" ;;
    seq2seq | dyn_seq2seq) echo "--embed 8 --length 4 --samples 40 --dev-samples 10" ;;
    gcn) echo "--data $data/mini-cora/mini.content" ;;
    *) return 1 ;;
    esac
}

# tools are no models: what they are called with, and what is said if it is missing
tool() {
    case $1 in
    cavs-pack) echo "expected FORM INPUT OUTPUT" ;;
    cavs-trace) echo "expected the folder of a trace" ;;
    *) return 1 ;;
    esac
}

# listed COLUMN PATTERN FILE: the options whose column of --list-options is that: their names
listed() {
    awk -F '\t' -v column="$1" -v pattern="$2" '$column ~ pattern { print $1 }' "$work/$3"
}

# Options that are the same in all programs are tried in the first that has them: the others are "untried".
sift_options() {
    sort "$work/options" >"$work/sorted"
    comm -23 "$work/sorted" "$work/tried" >"$work/untried"
    sort -u "$work/sorted" "$work/tried" >"$work/both"
    mv "$work/both" "$work/tried"
}

# mistake PROGRAM MESSAGE ARGUMENT...: its status, its message, and nothing on stdout
mistake() {
    mistaken=$1
    message=$2
    shift 2
    run "$mistaken" "$@"
    status_is 2 && said "$message" && said "Try \`$mistaken --help'" && [ ! -s "$work/out" ]
}

# --- help and version ------------------------------------------------------------------------------------

# A heading has options below it, a line has room in a terminal, begins where it should, and ends, the last one too.
fits() {
    awk '
        length($0) > 79 { print "long: " $0 }
        /^ [^ ]/ && !/:$/ { print "begins in column 2: " $0 }
        heading && !/^  / { print "nothing below: " heading }
        { heading = /^ [A-Z].*:$/ ? $0 : "" }' "$1" >>"$work/err"
    [ -z "$(tail -c 1 "$1")" ] || echo "no end of the last line" >>"$work/err"
    [ ! -s "$work/err" ]
}

check_help() {
    COLUMNS=80 run "$1" --help
    status_is 0 && grep -q '^Usage: ' "$work/out" && fits "$work/out"
    ok $? "$1 --help is in order, on 80 columns and without data"
    run "$1" --version
    status_is 0 && grep -q "^$1 (cavs) [0-9]" "$work/out" && [ ! -s "$work/err" ]
    ok $? "$1 --version"
    for option in --help --version; do
        "$apps/$1" $option >/dev/full 2>"$work/err"
        [ $? -eq 1 ] && grep -q "^$1: cannot write to standard output: No space left" "$work/err"
        ok $? "$1 $option to a full device fails"
    done
    mistake "$1" "unrecognized option" --no-such-option
    ok $? "$1 --no-such-option is a mistake"
}

check_program_help() {
    COLUMNS=80 run "$1" --help
    tr -s ' \n' '  ' <"$work/out" >"$work/flat"
    while read -r option _; do
        grep -qE "^ +(-., )?--$option(=[A-Z]+)?( |\$)" "$work/out" || echo "not named: --$option" >>"$work/err"
    done <"$work/options"
    [ -s "$work/options" ] && [ ! -s "$work/err" ]
    ok $? "$1 --help names every option"
    awk '/^ [A-Z].*:$/ { group = $0 } /--(embed|hidden)=/ && group != " Training:" { print $1 group }' "$work/out" >"$work/err"
    [ ! -s "$work/err" ]
    ok $? "$1 --help has widths beside one another"
    for default in epochs $batch hidden lr seed optimizer; do
        grep -qE -- "--$default=[A-Z]+ [^=]*\\(default [^ ]+\\)" "$work/flat" || echo "no default of --$default" >>"$work/err"
    done
    grep -q 'Exit status: 0; 1 failed; 2 a mistake' "$work/flat" && [ ! -s "$work/err" ]
    ok $? "$1 --help has the defaults, and what it exits with"
}

# --- mistakes --------------------------------------------------------------------------------------------

# wrong PROGRAM NAME VALUE MESSAGE
wrong() {
    mistake "$1" "--$2 wants $4" "--$2=$3" || echo "--$2=$3" >>"$work/accepted"
}

# Values out of an option's range.
check_values() {
    : >"$work/accepted"
    while IFS="$(printf '\t')" read -r name kind argument values; do
        lo=${values% *}
        hi=${values#* }
        case $kind in
        int)
            wrong "$1" "$name" $((lo - 1)) "a whole number from $lo"
            [ "$hi" -eq 2147483647 ] || wrong "$1" "$name" $((hi + 1)) "a whole number from $lo"
            ;;
        real) wrong "$1" "$name" -1 "a number from $lo to" ;;
        devices | seed) wrong "$1" "$name" -1 "a whole number from 0" ;;
        text) wrong "$1" "$name" "" "$argument, not nothing" ;;
        choice) wrong "$1" "$name" no-such "one of $(echo "$values" | sed 's/ /, /g'), not 'no-such'" ;;
        esac
    done <"$work/untried"
    sed 's/^/accepted: /' "$work/accepted" >>"$work/err"
    [ ! -s "$work/accepted" ]
    ok $? "$1: values out of range are mistakes that name the option and the range"
    mistake "$1" "option '--epochs' requires an argument" --epochs && mistake "$1" "unexpected argument 'word'" word
    ok $? "$1: a value that is missing and a word too many are mistakes"
}

# --- files -------------------------------------------------------------------------------------------------

# Files to read that are not there, files to write where nothing can be written: the file is named, and before there are results.
check_files() {
    : >"$work/accepted"
    for name in $(listed 3 '^(FILE|PATH|DIR)$' untried); do
        arguments=$tiny
        case $name in
        trace) continue ;; # test_trace_option.t
        packed*) arguments="--packed /nonexistent/file" ;;
        predict) arguments="$tiny --epochs 1" ;;
        # a name that any program takes: the output is looked at first
        output) arguments="$tiny --epochs 1 --predict $data/mini-cora/mini.content" ;;
        resume) arguments= ;;
        esac
        value=/nonexistent/file
        [ "$name" = data ] && value=/nonexistent/file.content
        run "$1" $small $arguments "--$name" "$value"
        { status_is 1 || status_is 2; } && said /nonexistent/file && [ ! -s "$work/out" ] ||
            echo "--$name $value" >>"$work/accepted"
    done
    sed 's/^/accepted: /' "$work/accepted" >>"$work/err"
    [ ! -s "$work/accepted" ]
    ok $? "$1: files that cannot be read or written are named"

    source=$(listed 1 '^(train|data)$' options)
    [ -n "$source" ] || return
    run "$1" --epochs 1
    status_is 1 && said "no data set at /nonexistent/" && said "(from CAVS_DATA)" && said "--$source" && [ ! -s "$work/out" ] &&
        (cd / && unset CAVS_DATA && run "$1" --epochs 1) && status_is 1 && said "no data set at data/"
    ok $? "$1: data that are missing, where they were looked for and what names others"
    : >"$work/empty.content"
    : >"$work/empty.cites"
    : >"$work/accepted"
    for name in $(listed 1 '^(train|data|dev|test)$' options); do
        run "$1" $small $tiny "--$name" "$work/empty.content"
        status_is 1 && said "$work/empty." && [ ! -s "$work/out" ] || echo "--$name" >>"$work/accepted"
    done
    sed 's/^/accepted: /' "$work/accepted" >>"$work/err"
    [ ! -s "$work/accepted" ]
    ok $? "$1 refuses an empty file of any set"
}

# --- results -----------------------------------------------------------------------------------------------

fields="app samples vertices evaluated batches tasks batching_tasks launches epochs loss seconds samples_per_s vertices_per_s
schedule_s wait_s compute_s memory_s flops gflops workers tensor_mb rss_mb epoch_seconds epoch_loss history notices"

check_results() {
    run "$1" $small $tiny --epochs 2 --json --quiet --log "$work/log"
    for name in $fields; do
        tail -n 1 "$work/out" | grep -q "\"$name\":" || echo "no field $name" >>"$work/err"
    done
    status_is 0 && silent && [ "$(field app)" = "\"$1\"" ] && [ "$(field epochs)" -eq 2 ] && [ "$(field workers)" -eq 2 ] &&
        holds "$(field loss) > 0"
    ok $? "$1 --json --quiet has the fields of all programs, and says nothing else"
    [ "$(field product_s)" = null ] && [ "$(field memory_s)" = null ] && [ "$(field other_s)" = null ] && [ "$(field update_s)" = null ]
    ok $? "$1: what was not measured is null"
    if command -v python3 >/dev/null; then
        { tail -n 1 "$work/out" && cat "$work/log"; } |
            python3 -c 'import json, sys; print(len([json.loads(line) for line in sys.stdin]))' >"$work/lines" 2>>"$work/err"
        [ "$(cat "$work/lines")" = 3 ]
        ok $? "$1: results are JSON, and each epoch's in --log"
        # (what is of a set, --help explains)
        tail -n 1 "$work/out" | python3 -c 'import json, sys; print("\n".join(json.load(sys.stdin)))' | grep -vE '^(train|dev|test)_' |
            while read -r name; do
                grep -qF "\`$name\`" "${abs_top_srcdir:-.}/doc/results.md" || echo "not in doc/results.md: $name"
            done >"$work/err"
        [ ! -s "$work/err" ]
        ok $? "$1: doc/results.md says what its results mean"
        # (what a loss is, results.md says)
        "$apps/$1" --help | tr -s ' \n' '  ' >"$work/help"
        tail -n 1 "$work/out" | python3 -c 'import json, sys; print("\n".join(json.load(sys.stdin)))' |
            sed -nE 's/^(train|dev|test)_//p' | grep -vx loss | sort -u | while read -r name; do
            grep -qE "(^|[^a-z])$name([^a-z_]|\$)" "$work/help" || echo "not in --help: $name"
        done >"$work/err"
        [ ! -s "$work/err" ]
        ok $? "$1: --help explains the numbers of its sets"
    else
        skip "$1: results are JSON" "no python3 to parse it"
        skip "$1: doc/results.md says what its results mean" "no python3 to parse them"
        skip "$1: --help explains the numbers of its sets" "no python3 to parse them"
    fi

    run "$1" $small $tiny --epochs 1
    status_is 0 && grep -q "^$1: 1 epoch, " "$work/out" && ! grep -qE '(^|[^0-9.])1 (epochs|samples|graphs|batches|workers)' "$work/out" &&
        grep -q '^  loss  ' "$work/out" && said "epoch 1/1"
    ok $? "$1: without --json results and progress are for people"

    run "$1" $small $tiny --epochs 0 --explain --json --quiet
    status_is 0 && [ "$(wc -l <"$work/out")" -gt 5 ] && [ "$(field epochs)" -eq 0 ] && grep -qE 'gemm|matmul' "$work/out"
    ok $? "$1 --explain with --epochs 0 shows the operators"
}

# next_policy: one after the other
next_policy() {
    # shellcheck disable=SC2046 # a list
    set -- $(policies)
    shift $((turn % $#))
    turn=$((turn + 1))
    echo "$1" >"$work/policy"
}

# Neither who evaluates a batch nor in which order changes what comes out: of each program's, one policy in turn; with
# CAVS_TEST_LONG set, all of them.
check_schedules() {
    different=
    run "$1" $small $tiny --epochs 2 --json --quiet --shards 2 --workers 1 --measure
    one=$(field loss)
    holds "$(field product_s) > 0 && $(field update_s) > 0"
    ok $? "$1 --measure: seconds of products and of updates"
    run "$1" $small $tiny --epochs 2 --json --quiet --shards 2 --workers 2
    [ -n "$one" ] && [ "$one" = "$(field loss)" ] || different="$different --workers"
    next_policy
    for policy in $(if [ -n "${CAVS_TEST_LONG:-}" ]; then policies; else cat "$work/policy"; fi); do
        run "$1" $small $tiny --epochs 2 --json --quiet --shards 2 --policy $policy
        status_is 0 && holds "($(field loss) - ${one:-0}) ^ 2 < 1e-10" || different="$different --policy $policy"
    done
    [ -z "$different" ]
    ok $? "$1: the same loss by other policies and numbers of workers${different:+, but not$different}"
}

# --- the walk ----------------------------------------------------------------------------------------------

: >"$work/tried"
turn=0
programs=$(sed -n 's/^APPS += //p' "${abs_top_srcdir:-.}/apps/local.mk" "${abs_top_srcdir:-.}"/apps/*/local.mk)
[ "$(echo "$programs" | wc -w)" -gt 10 ]
ok $? "the lists of programs are read"
[ $# -eq 0 ] || programs=$*
for program in $programs; do
    program=${program##*/}
    check_help "$program"
    if message=$(tool "$program"); then
        mistake "$program" "$message"
        ok $? "$program without arguments is a mistake"
        continue
    fi
    tiny=$(tiny "$program")
    ok $? "$program has a tiny training set here"
    run "$program" --list-options
    cp "$work/out" "$work/options"
    # a program whose set is one sample has no batches
    batch=$(listed 1 '^batch$' options)
    small="--hidden 8 --workers 2${batch:+ --batch 4}"
    sift_options
    check_program_help "$program"
    check_values "$program"
    check_files "$program"
    check_results "$program"
    check_schedules "$program"
done

echo "1..$count"
