#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The kernel skips a program that would interrupt itself. One disk ends its I/O in the
# task that asked for it, another in an interrupt, on the same CPU: now and then an end
# is not seen. It is made good when its request is used for the next I/O.
#
# needs: modules=null_blk programs=fio
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

make_null_blk nullb_a irqmode=2 completion_nsec=10000 hw_queue_depth=8
a=$made_disk
make_null_blk nullb_b irqmode=0
b=$made_disk
settle

misses()
{
	monad-storage status --json | jq '[.hooks[].recursion_misses] | add'
}

# load: reads of both disks by the same CPU, for a second
load()
{
	fio --output=/dev/null --direct=1 --cpus_allowed=0 --rw=randread --time_based \
		--runtime="$slowness" --bs=4k \
		--name=interrupts --filename="/dev/$a" --ioengine=libaio --iodepth=4 \
		--name=at_once --filename="/dev/$b" --ioengine=psync
}

start_recording
before_a=$(diskstats "$a")
before_b=$(diskstats "$b")
rounds=0
while [ $rounds -lt 20 ] && [ "$(misses)" -lt 3 ]; do
	runs "both disks read" load
	rounds=$((rounds + 1))
done
at_least "$(misses)" 3 "programs were skipped"
# What they left is not under way for ever.
nap 20
is "$(monad-storage status --json | jq -r '.inflight | add')" 0 "nothing seems to be in flight"
ended=$(monad-storage inflight --json | jq '.ended_unseen')
is "$(($(counter ends_unseen) + ended))" "$(misses)" "all that was skipped were ends, $ended of them \
not counted yet"
is "$(monad-storage inflight 2>&1 | grep -c "$ended more have ended, and nobody saw it")" \
	$((ended > 0)) "which is said"
# All 8 requests are used once more, and those of the other disk, too.
for disk in "$a" "$b"; do
	runs "$disk: every request once more" fio --output=/dev/null --direct=1 --name=f \
		--filename="/dev/$disk" --ioengine=libaio --iodepth=8 --iodepth_batch=8 \
		--rw=read --bs=4k --size=4m
done
summarize
is "$(monad-storage latency --json | jq -r --arg disk "$a" '[.series[] |
	select(.disk == $disk) | .ops] | add')" \
	"$(difference "$before_a" "$(diskstats "$a")" | awk '{ print $1 }')" \
	"$a: the metrics have as many reads as /proc/diskstats"
is "$(diskstats_from_events "$a")" "$(difference "$before_a" "$(diskstats "$a")")" \
	"$a: and so have the events"
is "$(diskstats_from_events "$b")" "$(difference "$before_b" "$(diskstats "$b")")" \
	"$b: likewise"
unseen=$(counter ends_unseen)
at_least "$unseen" 1 "ends were not seen"
events --since "$began" | grep end_unseen | jq -c 'select(.type == "rq_complete")' >/tmp/unseen
is "$(wc -l </tmp/unseen)" "$unseen" "their events say so"
is "$(jq '.device_ns, .total_ns | numbers' /tmp/unseen | wc -l)" 0 "and have no time"
is "$(monad-storage status --json | jq -r '.inflight | add')" 0 "nothing is left in flight"
monad-storage stop >/dev/null
done_testing
