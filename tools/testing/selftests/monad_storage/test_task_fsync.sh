#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# fsync-latency: who asked for a sync, counted apart to the call, by process, device and
# operation; syncs within syncs; and one that does not end.
#
# needs: modules=null_blk,ext4,overlay,loop programs=perl,fio,mkfs.ext4,dd,sync
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

make_null_blk nullb_a cache_size=4 irqmode=2 completion_nsec=1000000
disk=$made_disk
mkfs.ext4 -q "/dev/$disk"
mkdir -p /mnt
mount "/dev/$disk" /mnt
settle

# 7 fsync, 11 fdatasync, 5 writes with O_SYNC and 1 with RWF_SYNC, 3 with O_DSYNC and 2 with
# RWF_DSYNC, 4 msync; and 9 writes that sync nothing. Numbers are those of x86-64.
cat >/tmp/syncs.pl <<'PERL'
my $block = "x" x 4096;
my $iov = pack("PQ", $block, 4096);
sysopen(my $f, "$ARGV[0]/plain", 0102) or die;
for (1 .. 9) { syswrite($f, $block) == 4096 or die }
for (1 .. 7) { syscall(74, fileno($f)) and die }
for (1 .. 11) { syscall(75, fileno($f)) and die }
syscall(328, fileno($f), $iov, 1, 0, 0, 4) == 4096 or die;
for (1 .. 2) { syscall(328, fileno($f), $iov, 1, 0, 0, 2) == 4096 or die }
my $address = syscall(9, 0, 4096, 3, 1, fileno($f), 0);
for (1 .. 4) { syscall(26, $address, 4096, 4) and die }
sysopen(my $s, "$ARGV[0]/sync", 0102 | 04010000) or die;
for (1 .. 5) { syswrite($s, $block) == 4096 or die }
sysopen(my $d, "$ARGV[0]/dsync", 0102 | 010000) or die;
for (1 .. 3) { syswrite($d, $block) == 4096 or die }
PERL
all="dsync_write=5 fdatasync=11 fsync=7 msync=4 sync_write=6"
counts='.ops | to_entries | map(.key + "=" + (.value.operations | tostring)) | sort | join(" ")'

begin_task fsync-latency -d "$disk"
perl /tmp/syncs.pl /mnt
is $? 0 "all kinds of syncs"
end_task
is $status 0 "^C ends it well"
is "$(task_summary "$counts")" "$all" "each is counted as what it is"
is "$(task_events .op | sort | uniq -c | xargs)" \
	"5 dsync_write 11 fdatasync 7 fsync 4 msync 6 sync_write" "and printed as that"
is "$(task_events '[.comm, .fs, .disk, .error // "-"] | join(" ")' | sort | uniq -c | xargs)" \
	"33 perl ext4 $disk -" "with who, the file system and the disk"
is "$(task_events 'select(.op == "sync_write") | .file' | sort | uniq -c | xargs)" "1 plain 5 sync" \
	"and the file"
is "$(task_events 'select(.file == "sync") | .inode' | sort -u)" "$(stat -c %i /mnt/sync)" \
	"and its inode"
is "$(task_summary '[.ops[] | select(.p50_ns <= .p99_ns and .p99_ns <= .max_ns)] | length')" 5 \
	"percentiles are in order"
at_least "$(task_events .latency_ns | sort -n | tail -n 1)" 2000000 "one took its flush and its write"
is "$(task_summary .max_ns)" "$(task_events .latency_ns | sort -n | tail -n 1)" \
	"the largest is the same in sums and events"
is "$(task_summary '[.kind, .ended_by, .operations, .events, .top_devices[0].disk,
	.top_devices[0].operations] | join(" ")')" \
	"fsync-latency interrupt 33 33 $disk 33" "the summary"
is "$(task_summary '.slowest | length')" 5 "the five slowest"
nothing_left_out

begin_task fsync-latency -d "$disk" -o fdatasync -o msync
perl /tmp/syncs.pl /mnt
end_task
is "$(task_summary "$counts")" "fdatasync=11 msync=4" "only two operations"

