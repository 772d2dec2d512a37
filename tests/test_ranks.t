#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Several ranks on one machine, started by mpirun, more of them than cores: the same bits as one process gives, by
# every optimizer, for models of every kind; what a rank may not differ in; what becomes of the others when one dies,
# hangs, or cannot write.  Skipped where the library was built without MPI.

name=ranks
# shellcheck source=tests/mpirun.sh
. "${abs_top_srcdir:-.}/tests/mpirun.sh"

# --- the same bits --------------------------------------------------------------------------------

# hashes N SHARDS [MODEL | MODE ...]: what the trial of models says, into N.SHARDS
hashes() {
    processes=$1 said_by=$1.$2
    shift
    if [ "$processes" -eq 1 ]; then
        CAVS_FUSION=interpret "$tests/ranks_trial" "$@"
    else
        CAVS_FUSION=interpret mpirun -np "$processes" "$tests/ranks_trial" "$@"
    fi >"$work/$said_by" 2>"$work/err"
}

# same RANKS SHARDS [MODEL | MODE ...]: as one process
same() {
    n=$1
    shift
    [ -e "$work/1.$1" ] || hashes 1 "$@"
    hashes "$n" "$@" && [ -s "$work/1.$1" ] && cmp -s "$work/1.$1" "$work/$n.$1"
    ok $? "$n ranks, $1 shards${2:+, $2}: the bits of one process" "$work/err" "$work/1.$1" "$work/$n.$1"
}

same 2 4
same 4 8 tree_lstm_bench
same 2 3 tape
same 4 16 tape
same 2 20 tied # batches of fewer samples than half of the shards
same 2 5 random 0-29
same 4 5 random 0-29
if [ -n "${CAVS_TEST_LONG:-}" ]; then
    for n in 2 3 4; do
        same $n 6 random 30-999
    done
    same 3 7
    same 8 16
    same 4 24
    same 3 64 tree_lstm_bench
fi

# Messages of two sessions are under way at a time.
hashes 1 4 turns
for n in 2 3 4; do
    hashes $n 4 turns
    [ -s "$work/1.4" ] && cmp -s "$work/1.4" "$work/$n.4"
    ok $? "$n ranks train two sessions in turns: the bits of one process" "$work/err" "$work/1.4" "$work/$n.4"
done

hashes 1 4 copies
for n in 2 3; do
    hashes $n 4 copies
    [ -s "$work/1.4" ] && cmp -s "$work/1.4" "$work/$n.4"
    ok $? "$n ranks: a session of another precision reads what one that shares its parameters has learned" \
        "$work/err" "$work/1.4" "$work/$n.4"
done

hashes 1 4 sharing
hashes 2 4 sharing
[ "$(cat "$work/1.4")" = accepted ] && [ "$(grep -c '^parameter W: sessions that share it would' "$work/2.4")" -eq 2 ]
ok $? "sessions of other models, whose ranks would keep other states, are refused by all" "$work/err" "$work/2.4"

hashes 2 4 unlike
# unlike_by REGEX DESCRIPTION: both ranks have said so
unlike_by() {
    [ "$(grep -cE "$1" "$work/2.4")" -eq 2 ]
    ok $? "$2 is refused by all" "$work/err" "$work/2.4"
}
unlike_by 'differ in the session: 4 shards, adam, lr 1\.01, clip 1, .*, beta2 0\.999.* and 4 shards, adam, lr 0\.01,' "a session of another learning rate"
unlike_by 'differ in the session: 5 shards, .* and 4 shards,' "or of more shards"
unlike_by 'differ in the model: W 20 x 20, large 20 x 22 and W 20 x 20, large 20 x 21$' "or of another model"
[ "$(grep -c '^rank 1 has given parameters other values than rank 0, or another learning rate$' "$work/2.4")" -eq 6 ] &&
    [ "$(grep -c '^accepted$' "$work/2.4")" -eq 2 ]
ok $? "what rank 1 gives parameters, and no other rank, is refused by all" "$work/err" "$work/2.4"

hashes 2 4 strangers
[ "$(grep -c '^rank 1 has another batch than rank 0' "$work/2.4")" -eq 2 ]
ok $? "a batch of samples that one rank has others of is refused by all" "$work/err" "$work/2.4"

