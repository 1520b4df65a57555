#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# An I/O is charged to who asked for it, also where a kworker hands it to the
# device, and all of it to nobody else.
#
# needs: modules=null_blk,mq-deadline programs=dd
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

make_null_blk nullb_a irqmode=2 completion_nsec=100000
disk=$made_disk
settle

for scheduler in none mq-deadline; do
	echo $scheduler >"/sys/block/$disk/queue/scheduler"
	start_recording -d "$disk"
	dd if=/dev/zero of="/dev/$disk" bs=16k count=100 oflag=direct 2>/dev/null &
	pid=$!
	wait $pid
	dd if="/dev/$disk" of=/dev/null bs=16k count=50 iflag=direct 2>/dev/null
	summarize
	is "$(events --since "$began" -o write -p $pid |
		jq -r '[.comm, .pid, .tid] | join(" ")' | sort | uniq -c | xargs)" \
		"100 dd $pid $pid" "$scheduler: 100 direct writes by dd, process $pid"
	is "$(ops "$disk" write)" 100 "$scheduler: and no others"
	is "$(ops "$disk" read)" 50 "$scheduler: 50 reads"
	is "$(from_summary '[.actors[] | select(.kthread)] | length')" 0 \
		"$scheduler: no kernel thread among the actors"
	nothing_lost
done

# Writeback is by a kernel thread, and said to be.
start_recording -d "$disk"
dd if=/dev/zero of="/dev/$disk" bs=64k count=16 2>/dev/null
sync
summarize
is "$(ops "$disk" write bytes)" 1048576 "buffered: all bytes are there"
monad-storage stop >/dev/null
done_testing