# io_uring's fsync is done by its own threads, for whom nobody is in a system call.
begin_task fsync-latency -d "$disk"
fio --name=u --filename=/mnt/u --ioengine=io_uring --rw=write --bs=4k --size=40k --fsync=2 \
	--end_fsync=0 --fsync_on_close=0 --create_fsync=0 >/dev/null
end_task
at_least "$(task_summary '.ops.io_uring_sync.operations // 0')" 4 "io_uring"
is "$(task_summary '.ops | keys | join(" ")')" "io_uring_sync" "and nothing else"

# The fsync of an overlay is that of the file below as well, once.
mkdir -p /mnt/lower /mnt/upper /mnt/work /overlay
mount -t overlay -o lowerdir=/mnt/lower,upperdir=/mnt/upper,workdir=/mnt/work none /overlay
dd if=/dev/zero of=/overlay/f bs=4k count=1 2>/dev/null
begin_task fsync-latency
for _ in 1 2 3 4 5; do
	/usr/bin/sync /overlay/f
done
end_task
is "$(task_summary "$counts")" "fsync=5" "5 fsyncs of an overlay"
is "$(task_summary .left_out.nested)" 5 "the 5 below are parts of them"
is "$(task_events .fs | sort | uniq -c | xargs)" "5 overlay" "and known by the overlay"
begin_task fsync-latency -d "$disk"
for _ in 1 2 3 4 5; do
	/usr/bin/sync /overlay/f
done
end_task
is "$(task_events '[.op, .fs] | join(" ")' | sort | uniq -c | xargs)" "5 fsync ext4" \
	"on the disk, it is the 5 below"
nothing_left_out
umount /overlay

# Kernel threads: what they do for others is not guessed at.
dd if=/dev/zero of=/mnt/image bs=64k count=16 2>/dev/null
sync
loop=$(losetup -f)
losetup "$loop" /mnt/image
begin_task fsync-latency
dd if=/dev/zero of="$loop" bs=4k count=1 conv=fsync 2>/dev/null
end_task
is "$(task_events 'select(.op == "fsync") | [.comm, .fs, .disk, .kthread] | map(tostring) |
	join(" ")' | xargs)" "dd bdev ${loop#/dev/} false" "fsync of a device"
at_least "$(task_events 'select(.op == "other_sync" and .kthread and .file == "image") | .seqno' |
	wc -l)" 1 "and loop's of its file"
losetup -d "$loop"
umount /mnt

# What hangs is not among the events, but it is known to have begun.
make_null_blk nullb_b cache_size=4 irqmode=2 completion_nsec=$((4000000000 * slowness))
begin_task fsync-latency -d "$made_disk" --duration 1s
dd if=/dev/zero of="/dev/$made_disk" bs=4k count=1 conv=fsync 2>/dev/null &
dd=$!
wait $task
is "$(task_summary '[.ended_by, .reason, .operations, .left_out.unfinished] | join(" ")')" \
	"duration unfinished 0 1" "a sync that does not end in time"
is "$(task_summary '[.unfinished[] | .op, .comm, .pid, .disk, (.latency_ns / 1e9 | . > 0.1 and . < 60)
	] | map(tostring) | join(" ")')" "fsync dd $dd $made_disk true" "whose it is, and since when"
wait $dd

# Nor does block-latency take for nothing what it finds under way.
start_recording
dd if=/dev/zero of="/dev/$made_disk" bs=4k count=1 seek=1 oflag=direct 2>/dev/null &
writer=$!
begin_task block-latency -d "$made_disk" --duration 1s
wait $task
is "$(task_summary '[.reason, .operations, .left_out.unfinished, (.unfinished[] | .op, .comm, .pid, .disk)
	] | map(tostring) | join(" ")')" "unfinished 0 1 write dd $writer $made_disk" \
	"block-latency: an I/O that hangs, and whose it is"
begin_task block-latency -d "$made_disk" -o read --duration 100ms
wait $task
is "$(task_summary '[.reason, .left_out.unfinished] | map(tostring) | join(" ")')" "nothing 0" \
	"which is no read"
wait $writer
monad-storage stop >/dev/null
done_testing
