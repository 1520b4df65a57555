#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The kernel skips a program that would interrupt itself. One disk ends its I/O in the
# task that asked for it, another in an interrupt, on the same CPU: now and then the program
# is skipped at an end, which a second one catches. What that does not see either is made
# good when its request is used for the next I/O; so is all of it without that program.
# An fsync, of which nothing goes to the device but a flush of all, is found likewise.
#
# needs: modules=null_blk programs=fio
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

make_null_blk nullb_a irqmode=2 completion_nsec=1000000 hw_queue_depth=8
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

# skip N: at so many ends or more
skip()
{
	rounds=0
	while [ $rounds -lt 20 ] && [ "$(misses)" -lt "$1" ]; do
		runs "both disks read" load
		rounds=$((rounds + 1))
	done
	at_least "$(misses)" 1 "programs were skipped: $(misses) times"
}

# (Ends only: steps would send the ring round.)
start_recording --events=ends
before_a=$(diskstats "$a")
before_b=$(diskstats "$b")
skip 8
nap 20
caught=$(counter ends_caught)
ended=$(monad-storage inflight --json | jq '.ended_unseen')
at_least "$caught" 1 "a second one saw the end, $caught times"
is "$((caught + ended + $(counter ends_unseen)))" "$(misses)" "each is one of these, or not seen: \
$ended and $(counter ends_unseen)"
is "$(monad-storage status --json | jq .losses.probe.recursion_misses)" $(($(misses) - caught)) \
	"what was caught is no loss"
for disk in "$a" "$b"; do
	runs "$disk: every request once more" fio --output=/dev/null --direct=1 --name=f \
		--filename="/dev/$disk" --ioengine=libaio --iodepth=8 --iodepth_batch=8 \
		--rw=read --bs=4k --size=4m
done
nap 2
for disk in "$a" "$b"; do
	[ "$disk" = "$a" ] && before=$before_a || before=$before_b
	did=$(difference "$before" "$(diskstats "$disk")" | awk '{ print $1 }')
	is "$(monad-storage latency --json | jq -r --arg disk "$disk" '[.series[] |
		select(.disk == $disk and .op == "read") | .ops] | add')" "$did" \
		"$disk: as many reads as /proc/diskstats"
	timed=$(monad-storage latency --json | jq -r --arg disk "$disk" '[.series[] |
		select(.disk == $disk and .op == "read") | .total.samples] | add')
	is "$timed" $((did - $([ "$disk" = "$a" ] && counter ends_unseen || echo 0))) \
		"and as many times, but of what nobody saw"
done

# Without the second one.
start_recording --events=ends
rm /sys/fs/bpf/monad_storage/link_block_rq_complete_skipped
before_a=$(diskstats "$a")
before_b=$(diskstats "$b")
skip 2
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

# Flushes that end in an interrupt, and with them the fsyncs that wait for them.
make_null_blk nullb_c irqmode=2 completion_nsec=1000000 hw_queue_depth=8 submit_queues=1 cache_size=4
c=$made_disk
settle
for second in with without; do
	start_recording --events=ends
	[ $second = with ] || rm /sys/fs/bpf/monad_storage/link_block_rq_complete_skipped
	before_c=$(diskstats "$c")
	rounds=0
	while [ $rounds -lt 10 ] && [ "$(misses)" -lt 4 ]; do
		runs "one disk is flushed, one is read" fio --output=/dev/null --cpus_allowed=0 \
			--time_based --runtime="$slowness" --bs=4k \
			--name=flushes --filename="/dev/$c" --ioengine=psync --rw=randwrite --fsync=1 \
			--name=at_once --filename="/dev/$b" --ioengine=psync --direct=1 --rw=randread
		rounds=$((rounds + 1))
	done
	echo "# programs were skipped $(misses) times, $(counter ends_caught) ends were caught"
	nap 20
	# (Before 6.5 an fsync is known by its bio, which the kernel has no word about: that of the
	# last one of a thread is where no other comes.)
	is "$(monad-storage inflight --json |
		jq '[.inflight[] | select(.state == "issued")] | length')" 0 \
		"nothing seems to be with its device"
	# All that is used is used once more, those of a scheduler as well.
	runs "$c: each request once more" fio --output=/dev/null --direct=1 --name=f \
		--filename="/dev/$c" --ioengine=libaio --iodepth=32 --iodepth_batch=32 --rw=read \
		--bs=4k --size=4m
	runs "$c: and flushes" fio --output=/dev/null --direct=1 --name=g --filename="/dev/$c" \
		--ioengine=psync --rw=write --bs=4k --size=256k --fsync=1
	settle
	left=$(monad-storage inflight --json | jq '.inflight | length')
	[ "$left" -eq 0 ] || [ "$(monad-storage status --json | jq '.hooks[] |
		select(.hook == "block_getrq") | .attached')" = true ]
	ok $? "and none is kept for ever where requests are known: $left"
	is "$(diskstats_from_metrics "$c" | awk -v left="$left" '{ $3 += left; print }')" \
		"$(difference "$before_c" "$(diskstats "$c")")" \
		"$c, $second a second program: fsyncs and flushes as /proc/diskstats has them"
	echo "# $(counter ends_unseen) ends were not seen, of these $(events --since "$began" -o flush |
		grep -c end_unseen) of fsyncs"
done
monad-storage stop >/dev/null
done_testing