mpirun -np 2 "$tests/ranks_trial" 4 mixed >"$work/out" 2>"$work/err" && [ "$(grep -c 'makes another call than rank' "$work/out")" -eq 12 ]
ok $? "ranks that make different calls are refused, and go on" "$work/err" "$work/out"

mpirun -np 2 "$tests/ranks_trial" 4 saving "$work/short" >"$work/out" 2>"$work/err"
sed 's/rank [01]://' "$work/out" | sort -u >"$work/heard"
[ "$(wc -l <"$work/out")" -eq 2 ] && [ "$(wc -l <"$work/heard")" -eq 1 ] && [ "$(grep -o refused "$work/heard" | wc -l)" -gt 10 ] &&
    grep -q ' kept$' "$work/heard"
ok $? "memory that runs out at one rank while a checkpoint is written: all hear of it, and go on" "$work/err" "$work/out"

timeout 120 mpirun -np 3 "$tests/ranks_trial" 1 opening >"$work/out" 2>"$work/err" </dev/null
sed 's/^rank [0-2]://' "$work/out" | sort -u >"$work/heard"
[ "$(wc -l <"$work/out")" -eq 3 ] && [ "$(wc -l <"$work/heard")" -eq 1 ] &&
    [ "$(grep -o 'rank 1: out of memory: ranks' "$work/heard" | wc -l)" -ge 4 ] && grep -q ' made;$' "$work/heard"
ok $? "or while ranks find one another: none is made, and all may try again" "$work/err" "$work/out"

mpirun -np 2 "$tests/ranks_unread" >"$work/out" 2>"$work/err" && [ "$(grep -c ': 0 unread$' "$work/out")" -eq 2 ]
ok $? "a rank whose watch is slow has read all words of the others at its end" "$work/err" "$work/out"

# --- packed data that are larger than what a rank may have in memory --------------------------------

# An epoch in random order.  A rank has its rows of some batches, of 4 MB each, and of the file's pages those alone that
# say how large samples are.
"$tests/ranks_trial" 2 pack "$work/wide" $((${CAVS_TEST_LONG:-0} > 0 ? 16384 : 4096)) >"$work/out" 2>"$work/err"
for n in 1 2; do
    mpirun -np $n "$tests/ranks_trial" 2 packed "$work/wide" >"$work/$n.wide" 2>"$work/err"
    [ "$(awk '/^rank/ && $3 < 64' "$work/$n.wide" | wc -l)" -eq $n ] &&
        [ "$(grep '^loss' "$work/1.wide" "$work/$n.wide" | sed 's/.*://' | sort -u | wc -l)" -eq 1 ]
    ok $? "$n ranks train on a packed file that is larger than what each has in memory" "$work/err" "$work/$n.wide"
done
rm "$work/wide"

# --- programs -------------------------------------------------------------------------------------

# shellcheck disable=SC2086 # a list
{
    run tree_lstm $small --dev "$data/mini-dev.txt" --epochs 4 --json --save "$work/one.safetensors"
    results >"$work/one"
    ranks 2 tree_lstm $small --dev "$data/mini-dev.txt" --epochs 4 --json --save "$work/two.safetensors"
    results >"$work/two"
}
status_is 0 && [ -s "$work/one" ] && cmp -s "$work/one" "$work/two" &&
    cmp -s "$work/one.safetensors" "$work/two.safetensors"
ok $? "a program's numbers and its model file are those of one process" "$work/err" "$work/one" "$work/two"

[ "$(wc -l <"$work/out")" -eq 1 ] && [ "$(grep -c '^epoch 4/4' "$work/err")" -eq 1 ]
ok $? "results and progress are said once"

# 40 trees of 60 words that occur once: a rank tells of 1,200 touched rows, more than go along with a meeting.
awk 'BEGIN { for (t = 0; t < 40; t++) {
    s = "(2 w" t ")"
    for (i = 1; i < 60; i++) s = "(2 " s " (2 w" t "x" i "))"
    print s } }' >"$work/many.txt"
many="--train $work/many.txt --hidden 8 --embed 8 --batch 40 --lr 0.05 --shards 2 --workers 1 --epochs 2 --quiet --json"
# shellcheck disable=SC2086 # a list
{
    run tree_lstm $many --save "$work/one.many"
    results >"$work/one"
    ranks 2 tree_lstm $many --save "$work/two.many"
    results >"$work/two"
}
status_is 0 && [ -s "$work/one" ] && cmp -s "$work/one" "$work/two" && cmp -s "$work/one.many" "$work/two.many"
ok $? "so are they where more rows are touched than go along with a meeting" "$work/err" "$work/one" "$work/two"

