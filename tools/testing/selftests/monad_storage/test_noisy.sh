#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Somebody else's kprobe programs run all along the way of each I/O. They keep other
# kprobe programs from running; not ours.
#
# needs: modules=null_blk programs=fio built=noisy
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

ios=${full:+1000000}
ios=${ios:-50000}

make_null_blk nullb_a irqmode=2 completion_nsec=10000 memory_backed=0
a=$made_disk
make_null_blk nullb_b memory_backed=0
b=$made_disk
settle
noisy >/tmp/noisy &
noisy=$!
wait_for grep -q attached /tmp/noisy
ok $? "the neighbour is there"
start_recording
before_a=$(diskstats "$a")
before_b=$(diskstats "$b")
runs "fio: 2 x $((ios / 2)) I/Os" fio --output=/dev/null --direct=1 --rw=randrw --bs=4k \
	--io_size=$((ios / 2 * 4))k --norandommap --ioengine=libaio --iodepth=8 \
	--name=a --filename="/dev/$a" --name=b --filename="/dev/$b"
sync
nap 2
done_a=$(difference "$before_a" "$(diskstats "$a")")
done_b=$(difference "$before_b" "$(diskstats "$b")")
at_least "$(echo "$done_a $done_b" | awk '{ print $1 + $3 + $8 + $10 }')" "$ios" "they were done"
kill $noisy
wait $noisy
hits=$(awk '{ print $1 }' /tmp/noisy | tail -n 1)
at_least "$hits" "$ios" "the neighbour's programs ran $hits times"

# reads_and_writes DISK: operations of the resident metrics
reads_and_writes()
{
	monad-storage latency --json -d "$1" | jq -r '[.series[] | select(.op == "read").ops],
		[.series[] | select(.op == "write").ops] | add // 0' | xargs
}
is "$(reads_and_writes "$a")" "$(echo "$done_a" | awk '{ print $1, $3 }')" \
	"$a: as many as /proc/diskstats has"
is "$(reads_and_writes "$b")" "$(echo "$done_b" | awk '{ print $1, $3 }')" "$b: likewise"
monad-storage status --json >/tmp/status
missed=$(jq '[.hooks[].recursion_misses] | add' /tmp/status)
echo "# the kernel skipped our programs $missed times"
is "$(jq '[.losses.ring, (.losses.probe | del(.recursion_misses)) | add] | add' /tmp/status)" \
	"$(jq '.counters.ends_unseen' /tmp/status)" "what was lost is what was skipped"
[ "$(jq '.counters | .ends_unseen + .ends_caught' /tmp/status)" -le "$missed" ]
ok $? "and that is known: no more than $missed"
monad-storage stop >/dev/null
done_testing
