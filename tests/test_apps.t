#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# tree_fc and tree_lstm from outside: what they say to wrong input, and their results.  What they share with all programs is
# in test_programs.t.

data=${abs_top_srcdir:-.}/tests/data
apps=${abs_top_builddir:-.}/apps
work=$(mktemp -d "${abs_top_builddir:-.}/tests/home/apps.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT

# shellcheck source=tests/programs.sh
. "${abs_top_srcdir:-.}/tests/programs.sh"

small="--hidden 8 --embed 8 --workers 2"
mini="--train $data/mini.txt --dev $data/mini-dev.txt --batch 4"

# --- options -----------------------------------------------------------------------------------------

while IFS='|' read -r program arguments message; do
    # the arguments are split on purpose
    # shellcheck disable=SC2086
    run "$program" $arguments
    status_is 2 && said "$message" && [ ! -s "$work/out" ]
    ok $? "$program $arguments is a mistake"
done <<'END'
tree_fc|--epochs many|--epochs wants a whole number from 0 up, not 'many'
tree_fc|--batch 0|--batch wants a whole number from 1 up, not '0'
tree_fc|--batch 99999999999|--batch wants a whole number from 1 to 2147483647, not '99999999999'
tree_fc|--lr fast|--lr wants a number
tree_fc|--lr nan|--lr wants a number
tree_fc|--lr -1|--lr wants a number
tree_fc|--seed -1|--seed wants a whole number
tree_fc|--sched nothing|, not 'nothing'
tree_fc|--optimizer lbfgs|--optimizer wants one of sgd,
tree_fc|--workers 0|--workers 0 leaves nothing to compute with
tree_fc|--tf32|--tf32 is for CUDA devices: add --gpus
tree_fc|--require|--require is for what --gpus, --opencl or --trace ask for
tree_fc|--samples 2147483647 --leaves 16777216|--samples 2147483647: so many trees of 16777216 leaves take 1152921
tree_fc|--embed 9|unrecognized option
END

run tree_fc --leaves 1 --samples 1 --epochs 1 --hidden 8 --workers 1 --quiet
status_is 0 && grep -q '^tree_fc: 1 epoch, 1 sample, 1 vertex in ' "$work/out"
ok $? "what there is one of is not said to be several"

# what is blank before a number is no part of one
while IFS='|' read -r option wants; do
    run tree_fc "--$option" ' 3'
    status_is 2 && said "--$option wants $wants" && said "not ' 3'" && [ ! -s "$work/out" ]
    ok $? "--$option with a blank before the number is a mistake"
done <<'END'
epochs|a whole number
seed|a whole number
gpus|a whole number
lr|a number
END

# --- wrong input ---------------------------------------------------------------------------------------

run tree_lstm --train /dev/zero
status_is 1 && said "/dev/zero:1:1: expected text, found a NUL byte" && [ ! -s "$work/out" ]
ok $? "a device of endless zeros is refused at once"
tr '\0' x </dev/zero 2>/dev/null | "$apps/tree_lstm" --train /dev/stdin >"$work/out" 2>"$work/err"
echo $? >"$work/status"
status_is 1 && said ":1: 256 MB without an end of the line: is it text?" && [ ! -s "$work/out" ]
ok $? "and so is a line that does not end"

printf '(2 (1 good) (3 film))\n(2 (1 bad)\n(1 next)\n' >"$work/bad.txt"
run tree_lstm --train "$work/bad.txt"
status_is 1 && said "$work/bad.txt:3:1: expected ')' for the '(' at 2:1" && [ ! -s "$work/out" ]
ok $? "malformed brackets: file, line and column"

run tree_lstm --train "$data/mini-any.txt"
status_is 1 && said "mini-any.txt:1: a vertex of this tree has 1 child, --cell bench wants two: take --cell childsum"
ok $? "a cell for two children refuses others"

mkdir "$work/three"
echo '1 2' >"$work/three/sents_idx.txt"
echo '3 3 4' >"$work/three/parents.txt"
echo '1 1 1' >"$work/three/labels.txt"
run tree_lstm --train "$work/three"
status_is 1 && said "$work/three/parents.txt:1:5: expected a vertex from 1 to 3 or 0 for the root"
ok $? "malformed three-file form: file, line and column"

: >"$work/empty.txt"
printf '\n \n' >"$work/blank.txt"
for program in var_lstm fixed_lstm; do
    run $program --train "$work/blank.txt"
    status_is 1 && said "$work/blank.txt: no words in it"
    ok $? "$program: a text of empty lines is refused"
done
run tree_lstm --train "$work/empty.txt"
status_is 1 && said "$work/empty.txt: no samples in it"
ok $? "an empty treebank is refused"

# shellcheck disable=SC2086
run tree_lstm $small $mini --quiet --init "$work/none.safetensors"
status_is 1 && said "none.safetensors"
ok $? "a missing model file is named"

# --- results -------------------------------------------------------------------------------------------

run tree_fc --hidden 8 --leaves 5 --samples 10 --batch 4 --epochs 2 --workers 2 --json --quiet
status_is 0 && [ "$(field samples)" -eq 20 ] && [ "$(field vertices)" -eq 180 ]
ok $? "samples and vertices are counted"

for tree in balanced random sequence; do
    for variant in fold cavs; do
        run tree_fc --hidden 8 --leaves 9 --samples 6 --batch 4 --epochs 1 --workers 2 \
            --tree $tree --variant $variant --json
        # 8 or 17 cells a tree, each 2 x 16 x 8 operations forward and twice that backward
        cells=8
        [ $variant = cavs ] && cells=17
        status_is 0 && holds "$(field flops) == 6 * $cells * 3 * 256" && holds "$(field loss) > 0"
        ok $? "tree_fc --tree $tree --variant $variant counts its arithmetic"
    done
done

diverging="--hidden 16 --leaves 256 --tree sequence --variant cavs --lr 10 --epochs 3 --samples 8"
# shellcheck disable=SC2086
run tree_fc $diverging --json --workers 2
status_is 3 && [ "$(field loss)" = null ] && said "the loss is not finite"
ok $? "a loss that is not finite is null, and is warned of"

# shellcheck disable=SC2086
run tree_fc $diverging --json --workers 2 --check-finite
status_is 1 && said "operator" && said "function tree." && said "vertex"
ok $? "--check-finite stops and says where"

for cell in bench childsum nary; do
    # shellcheck disable=SC2086
    run tree_lstm $small $mini --cell $cell --epochs 60 --lr 0.02 --json --quiet
    status_is 0 && [ "$(field samples)" -eq 360 ] && holds "$(field train_accuracy_all) > 0.9" &&
        holds "$(field loss) < 0.5" && holds "$(field dev_accuracy_root) >= 0"
    ok $? "tree_lstm --cell $cell learns six sentences"
done

# shellcheck disable=SC2086
run tree_lstm $small --train "$data/mini-any.txt" --cell childsum --epochs 2 --json
status_is 0 && [ "$(field vertices)" -eq 32 ]
ok $? "childsum takes any number of children"

{
    printf '(1'
    i=0
    while [ $i -lt 10000 ]; do
        printf ' (%d w%d)' $((i % 5)) $((i % 50))
        i=$((i + 1))
    done
    echo ')'
} >"$work/wide.txt"
# a limit that only the numbers of children could exceed
CAVS_COMPILE_TIMEOUT=60 run tree_lstm --hidden 8 --embed 8 --workers 2 --train "$work/wide.txt" \
    --cell childsum --epochs 2 --json --quiet
status_is 0 && [ "$(field vertices)" -eq 20002 ] && holds "$(field loss) < 1.7" &&
    holds "$(field loss) > 1.5" && silent
ok $? "ten thousand children of one vertex, in little time"

# shellcheck disable=SC2086
(
    # shellcheck disable=SC3045 # dash has it, too
    ulimit -v 8000000
    CAVS_FUSION=interpret run tree_lstm $small $mini --batch 2147483647 --epochs 1 --quiet --json
)
status_is 0 && [ "$(field samples)" -eq 6 ]
ok $? "a batch larger than the data takes no more memory than they do"

# shellcheck disable=SC2086
run tree_lstm $small --train "$data/mini-three" --epochs 2 --json
status_is 0 && [ "$(field vertices)" -eq 26 ] && [ "$(field words)" -eq 7 ]
ok $? "the three-file form is read from a folder"

# shellcheck disable=SC2086
run tree_lstm $small $mini --epochs 3 --json --quiet --save "$work/model.safetensors"
trained=$(field dev_loss)
# shellcheck disable=SC2086
run tree_lstm $small $mini --json --quiet --infer --init "$work/model.safetensors"
[ -n "$trained" ] && holds "($trained - $(field dev_loss)) ^ 2 < 1e-12"
ok $? "--save, then --init and --infer: the same loss"
[ "$(field epochs)" -eq 1 ]
ok $? "--infer looks at the data once"
# shellcheck disable=SC2086
run tree_lstm $small $mini --epochs 3 --quiet --save "$work/half.safetensors" --save-precision bfloat16
# shellcheck disable=SC2086
run tree_lstm $small $mini --json --quiet --infer --init "$work/half.safetensors"
holds "($trained - $(field dev_loss)) ^ 2 < 1e-3" && [ "$(field dev_loss)" != "$trained" ] &&
    grep -q '"dtype":"BF16"' "$work/half.safetensors" && ! grep -q '"dtype":"F32"' "$work/half.safetensors"
ok $? "--save-precision bfloat16: the model, rounded"
run tree_fc --save-precision bfloat16
status_is 2 && said "--save-precision wants --save FILE"
ok $? "--save-precision without --save"

sst=${CAVS_DATA:-../shared/data}/sst
if [ -r "$sst/train.txt" ] && [ -r "$sst/dev.txt" ]; then
    run tree_lstm --hidden 16 --embed 16 --epochs 1 --json --quiet
    status_is 0 && [ "$(field samples)" -eq 8544 ] && [ "$(field vertices)" -eq 318582 ] &&
        [ "$(field words)" -eq 18281 ] && holds "$(field loss) < 1.5" &&
        holds "$(field dev_accuracy_all) > 0.6"
    ok $? "an epoch on the Stanford Sentiment Treebank"
else
    skip "an epoch on the Stanford Sentiment Treebank" "no data set at $sst"
fi

echo "1..$count"
