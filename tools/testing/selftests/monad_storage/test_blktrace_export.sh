#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# What is written as blktrace's files is what blktrace itself has of the same I/O, is what replay
# says, and is of use to blkparse, btt and fio.
#
# kernel: any
# needs: modules=null_blk,mq-deadline,scsi_debug,sd_mod,dm_mod,ext4
# needs: programs=fio,dd,blktrace,blkparse,btt,dmsetup,mke2fs
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

mount | grep -q ' /sys/kernel/debug ' || mount -t debugfs debugfs /sys/kernel/debug
command -v blktrace >/dev/null || skip_all "no blktrace"
command -v btt >/dev/null || skip_all "no btt"

# beside COMMAND...: with both looking; ours are in ours/, blktrace's in theirs.*
beside()
{
	start_recording -d "$disk"
	rm -rf theirs.* ours
	mkdir ours
	blktrace -d "/dev/$disk" -o theirs >/dev/null 2>&1 &
	tracer=$!
	wait_for test -e "/sys/kernel/debug/block/$disk/trace0"
	wait_for blktrace_traces "$tracer"
	nap 5
	"$@" >/dev/null 2>&1
	sync
	nap 5
	kill -INT $tracer
	wait $tracer
	runs "$what: written" export_to ours
}

# export_to DIR [OPTION]...
export_to()
{
	dir=$1
	shift
	monad-storage replay --since "$began" -d "$disk" --blktrace "$dir" "$@"
}

# parsed TRACE ACTIONS: action, kind, sector, bytes and error of each, sorted
parsed()
{
	blkparse -q -i "$1" -f '%a %d %S %N %e\n' 2>/dev/null |
		awk -v want=" $2 " 'NF == 5 && index(want, " " $1 " ")' | sort
}

# replayed: the same of D and C by replay, where nothing ends in parts
replayed()
{
	events --all --since "$began" -d "$disk" | jq -r '
		{ "rq_issue": "D", "rq_complete": "C" }[.type] as $action | select($action) |
		"\($action) \(.rwbs) \(.sector) \(.bytes) \(if .error then 65536 - 61 else 0 end)"' |
		sort
}

# same ACTIONS LEAST: as blktrace
same()
{
	parsed theirs "$1" >theirs.txt
	parsed "ours/$disk" "$1" >ours.txt
	at_least "$(wc -l <ours.txt)" "$2" "$what: there are some $1"
	cmp -s theirs.txt ours.txt
	ok $? "$what: $1 $(wc -l <ours.txt), as blktrace has"
	cmp -s theirs.txt ours.txt || diff theirs.txt ours.txt | head -20 | sed 's/^/#   /'
}

random_io()
{
	fio --output=/dev/null --direct=1 --ioengine=psync --bs=4k-64k --rw=randrw --size=64m \
		--io_size=2m --randseed=1 --numjobs=2 --name=m --filename="/dev/$disk"
}

what="null_blk"
make_null_blk nullb_a irqmode=2 completion_nsec=20000 submit_queues=2
disk=$made_disk
echo mq-deadline >"/sys/block/$disk/queue/scheduler" 2>/dev/null
settle
beside random_io
same "D C" 100
same "Q G" 100
replayed >wanted.txt
parsed "ours/$disk" "D C" | cmp -s - wanted.txt
ok $? "$what: D and C as replay --json has them"
is "$(find ours -type f -perm 644 | wc -l) $(find ours -type f -exec basename {} \; | sort | xargs) " \
	"2 $disk.blktrace.0 $disk.blktrace.1 " "$what: a file for each CPU, of the mode that umask has for new ones"

# Times: blkparse has them from the first record on, which has the time of day.
first=$(events --all --since "$began" -d "$disk" | jq -r -s '
	[.[] | select(.total_ns)] | sort_by(.time_ns - .total_ns)[0] | .time_ns - .total_ns |
	"\(. / 1000000000 | floor | strftime("%H:%M:%S"))"')
is "$(TZ=UTC blkparse -q -i "ours/$disk" -f '%a %z\n' 2>/dev/null |
	awk '$1 == "Q" { print substr($2, 1, 8); exit }')" "$first" "$what: the time of day"

# Each sector once, so that btt cannot take one I/O for another.
what="btt"
beside fio --output=/dev/null --direct=1 --ioengine=libaio --iodepth=4 --bs=8k --rw=read \
	--size=4m --name=s --filename="/dev/$disk"
blkparse -q -O -i "ours/$disk" -d ours/merged >/dev/null 2>&1
(cd ours && btt -i merged) >btt.txt 2>/dev/null
summary=$(events --since "$began" -d "$disk" | jq -s '.')
# close_to LINE FIELD: count, and the mean in ns but for rounding
close_to()
{
	mean=$(from_summary "[.[].$2] | add / length | floor")
	btt_mean=$(awk -v line="$1" '$1 ~ "^" line "(dm)?$" { printf "%.0f", $3 * 1e9; exit }' btt.txt)
	[ -n "$btt_mean" ] && [ "$((btt_mean - mean))" -ge -2 ] && [ "$((btt_mean - mean))" -le 2 ]
	ok $? "$what: mean $1 $btt_mean ns is that of $2"
	[ "${btt_mean:-0}" -gt 0 ] || sed 's/^/#   /' btt.txt
	is "$(awk -v line="$1" '$1 ~ "^" line "(dm)?$" { print $5; exit }' btt.txt)" \
		"$(from_summary length)" "$what: as many $1"
}
close_to D2C device_ns
close_to Q2C total_ns

