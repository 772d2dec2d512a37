#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Ranks on two hosts: network namespaces with a name and a link between them, of which Open MPI knows no more than of two
# machines.  The bits of one process come over slow links, too, and a link that is cut ends all.  For root; skipped where
# there are no such namespaces, or no Open MPI.

name=ranks_hosts
# shellcheck source=tests/mpirun.sh
. "${abs_top_srcdir:-.}/tests/mpirun.sh"

first=cavs-first-$$ second=cavs-second-$$
first_address=10.77.7.1 second_address=10.77.7.2

leave() {
    ip netns del "$first"
    ip netns del "$second"
    rm -rf "$work"
} 2>/dev/null
trap leave EXIT

hosts() {
    ip netns add "$first" && ip netns add "$second" &&
        ip link add wire netns "$first" type veth peer name wire netns "$second" || return
    for each in "$first $first_address" "$second $second_address"; do
        ip -n "${each% *}" link set lo up && ip -n "${each% *}" addr add "${each#* }/30" dev wire &&
            ip -n "${each% *}" link set wire up || return
    done
}
if ! mpirun --version 2>/dev/null | grep -q 'Open MPI'; then
    echo "1..0 # SKIP no Open MPI"
    exit
elif ! hosts 2>"$work/err"; then
    echo "1..0 # SKIP no network namespaces for this user: $(tail -n 1 "$work/err")"
    exit
fi

# What mpirun starts the other host's daemon by: the words after the host's address are a line for a shell.
cat >"$work/agent" <<END
#!/bin/sh
shift
exec ip netns exec $second unshare --uts sh -c 'hostname second && exec sh -c "\$1"' sh "\$*"
END
# A rank takes the core of its number, since each host believes that it has all of this machine.
cat >"$work/placed" <<'END'
#!/bin/sh
core=$((OMPI_COMM_WORLD_RANK % $(nproc)))
export STARPU_WORKERS_CPUID=$core STARPU_MAIN_THREAD_CPUID=$core
exec "$@"
END
chmod +x "$work/agent" "$work/placed"

# over_hosts RANKS PROGRAM ARGUMENT...: in so many ranks on each host
over_hosts() {
    n=$1 program=$2
    shift 2
    ip netns exec "$first" unshare --uts sh -c 'hostname first && exec "$@"' sh timeout 120 \
        mpirun --mca plm_rsh_agent "$work/agent" -H "$first_address:$n,$second_address:$n" -x LD_LIBRARY_PATH \
        "$work/placed" "$apps/$program" "$@" >"$work/out" 2>"$work/err" </dev/null
    echo $? >"$work/status"
}

# shaped RATE DELAY: of both ends of the link
shaped() {
    for host in "$first" "$second"; do
        tc -n "$host" qdisc replace dev wire root netem rate "$1" delay "$2" limit 10000 || return
    done
} 2>"$work/tc"

# limited RATE: where this system has no netem
limited() {
    for host in "$first" "$second"; do
        tc -n "$host" qdisc replace dev wire root tbf rate "$1" burst 512k latency 50ms || return
    done
} 2>"$work/tc"

options="$small --hidden 128 --embed 64 --dev $data/mini-dev.txt --epochs 4 --quiet --json"
# shellcheck disable=SC2086 # a list
run tree_lstm $options --save "$work/one.safetensors"
results >"$work/one"

# same RANKS DESCRIPTION: as one process, and how long messages were waited for
same() {
    rm -f "$work/model"
    # shellcheck disable=SC2086
    over_hosts "$1" tree_lstm $options --save "$work/model"
    results >"$work/two"
    status_is 0 && [ -s "$work/one" ] && cmp -s "$work/one" "$work/two" && cmp -s "$work/one.safetensors" "$work/model"
    ok $? "$2: the bits of one process" "$work/err" "$work/one" "$work/two"
    echo "# $(field batches) batches, $(field bytes_sent) bytes from rank 0, not hidden $(field exchange_exposed_s) s"
}

same 1 "a rank on each of two hosts"
same 2 "two ranks on each of two hosts"
while read -r rate delay; do
    if shaped "$rate" "$delay"; then
        same 1 "two hosts, $rate and $delay between them"
    elif limited "$rate"; then
        same 1 "two hosts, $rate between them (this system has no netem for delays)"
    else
        skip "two hosts, $rate and $delay between them" "$(tail -n 1 "$work/tc")"
    fi
done <<END
10gbit 0.1ms
1gbit 1ms
END

# The link is cut in the midst of a run.
(
    # shellcheck disable=SC2086
    over_hosts 1 tree_lstm $small --epochs 1000000 --quiet --checkpoint "$work/kept" --every 3
) &
appears "$work/kept/checkpoint.safetensors" 150
ip -n "$first" link set wire down
cut=$(date +%s)
# ranks_are_there HOST: does one run there?
ranks_are_there() {
    for pid in $(ip netns pids "$1"); do
        grep -q tree_lstm "/proc/$pid/comm" && return
    done 2>/dev/null
    return 1
}
while ranks_are_there "$first" || ranks_are_there "$second"; do
    [ $(($(date +%s) - cut)) -lt 20 ] || break
    sleep 0.2
done
took=$(($(date +%s) - cut))
ip -n "$first" link set wire up
wait
! status_is 0 && [ $took -lt 15 ] && grep -q 'rank 1 has said nothing for 6 s' "$work/err"
ok $? "a link that is cut ends the ranks of both hosts, and the lost one is named" "$work/err" "$work/status"
echo "# after $took s"

echo "1..$count"
