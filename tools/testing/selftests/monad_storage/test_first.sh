#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The first I/O on a device that was not seen before, by two CPUs at the same time, again
# and again: each is counted once, and of each kind there is one row.
#
# needs: modules=null_blk programs=fio
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

start_recording
n=0
while [ $n -lt 12 ]; do
	n=$((n + 1))
	make_null_blk nullb_$n size=8 irqmode=0 submit_queues=2
	before=$(diskstats "$made_disk")
	first=$(monad-storage latency --json | jq --arg disk "$made_disk" '[.series[] |
		select(.disk == $disk and .op == "write")] | length')
	fio --output=/dev/null --direct=1 --ioengine=psync --bs=4k --rw=write --size=1m \
		--io_size=80k --numjobs=2 --cpus_allowed=0,1 --cpus_allowed_policy=split \
		--name=f --filename="/dev/$made_disk"
	after=$(diskstats "$made_disk")
	want=$(difference "$before" "$after" | awk '{ print $3 }')
	got=$(monad-storage latency --json | jq -c --arg disk "$made_disk" '[.series[] |
		select(.disk == $disk and .op == "write") | .ops]')
	if [ "$first" != 0 ] || [ "$want" != 40 ] || [ "$got" != "[$want]" ]; then
		echo "# $made_disk: $first rows before, $got after, of $want writes"
		bad=1
	fi
done
is "${bad-0}" 0 "$n new disks: one row each, with all its writes"
is "$(counter orphans)" 0 "and none without a beginning"
monad-storage stop >/dev/null
done_testing