# Trees that all have one word: its row goes from rank to rank. Of 128 shards each of the 64 partial gradients is of two, and
# of 512 each of 128, which are the most, of four.
awk 'BEGIN { for (t = 0; t < 514; t++) print "(" t % 5 " (2 all) (2 (2 w" t % 7 ") (2 w" t % 11 + 7 ")))" }' >"$work/common.txt"
# common SHARDS RANKS...
common() {
    common="--train $work/common.txt --hidden 8 --embed 8 --batch $1 --shards $1 --workers 1 --epochs 2 --quiet"
    shards=$1
    shift
    # shellcheck disable=SC2086
    run tree_lstm $common --save "$work/one.common"
    for n; do
        # shellcheck disable=SC2086
        ranks $n tree_lstm $common --save "$work/$n.common"
        status_is 0 && cmp -s "$work/one.common" "$work/$n.common"
        ok $? "$n ranks, $shards shards that all touch one row: the bits of one process"
    done
}
common 128 2 3 4
common 512 2 3

"$apps/tree_lstm" --init "$work/one.safetensors" --predict "$data/mini-dev.txt" --quiet >"$work/predicted" 2>"$work/err"
ranks 3 tree_lstm --init "$work/one.safetensors" --predict "$data/mini-dev.txt" --quiet --workers 1
status_is 0 && [ -s "$work/predicted" ] && cmp -s "$work/predicted" "$work/out"
ok $? "predictions are those of one process, and written once"

# Recorded ones ask for values in the middle and branch on them (dyn_parser), or have blocks (dyn_tree_lstm).
# recorded PROGRAM ARGUMENT...
recorded() {
    program=$1
    shift
    # shellcheck disable=SC2086
    {
        run "$program" $tiny "$@" --json --save "$work/one.safetensors"
        results >"$work/one"
        ranks 2 "$program" $tiny "$@" --json --save "$work/two.safetensors"
        results >"$work/two"
    }
    status_is 0 && [ -s "$work/one" ] && cmp -s "$work/one" "$work/two" &&
        cmp -s "$work/one.safetensors" "$work/two.safetensors"
    ok $? "$program: a recorded program's are, too" "$work/err" "$work/one" "$work/two"
}
tiny="--hidden 16 --embed 16 --lr 0.02 --shards 4 --optimizer adam --clip 1 --workers 1 --quiet"
recorded dyn_tree_lstm --train "$data/mini.txt" --dev "$data/mini-dev.txt" --batch 4 --epochs 6
recorded dyn_tree_lstm --apply --train "$data/mini.txt" --dev "$data/mini-dev.txt" --batch 4 --epochs 2
recorded dyn_parser --train "$data/mini.conllu" --dev "$data/mini.conllu" --batch 2 --epochs 3 --explore-after 0

# --- what is sent ---------------------------------------------------------------------------------

# Batches of equal trees: every shard touches the same rows.  Of the parameters, those that are not looked up.
head -n 1 "$data/mini.txt" >"$work/tree"
cat "$work/tree" "$work/tree" "$work/tree" "$work/tree" >"$work/four"
cat "$work/four" "$work/four" "$work/four" "$work/four" >"$work/equal"
ranks 2 tree_lstm --train "$work/equal" --hidden 64 --embed 64 --batch 8 --shards 2 --epochs 2 --workers 1 --quiet \
    --json --save "$work/equal.safetensors"
number() { tail -n 1 "$work/out" | tr , '\n' | sed -n "s/.*\"$1\": *\([0-9]*\).*/\1/p"; }
# dense FILE: bytes of the parameters of a model file, its words aside, of 64 numbers each
dense() {
    length=$(od -A n -t u4 -N 4 "$1" | tr -d ' ')
    words=$(head -c "$((length + 8))" "$1" | tr '}' '\n' |
        sed -n 's/.*"embedding":.*"shape":\[\([0-9]*\),.*/\1/p')
    [ -n "$words" ] && echo $(($(wc -c <"$1") - length - 8 - words * 256))
}
# sent WANTED: a batch sends so many bytes, to within 5 %
sent() {
    sent=$(($(number bytes_sent) / $(number batches)))
    echo "sent $sent, wanted $1" >>"$work/err"
    [ $((sent * 100)) -ge $(($1 * 95)) ] && [ $((sent * 100)) -le $(($1 * 105)) ]
}
touched=$(grep -o '[^ ()]*)' "$work/tree" | grep -c '[^)]')
bytes=$(dense "$work/equal.safetensors") && status_is 0 && sent $((bytes + touched * 256))
ok $? "a batch sends as many bytes as its parameters and touched rows have" "$work/err" "$work/out"

