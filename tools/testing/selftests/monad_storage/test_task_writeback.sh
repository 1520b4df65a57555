#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# writeback-pressure: who is put to sleep because a disk does not keep up with what is
# dirtied, and nobody is where it does.
#
# needs: modules=null_blk,ext4 programs=dd,mkfs.ext4
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

make_null_blk nullb_a mbps=8
disk=$made_disk
make_null_blk nullb_b
other=$made_disk
mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0 "/dev/$disk"
mkdir -p /mnt
mount "/dev/$disk" /mnt
settle

begin_task writeback-pressure
dd if=/dev/zero of=/mnt/f bs=64k count=2 2>/dev/null
end_task
is "$(task_summary '[.operations, .reason] | join(" ")')" "0 nothing" "a small write is no pressure"

echo $((1 << 20)) >/proc/sys/vm/dirty_background_bytes
echo $((2 << 20)) >/proc/sys/vm/dirty_bytes
begin_task writeback-pressure
dd if=/dev/zero of=/mnt/f bs=64k count=160 2>/dev/null &
pid=$!
wait $pid
end_task
at_least "$(task_events "select(.pid == $pid) | .seqno" | wc -l)" 3 "a large one is put to sleep"
is "$(task_events "select(.pid == $pid) | [.type, .op, .comm, .disk] | join(\" \")" | sort -u | xargs)" \
	"dirty_throttle throttle dd $disk" "and it is known who, for which disk"
is "$(task_events 'select(.latency_ns < 1000000 or .latency_ns > 200000000) | .seqno' | wc -l)" 0 \
	"pauses are a tick at least, and the kernel's 200 ms at most"
at_least "$(task_events "select(.pid == $pid) | .bytes" | awk '{ sum += $1 } END { print sum }')" \
	1000000 "for megabytes that it dirtied"
is "$(task_summary '[.reason, .ops.throttle.operations == .operations, .top_devices[0].disk] |
	map(tostring) | join(" ")')" "dirty_throttling true $disk" "the summary"
at_least "$(task_summary '.operations')" 3 "has them"

begin_task writeback-pressure -d "$other"
dd if=/dev/zero of=/mnt/f bs=64k count=80 2>/dev/null
end_task
is "$(task_summary .operations)" 0 "nobody waits for another disk"
begin_task writeback-pressure -p $$
dd if=/dev/zero of=/mnt/f bs=64k count=80 2>/dev/null
end_task
is "$(task_summary .operations)" 0 "nor does another process"
echo 20 >/proc/sys/vm/dirty_ratio
echo 10 >/proc/sys/vm/dirty_background_ratio
umount /mnt
done_testing