# fio does it all again, on another disk.
what="fio"
beside random_io
source=$disk
blkparse -q -O -i "ours/$disk" -d ours/merged >/dev/null 2>&1
make_null_blk nullb_b
disk=$made_disk
settle
before=$(diskstats "$disk")
runs "$what: replays it" fio --name=again --read_iolog=ours/merged --replay_redirect="/dev/$disk" \
	--replay_no_stall=1 --ioengine=psync --direct=1
after=$(diskstats "$disk")
disk=$source
summarize -d "$disk"
is "$(difference "$before" "$after")" "$(diskstats_from_events "$disk")" \
	"$what: the same operations and sectors again"
at_least "$(difference "$before" "$after" | awk '{ print $1 }')" 10 "$what: there are some"

what="buffered"
beside dd if=/dev/zero of="/dev/$disk" bs=1M count=8
same "D C" 8
echo 1 >"/sys/block/$disk/queue/nomerges" # bios that are merged have a Q of their own there

what="scsi"
make_scsi_debug dev_size_mb=64 delay=1
disk=$made_disk
settle
flushes()
{
	dd if=/dev/zero of="/dev/$disk" bs=4k count=3 conv=fsync
	dd if=/dev/zero of="/dev/$disk" bs=4k count=2 oflag=direct,dsync
}
what="flushes"
beside flushes
same "D C" 10

what="ext4"
mke2fs -q -t ext4 "/dev/$disk" >/dev/null 2>&1
settle
journal()
{
	mount -t ext4 "/dev/$disk" /mnt
	dd if=/dev/zero of=/mnt/file bs=64k count=10 conv=fsync
	umount /mnt
}
beside journal
same "D C" 10

what="medium error"
medium_error()
{
	echo 2 >/sys/bus/pseudo/drivers/scsi_debug/opts
	dd if="/dev/$disk" of=/dev/null bs=4k skip=$((0x1234 / 8)) count=1 iflag=direct
	echo 0 >/sys/bus/pseudo/drivers/scsi_debug/opts
}
beside medium_error
same "D C" 3
is "$(parsed "ours/$disk" C | awk '$5 { print 65536 - $5 }' | sort -u)" 61 "$what: ENODATA"
mkdir failed slow
runs "$what: only what failed" export_to failed --errors
is "$(parsed "failed/$disk" "Q D C" | cut -d' ' -f1 | tr '\n' ' ')" "C C D Q " \
	"$what: that has all of its steps"
export_to slow --min-latency 1h >/dev/null 2>message
is "$?" 1 "$what: nothing that slow"

what="busy"
busy()
{
	echo 0x8000 >/sys/bus/pseudo/drivers/scsi_debug/opts
	echo 5 >/sys/bus/pseudo/drivers/scsi_debug/every_nth
	dd if="/dev/$disk" of=/dev/null bs=4k count=50 iflag=direct
	echo 0 >/sys/bus/pseudo/drivers/scsi_debug/every_nth
	echo 0 >/sys/bus/pseudo/drivers/scsi_debug/opts
}
beside busy
same "D R C" 101
at_least "$(parsed "ours/$disk" R | wc -l)" 1 "$what: requeues"

what="dm"
size=$(cat "/sys/block/$disk/size")
below=$disk
dmsetup create lin --table "0 $size linear /dev/$disk 0" || skip_all "no dm-linear"
disk=dm-$(dmsetup info -C --noheadings -o minor lin)
settle
beside flushes
same "Q C" 14
disk=$below
dmsetup remove lin

# What goes wrong.
start_recording -d "$disk"
mkdir hostile
export_to hostile >message 2>&1
is "$? $(ls hostile) $(cat message)" \
	"1  monad-storage: nothing to write: the ring has no such events" "an empty recording"
dd if="/dev/$disk" of=/dev/null bs=4k count=200 iflag=direct 2>/dev/null
disk=$source
export_to hostile >message 2>&1
is "$? $(grep -c 'no such events' message)" "1 1" "a disk that had none"
disk=$below
# refused TEXT DIR PATTERN: and nothing is left there
refused()
{
	export_to "$2" >message 2>&1
	status=$?
	grep -q "$3" message
	is "$status $? $(ls "$2" 2>/dev/null)" "1 0 $4" "$1"
	grep -q "$3" message || sed 's/^/#   /' message
}
mkdir full
mount -t tmpfs -o size=16k tmpfs full
refused "no space" full "full/$disk.blktrace.0: No space left on device"
umount full
mount -t tmpfs -o ro tmpfs full
refused "read only" full "full/$disk.blktrace.0: Read-only file system"
umount full
refused "no directory above it" none/below "making the directory none/below: No such file"
runs "a directory that is not there is made" export_to none
at_least "$(find none -name "$disk.blktrace.*" | wc -l)" 1 "and has the files"
touch file
refused "no directory" file "file/$disk.blktrace.0: Not a directory" file
echo old >"hostile/$disk.blktrace.0"
refused "a file of another run" hostile "hostile/$disk.blktrace.0 exists" "$disk.blktrace.0"
is "$(cat "hostile/$disk.blktrace.0")" old "which stays"
rm "hostile/$disk.blktrace.0"
runs "and without" export_to hostile
cpus=$(find hostile -type f | wc -l)
rm hostile/*
echo old >"hostile/$disk.blktrace.$cpus"
refused "one of more CPUs" hostile "hostile/$disk.blktrace.$cpus exists" "$disk.blktrace.$cpus"
monad-storage stop >/dev/null
runs "after the end of the recording" export_to ours
done_testing