# --- large parameters -----------------------------------------------------------------------------

# The largest has most of all numbers: rank 0 would send all of it to all others.
large="--hidden 128 --embed 64 --batch 8 --shards 8 --optimizer adam --workers 1 --quiet --json"
# shellcheck disable=SC2086
{
    run tree_lstm --train "$work/equal" $large --epochs 4 --save "$work/one.safetensors"
    ranks 4 tree_lstm --train "$work/equal" $large --epochs 4 --save "$work/four.safetensors"
}
bytes=$(dense "$work/four.safetensors") && status_is 0 && cmp -s "$work/one.safetensors" "$work/four.safetensors" &&
    sent $((bytes * 2 * 3 / 4 + touched * 256 * 3 / 2))
ok $? "large parameters are cut, so that no rank sends more than others, and the bits stay" "$work/err" "$work/out"

# shellcheck disable=SC2086
{
    ranks 4 tree_lstm --train "$work/equal" $large --epochs 2 --checkpoint "$work/cut"
    ranks 3 tree_lstm --resume "$work/cut" --epochs 4 --workers 1 --quiet --save "$work/rest.safetensors"
}
status_is 0 && cmp -s "$work/one.safetensors" "$work/rest.safetensors"
ok $? "and with them a run is resumed by another number of ranks" "$work/err"

ranks 3 tree_lstm --train "$work/equal" --hidden 8 --embed 8 --batch 8 --shards 2 --epochs 1 --workers 1
status_is 0 && said '1 of 3 ranks have no part of a batch of 2 shards; with 3 all do' && [ "$(grep -c 'no part' "$work/err")" -eq 1 ]
ok $? "a rank without a shard is told of, once" "$work/err"
ranks 9 tree_lstm --train "$work/equal" --hidden 8 --embed 8 --batch 16 --shards 16 --epochs 1 --workers 1
status_is 0 && said '1 of 9 ranks have no part of a batch of 16 shards; with 32 all do'
ok $? "so is one where there are more ranks than sums of gradients" "$work/err"

# --- unlike ranks ---------------------------------------------------------------------------------

# Rank 1 is stopped most of the time, again and again.
cat >"$work/slowly" <<'END'
#!/bin/sh
[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" -ne 1 ] || {
    victim=$$
    # until it has ended (MPICH's mpirun waits for what has a rank's descriptors open before it looks for that)
    (while grep -q . /proc/$victim/cmdline && kill -STOP $victim && sleep 0.03 && kill -CONT $victim; do
        sleep 0.01
    done) >/dev/null 2>&1 &
}
exec "$@"
END
chmod +x "$work/slowly"
for _ in 1 2 3 4; do cat "$work/equal" "$data/mini.txt"; done >"$work/many"
unlike="--train $work/many --hidden 256 --embed 64 --batch 32 --shards 8 --epochs 30 --workers 1 --optimizer adam --quiet --json"
# shellcheck disable=SC2086
run tree_lstm $unlike --save "$work/one.safetensors"
results >"$work/one"
# On a machine that is busy with other things both may be slow for a while.
for _ in 1 2 3; do
    # shellcheck disable=SC2086
    mpirun -np 2 "$work/slowly" "$apps/tree_lstm" $unlike --save "$work/two.safetensors" >"$work/out" 2>"$work/err" \
        </dev/null
    echo $? >"$work/status"
    results >"$work/two"
    tail -n 1 "$work/out" | grep -qE '"rank_shards": *\[ *([567], *[123]|8, *0) *\]' && fewer=yes && break
done
status_is 0 && [ -s "$work/one" ] && cmp -s "$work/one" "$work/two" &&
    cmp -s "$work/one.safetensors" "$work/two.safetensors" && [ "${fewer:-no}" = yes ]
ok $? "a slow rank gets fewer shards, and the bits stay" "$work/err" "$work/out" "$work/one" "$work/two"

# --- traces ---------------------------------------------------------------------------------------

