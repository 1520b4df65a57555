#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Writeback pressure among the resident metrics: as often, as long and for as many bytes as
# a task sees at the same time, for the disk that does not keep up, and for no other.
#
# needs: modules=null_blk,ext4 programs=dd,mkfs.ext4
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

make_null_blk nullb_a mbps=8
disk=$made_disk
make_null_blk nullb_b
other=$made_disk
for d in "$disk" "$other"; do
	mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0 "/dev/$d"
done
mkdir -p /mnt /tmp/other
mount "/dev/$disk" /mnt
mount "/dev/$other" /tmp/other
settle

# throttles FILTER
throttles()
{
	monad-storage latency --json | jq -c "[.writeback[] | $1]"
}

start_recording
dd if=/dev/zero of=/mnt/f bs=64k count=2 2>/dev/null
is "$(throttles .disk)" "[]" "a small write is no pressure"
echo $((1 << 20)) >/proc/sys/vm/dirty_background_bytes
echo $((2 << 20)) >/proc/sys/vm/dirty_bytes
begin_task writeback-pressure
dd if=/dev/zero of=/mnt/f bs=64k count=160 2>/dev/null
sync
end_task
at_least "$(task_summary .operations)" 3 "a large one is put to sleep"
is "$(throttles "select(.disk == \"$disk\") | .throttles")" "[$(task_summary .operations)]" \
	"as often as the task saw"
is "$(throttles "select(.disk == \"$disk\") | .dirtied_bytes")" \
	"[$(task_summary '.ops.throttle.bytes')]" "as much had been dirtied"
is "$(throttles "select(.disk == \"$disk\") | .slept.sum_ns")" \
	"[$(task_events .latency_ns | awk '{ sum += $1 } END { printf "%d", sum }')]" "as long"
is "$(throttles "select(.disk == \"$disk\") | .slept.samples == .throttles")" "[true]" \
	"each in the histogram"
dd if=/dev/zero of=/tmp/other/f bs=64k count=4 conv=fsync 2>/dev/null
is "$(throttles "select(.disk != \"$disk\") | .disk")" "[]" "the disk that keeps up has none"
is "$(monad-storage latency --json | jq -c '[.series[].op] | unique - ["read", "write",
	"flush", "discard", "cache_flush"]')" "[]" "and it is no operation"
monad-storage latency | grep "writers were put to sleep" >/tmp/line
is "$(awk '{ print $1, $7 }' /tmp/line)" "$disk: $(task_summary .operations)" \
	"$(cat /tmp/line)"
monad-storage export --once >/tmp/metrics
is "$(grep "^monad_storage_writeback_throttles_total{" /tmp/metrics)" \
	"monad_storage_writeback_throttles_total{device=\"$disk\"} $(task_summary .operations)" "exported"
is "$(grep -c "^monad_storage_writeback_dirtied_bytes_total{device=\"$disk\"} $(
	task_summary '.ops.throttle.bytes')$" /tmp/metrics)" 1 "with its bytes"
grep "^monad_storage_writeback_throttled_seconds_total{device=\"$disk\"} 0\.0*[1-9]\|\} [1-9]" \
	/tmp/metrics >/dev/null
ok $? "and seconds"

start_recording -d "$other"
dd if=/dev/zero of=/mnt/f bs=64k count=160 2>/dev/null
is "$(throttles .disk)" "[]" "that of a disk which is not recorded is not counted"
monad-storage stop >/dev/null
echo 20 >/proc/sys/vm/dirty_ratio
echo 10 >/proc/sys/vm/dirty_background_ratio
umount /mnt /tmp/other
done_testing
