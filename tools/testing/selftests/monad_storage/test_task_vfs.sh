#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# vfs-latency: reads and writes of one process, to the call and the byte; what fails, and
# why; and what a task writes is no I/O to those who read the recording.
#
# needs: modules=null_blk,scsi_debug,sd_mod,ext4 programs=perl,dd,mkfs.ext4
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

make_null_blk nullb_a irqmode=2 completion_nsec=100000
disk=$made_disk
mkfs.ext4 -q "/dev/$disk"
mkdir -p /mnt
mount "/dev/$disk" /mnt
dd if=/dev/zero of=/mnt/f bs=4k count=200 2>/dev/null
settle

# Waits for /tmp/go; then 60 read, 30 pread64, 10 readv of 1000 bytes, and 20 writes and 5
# writev of 500 of another file; and reads that are not of storage.
cat >/tmp/io.pl <<'PERL'
select(undef, undef, undef, 0.05) until -e "/tmp/go";
my $buffer = "x" x 1000;
my $iov = pack("PQ", $buffer, 1000);
my $out = pack("PQ", $buffer, 500);
sysopen(my $f, "/mnt/f", 0) or die;
sysopen(my $g, "/mnt/g", 0102) or die;
for (1 .. 60) { sysread($f, my $b, 1000) == 1000 or die }
for (1 .. 30) { syscall(17, fileno($f), $buffer, 1000, 0) == 1000 or die }
for (1 .. 10) { syscall(19, fileno($f), $iov, 1) == 1000 or die }
for (1 .. 20) { syswrite($g, $buffer, 500) == 500 or die }
for (1 .. 5) { syscall(20, fileno($g), $out, 1) == 500 or die }
pipe(my $r, my $w) or die;
for (1 .. 50) { syswrite($w, "x") == 1 and sysread($r, my $b, 1) == 1 or die }
PERL

# io OPTION...: one process that is looked at, beside another one
io()
{
	rm -f /tmp/go
	perl /tmp/io.pl &
	pid=$!
	begin_task vfs-latency -p $pid "$@"
	dd if=/mnt/f of=/dev/null bs=4k 2>/dev/null
	touch /tmp/go
	wait $pid
	is $? 0 "a process reads and writes"
	dd if=/mnt/f of=/dev/null bs=4k 2>/dev/null
	end_task
}

io
is "$(task_events '[.op, .disk, .fs, .file, .bytes, .pid] | join(" ")' | sort | uniq -c | xargs)" \
	"100 read $disk ext4 f 1000 $pid 25 write $disk ext4 g 500 $pid" \
	"100 reads and 25 writes, and nobody else's"
is "$(task_summary '[.ops.read.operations, .ops.read.bytes, .ops.write.operations,
	.ops.write.bytes, .errors] | join(" ")')" "100 100000 25 12500 0" "so says the summary"
nothing_left_out
io -o read --min-latency 1h
is "$(task_events .seqno | wc -l)" 0 "--min-latency: nothing took an hour"
is "$(task_summary '[.operations, .slow, .events, .left_out.quick, .reason] | join(" ")')" \
	"100 0 0 100 normal" "but 100 reads were there"
io -o read -s 7
is "$(task_events .op | sort | uniq -c | xargs)" "15 read" "--sample-rate 7: 15 of 100"
is "$(task_summary '[.operations, .left_out.sampled_out] | join(" ")')" "100 85" \
	"85 were left out, of 100"

# Paths: what fits of them.
deep=$(printf 'directory%s/' 1 2 3 4 5 6 7 8)
name=$(printf '%080d' 1)
mkdir -p "/mnt/one/two" "/mnt/$deep"
begin_task vfs-latency -d "$disk" -o write
dd if=/dev/zero of=/mnt/one/two/three bs=4k count=1 2>/dev/null
dd if=/dev/zero of="/mnt/${deep}file" bs=4k count=1 2>/dev/null
dd if=/dev/zero of="/mnt/$name" bs=4k count=1 2>/dev/null
end_task
is "$(task_events .file | tr -d '"' | xargs)" \
	"one/two/three .../${deep#directory1/directory2/directory3/}file $(printf '%063d' 0)" \
	"a path, a long one, and a long name"
umount /mnt

# Two recordings of one thing: a task's events are nobody's I/O.
start_recording
begin_task vfs-latency -d "$disk"
dd if="/dev/$disk" of=/dev/null bs=64k count=20 iflag=direct 2>/dev/null
end_task
is "$(task_events '[.op, .fs, .bytes] | join(" ")' | sort | uniq -c | xargs)" \
	"20 read bdev 65536" "20 reads of a device"
summarize -d "$disk"
is "$(ops "$disk" read)" 20 "replay counts 20 as well, not 40"
is "$(events --since "$began" --all -d "$disk" | jq -r .type | sort -u | xargs)" \
	"rq_complete rq_issue" "and has only those, with --all too"
is "$(monad-storage replay --all --json | tail -n 1 | jq .unknown)" 0 "none is unknown to it"
monad-storage stop >/dev/null

make_scsi_debug dev_size_mb=64 opts=2 delay=1
settle
begin_task vfs-latency -d "$made_disk"
dd if="/dev/$made_disk" of=/dev/null bs=64k skip=36 count=1 iflag=direct 2>/dev/null
dd if="/dev/$made_disk" of=/dev/null bs=64k skip=0 count=3 iflag=direct 2>/dev/null
end_task
is "$(task_events '[.error // "-", .bytes] | join(" ")' | sort | uniq -c | xargs)" \
	"3 - 65536 1 ENODATA 0" "a bad sector: what read() says"
is "$(task_summary '[.reason, .errors, .ops.read.errors, .top_devices[0].errors] | join(" ")')" \
	"errors 1 1 1" "and sums know it"
done_testing