if grep -q '^#define HAVE_STARPU_FXT 1' "$tests/../config.h"; then
    # shellcheck disable=SC2086
    ranks 2 tree_lstm $small --epochs 4 --json --trace "$work/trace"
    sent=$(awk -v b="$(number bytes_sent)" 'BEGIN { printf "%.3f", b * 1e-6 }')
    status_is 0 && grep -q '^[0-9]* tasks on 2 workers of 2 ranks in' "$work/trace/summary.txt" &&
        grep -q '^  rank 1, CPU 0  *[1-9]' "$work/trace/summary.txt" &&
        grep -q "^  to rank 1  *[1-9][0-9]*  *$sent " "$work/trace/summary.txt"
    ok $? "a trace has the tasks of all ranks, and as many bytes between them as were sent" "$work/err" \
        "$work/trace/summary.txt"
    grep -q 'rank 1, CPU 0: ' "$work/trace/gantt.svg" && grep -q 'messages to rank 0' "$work/trace/gantt.svg" &&
        [ "$(grep -c 'trace in' "$work/err")" -eq 1 ]
    ok $? "and its picture has messages" "$work/err"

    # Of each rank and batch one update may begin before the last gradient has ended: that of touched rows.
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do cat "$work/equal"; done >"$work/equals"
    ranks 2 tree_lstm --train "$work/equals" --hidden 256 --embed 256 --batch 256 --shards 2 --epochs 6 --workers 1 --quiet \
        --trace "$work/order"
    awk -F ': ' '
        { of[$1] = $2 }
        /^$/ && of["Iteration"] != "" && of["EndTime"] != "" {
            batch = of["MPIRank"] " " of["Iteration"]
            if (of["Name"] ~ /\.gradient\./ && of["EndTime"] + 0 > last[batch])
                last[batch] = of["EndTime"] + 0
            if (of["Name"] == "cavs_update")
                begins[batch] = begins[batch] " " of["StartTime"]
        }
        /^$/ { split("", of) }
        END {
            for (batch in last) {
                early = 0
                for (i = split(begins[batch], at, " "); i > 0; i--)
                    early += at[i] + 0 < last[batch]
                batches++
                bad += early > 1
                print batch ": " early " of " split(begins[batch], at, " ") " updates before the last gradient"
            }
            exit batches != 12 || bad > 0
        }' "$work/order/tasks.rec" >"$work/early" && status_is 0
    ok $? "the only worker of a rank makes gradients, which others wait for, before it updates what is its own" \
        "$work/err" "$work/early"
else
    skip "a trace has the tasks of all ranks" "this StarPU was built without FxT"
fi

# --- resuming -------------------------------------------------------------------------------------

tags="--train $data/mini-tags.txt --hidden 8 --embed 8 --batch 2 --lr 0.02 --min-count 1 --shards 4 --dropout 0.3 --workers 1"
# shellcheck disable=SC2086
{
    run bilstm_tagger $tags --epochs 4 --quiet --save "$work/whole.safetensors"
    ranks 2 bilstm_tagger $tags --epochs 2 --checkpoint "$work/kept" --quiet
    ranks 3 bilstm_tagger --resume "$work/kept" --epochs 4 --workers 1 --quiet --save "$work/rest.safetensors"
}
status_is 0 && cmp -s "$work/whole.safetensors" "$work/rest.safetensors"
ok $? "a run with dropout, resumed by another number of ranks, comes to the same bits"

# --- what must not differ -------------------------------------------------------------------------

# differing DESCRIPTION MESSAGE WORDS-OF-RANK-0 -- WORDS-OF-RANK-1
differing() {
    description=$1 message=$2
    shift 2
    first=
    while [ "$1" != -- ]; do
        first="$first $1"
        shift
    done
    shift
    # shellcheck disable=SC2086
    timeout 60 mpirun -np 1 "$apps/tree_lstm" $first : -np 1 "$apps/tree_lstm" "$@" >"$work/out" 2>"$work/err" </dev/null
    echo $? >"$work/status"
    ! status_is 0 && said "$message"
    ok $? "$description"
}

# shellcheck disable=SC2086
differing "ranks with other options are refused" 'rank 1 and rank 0 differ in --batch: 5 and 4' \
    $small --epochs 1 -- $small --epochs 1 --batch 5
# shellcheck disable=SC2086
differing "a mistake on the command line of one rank is told by that rank" "tree_lstm: rank 1: unrecognized option '--epochz'" \
    $small --epochs 1 -- $small --epochz 1
status_is 2
ok $? "and is its status"
# shellcheck disable=SC2086
differing "a mistake of the first rank alone ends the others" "unrecognized option '--epochz'" $small --epochz 1 -- $small --epochs 1
status_is 2
ok $? "with the same status"
# shellcheck disable=SC2086
differing "a trace of some ranks is refused" 'rank 1 and rank 0 differ in the trace: none and wanted' \
    $small --epochs 1 --trace "$work/some" -- $small --epochs 1
# shellcheck disable=SC2086
differing "where StarPU does not start on one rank, all end" 'rank 1: a rank with devices needs a CPU worker' \
    $small --epochs 1 -- $small --epochs 1 --workers 0 --opencl 1
[ "$(grep -c 'needs a CPU worker' "$work/err")" -eq 1 ]
ok $? "which is said once" "$work/err"
printf '#!/bin/sh\n[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" -ne 0 ] || sleep 1\nexec "$@"\n' >"$work/late"
chmod +x "$work/late"
# shellcheck disable=SC2086
mpirun -np 3 "$work/late" "$apps/tree_lstm" $small --epochs -1 >"$work/out" 2>"$work/err" </dev/null
echo $? >"$work/status"
status_is 2 && grep -q "^tree_lstm: --epochs wants" "$work/err"
ok $? "a mistake of all is told where rank 0 is the last to start"
mkdir "$work/a" "$work/b"
cp "$data/mini.txt" "$work/a/train.txt"
cp "$data/mini-dev.txt" "$work/b/train.txt"
printf '#!/bin/sh\ncd "$1" && shift && exec "$@"\n' >"$work/in"
chmod +x "$work/in"
# apart ARGUMENT...: tree_lstm as two ranks, in folders of their own
apart() {
    program=$(cd "$apps" && pwd)/tree_lstm
    timeout 60 mpirun -np 1 "$work/in" "$work/a" "$program" "$@" : -np 1 "$work/in" "$work/b" "$program" "$@" >"$work/out" \
        2>"$work/err" </dev/null
    echo $? >"$work/status"
}
apart --train train.txt --hidden 8 --epochs 1 --workers 1
! status_is 0 && said 'rank 1 and rank 0 differ in the train set'
ok $? "ranks with other data are refused"

rm "$work/b/train.txt"
apart --train train.txt --hidden 8 --epochs 1 --workers 1
! status_is 0 && ! status_is 124 && said 'tree_lstm: rank 1: train.txt: No such file or directory'
ok $? "a rank that lacks a file ends all, and says so"
cp "$data/mini.txt" "$work/b/train.txt"
for rank in a b; do
    # shellcheck disable=SC2086
    run tree_lstm $small --seed "$(printf %d "'$rank")" --epochs 1 --quiet --save "$work/$rank/model"
done
# others FILE: its numbers are refused, which is said once
others() {
    ! status_is 0 && [ "$(grep -c 'rank 1 has given parameters other values than rank 0' "$work/err")" -eq 1 ]
    ok $? "ranks with another $1 are refused, which is said once"
}
apart --init model --epochs 1 --train train.txt --workers 1
others "model file"
# shellcheck disable=SC2086
apart $small --partial model --epochs 1 --workers 1
others "file of a part of the model"

if printf 'const char *cavs_version(void) { return "0.0.9"; }\n' |
    ${CC:-cc} -shared -fPIC -x c -o "$work/old.so" - 2>"$work/err"; then
    printf '#!/bin/sh\n[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" -ne 1 ] || export LD_PRELOAD="%s/old.so"\nexec "$@"\n' "$work" >"$work/old"
    chmod +x "$work/old"
    # shellcheck disable=SC2086
    mpirun -np 2 "$work/old" "$apps/tree_lstm" $small --epochs 1 >"$work/out" 2>"$work/err" </dev/null
    echo $? >"$work/status"
    ! status_is 0 && said "rank 1 and rank 0 differ in the version: 0.0.9 and $("$apps/tree_lstm" --version | sed 's/.* //')"
    ok $? "ranks of another version are refused"
else
    skip "ranks of another version are refused" "no compiler"
fi

head -n 1 "$data/mini-dev.txt" >"$work/b/some.txt"
cp "$data/mini-dev.txt" "$work/a/some.txt"
apart --init "$work/a/model" --predict some.txt --batch 1 --workers 1
! status_is 0 && said 'makes another call than rank' && [ "$(grep -c MPI_ERR "$work/err")" -eq 0 ]
ok $? "a rank that has less to predict ends all, without an error of MPI"

ranks 2 tree_lstm --init "$work/a/model" --predict /dev/stdin --workers 1
! status_is 0 && said '/dev/stdin: each of 2 ranks reads all of it'
ok $? "predictions of what only one rank can read are refused"

mkdir "$work/a/new"
# shellcheck disable=SC2086
apart $small --epochs 1 --save new/model --log new/log --checkpoint new/kept --quiet
status_is 0 && [ -s "$work/a/new/model" ] && [ -s "$work/a/new/log" ] && [ -s "$work/a/new/kept/checkpoint.safetensors" ]
ok $? "only rank 0 needs a place to write to"

printf '#!/bin/sh\nHWLOC_THISSYSTEM=0 HWLOC_SYNTHETIC="core:$((2 + 2 * ${OMPI_COMM_WORLD_RANK:-$PMI_RANK})) pu:1" exec "$@"\n' >"$work/cores"
chmod +x "$work/cores"
mpirun -np 2 "$work/cores" "$apps/tree_lstm" --train "$data/mini.txt" --hidden 8 --epochs 1 --workers 1 >"$work/out" 2>"$work/err" </dev/null
echo $? >"$work/status"
! status_is 0 && grep -q 'differ in the session: 4 shards (one a core), .* and 2 shards (one a core),' "$work/err"
ok $? "machines of other sizes, if nobody says how many shards there are, are refused"

# --- what goes wrong ------------------------------------------------------------------------------

# endless NAME: three ranks train until they are stopped; sets victim to the process of the last
cat >"$work/tell" <<'END'
#!/bin/sh
[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" -ne 2 ] || echo $$ >"$1"
shift
exec "$@"
END
chmod +x "$work/tell"
endless() {
    rm -f "$work/status" "$work/victim"
    # shellcheck disable=SC2086
    (
        mpirun -np 3 "$work/tell" "$work/victim" "$apps/tree_lstm" $small --epochs 1000000 --quiet \
            --checkpoint "$work/$1" --every 3 >"$work/out" 2>"$work/err" </dev/null
        echo $? >"$work/status"
    ) &
    appears "$work/$1/checkpoint.safetensors" 300
    victim=$(cat "$work/victim")
}

# ended: within 10 s of now, and as much again and more for a busy machine
ended() {
    waited=0
    until [ -s "$work/status" ] || [ $waited -gt 120 ]; do
        sleep 0.25
        waited=$((waited + 1))
    done
    [ -s "$work/status" ]
}

endless killed
kill -KILL "$victim"
# (MPICH's mpirun ends the others before one of them can say anything)
ended && ! status_is 0 && grep -qE "rank 2|BAD TERMINATION" "$work/err" "$work/out"
ok $? "when a rank is killed the others end, and it is named"

endless hanging
kill -STOP "$victim"
ended && ! status_is 0 && said 'tree_lstm: rank 2 has said nothing for 6 s: the run ends'
ok $? "when a rank hangs the others end, and it is named"
kill -KILL "$victim" 2>/dev/null
"$apps/tree_lstm" --resume "$work/hanging" --epochs 1000000 --checkpoint "$work/hanging" --quiet --workers 1 \
    >"$work/out" 2>"$work/err" &
resumed=$!
touch "$work/now"
for _ in $(seq 100); do
    [ -n "$(find "$work/hanging" -name checkpoint.safetensors -newer "$work/now")" ] && break
    sleep 0.2
done
kill -TERM $resumed
wait $resumed
[ $? -eq 143 ] && said 'stopped by SIGTERM'
ok $? "and the last checkpoint is whole"

# stopped MODEL INPUT PROGRAM DESCRIPTION: three ranks predict for long, of which the last gets SIGTERM after some of it
stopped() {
    rm -f "$work/status" "$work"/labels*
    (
        mpirun -np 3 "$work/tell" "$work/victim" "$apps/$3" --init "$1" --predict "$2" --output "$work/labels" --batch 1 \
            --quiet --workers 1 >"$work/out" 2>"$work/err" </dev/null
        echo $? >"$work/status"
    ) &
    waited=0
    until [ -n "$(find "$work" -name 'labels*' -size +0)" ] || [ $waited -gt 300 ]; do
        sleep 0.1
        waited=$((waited + 1))
    done
    kill -TERM "$(cat "$work/victim")"
    ended && status_is 143 && said "$3: stopped by SIGTERM" && [ -z "$(find "$work" -name 'labels*')" ]
    ok $? "$4" "$work/err" "$work/status"
}
for _ in $(seq 20000); do cat "$data/mini-dev.txt"; done >"$work/long.txt"
for _ in $(seq 1000); do cat "$data/mini.conllu"; done >"$work/long.conllu"
# shellcheck disable=SC2086
run tree_lstm $small --epochs 1 --quiet --save "$work/trees.safetensors"
stopped "$work/trees.safetensors" "$work/long.txt" tree_lstm "a signal to one rank ends predictions of all, and no file is left"
for program in parser dyn_parser; do
    run $program --train "$data/mini.conllu" --hidden 8 --embed 8 --batch 2 --epochs 1 --workers 1 --quiet \
        --save "$work/$program.safetensors"
    stopped "$work/$program.safetensors" "$work/long.conllu" "$program" "so it does in $program, which runs several batches for one"
done
rm "$work/long.txt" "$work/long.conllu"

# short RANK N: the N-th allocation of that rank fails; of rank 1 while the best model cannot be written
short() {
    rm -rf "$work/kept"
    [ "$1" -eq 0 ] || mkdir -p "$work/kept/best.safetensors"
    printf '#!/bin/sh\n[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" -ne %d ] || export FAILING_ALLOCATION=%d ALLOCATIONS="%s"\nexec "$@"\n' \
        "$1" "$2" "$work/allocations" >"$work/failing"
    chmod +x "$work/failing"
    # shellcheck disable=SC2086
    mpirun -np 2 "$work/failing" "$tests/failing-tree_lstm" $small --dev "$data/mini-dev.txt" --best accuracy_all --epochs 1 --quiet \
        --checkpoint "$work/kept" >"$work/out" 2>"$work/err" </dev/null
    echo $? >"$work/status"
}
whose=
for rank in 0 1; do
    short $rank 0
    most=$(cat "$work/allocations") goes_on=no
    : >"$work/all"
    for n in $(seq $((most - 3)) "$most"); do
        short $rank "$n"
        cat "$work/status" "$work/err" >>"$work/all"
        said "tree_lstm: no checkpoint: ${whose}out of memory; it will be tried again" && goes_on=yes
    done
    whose='rank 1: '
    ! grep -q 'makes another call' "$work/all" && [ $goes_on = yes ]
    ok $? "a checkpoint that rank $rank alone has no memory for is none of all, and the run goes on" "$work/all"
done

# (MPICH's mpirun may end the others by itself)
timeout 60 mpirun -np 3 "$tests/ranks_trial" 4 leaving >"$work/out" 2>"$work/err" </dev/null
echo $? >"$work/status"
! status_is 0 && ! status_is 124 && grep -qE "rank 1 has said nothing|BAD TERMINATION" "$work/err" "$work/out"
ok $? "when a rank calls exit() in the midst of a run the others end, and it is named"

timeout 60 mpirun -np 2 "$tests/ranks_trial" 4 leaving all >"$work/out" 2>"$work/err" </dev/null
echo $? >"$work/status"
status_is 0 && ! grep -q FINALIZE "$work/err"
ok $? "ranks that all call exit() without having ended their runtimes end in order" "$work/err"

printf '#!/bin/sh\nulimit -f 8\ntrap "" XFSZ\nexec "$@"\n' >"$work/full"
chmod +x "$work/full"
# by sockets: what MPICH's ranks share on one machine are files
# shellcheck disable=SC2086
UCX_TLS=tcp,self MPIR_CVAR_NOLOCAL=1 \
    mpirun -np 1 "$work/full" "$apps/tree_lstm" $small --hidden 64 --epochs 1 --quiet --save "$work/big.safetensors" : \
    -np 1 "$apps/tree_lstm" $small --hidden 64 --epochs 1 --quiet --save "$work/big.safetensors" \
    >"$work/out" 2>"$work/err" </dev/null
echo $? >"$work/status"
! status_is 0 && said 'File too large' && [ ! -e "$work/big.safetensors" ]
ok $? "a file that rank 0 cannot write is an error of all"

echo "1..$count"
