#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# dm-multipath as it is by default, which takes requests: it ends each of them with its data,
# and then again. That is one operation, on both levels, whatever it was and however it ended;
# what a path that is busy does not take is not under way.
#
# needs: modules=null_blk,scsi_debug,sd_mod,dm_mod,dm_multipath,dm_round_robin
# needs: programs=dd,fio,dmsetup,blkdiscard
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

# make_multipath DISK: sets dm
make_multipath()
{
	dmsetup create multi --table "0 $(cat "/sys/block/$1/size") multipath 0 0 1 1 \
		round-robin 0 1 1 /dev/$1 1" || skip_all "no dm-multipath"
	dm=dm-$(dmsetup info -C --noheadings -o minor multi)
	wait_for test -b /dev/mapper/multi
	[ -d "/sys/block/$dm/mq" ] || skip_all "dm-multipath takes bios here"
	settle
}

# (All ends come in softirqs here: none interrupts another, and all are seen.)
make_null_blk nullb_a irqmode=1 cache_size=4 discard=1
path=$made_disk
settle
make_multipath "$path"
start_recording
before=$(diskstats "$dm")
runs "fio: reads and writes at once" fio --output=/dev/null --direct=1 --ioengine=libaio --iodepth=8 \
	--bs=4k-64k --rw=randrw --size=64m --io_size=4m --randseed=1 --name=m \
	--filename=/dev/mapper/multi
runs "fio: fsync now and then" fio --output=/dev/null --direct=0 --ioengine=psync --bs=4k \
	--rw=randwrite --size=64m --io_size=256k --fsync=16 --name=f --filename=/dev/mapper/multi
dd if=/dev/zero of=/dev/mapper/multi bs=4k count=10 oflag=direct,dsync conv=notrunc 2>/dev/null
runs "blkdiscard" blkdiscard -o 1M -l 8M /dev/mapper/multi
settle
summarize
after=$(diskstats "$dm")
echo "# $dm: $(difference "$before" "$after")"
is "$(diskstats_from_events "$dm")" "$(difference "$before" "$after")" \
	"$dm: events and /proc/diskstats agree"
at_least "$(ops "$dm" read)" 10 "there were reads"
at_least "$(ops "$dm" write)" 10 "writes"
at_least "$(ops "$dm" flush)" 10 "and fsyncs"
for op in read write discard; do
	is "$(ops "$path" $op bytes)" "$(ops "$dm" $op bytes)" "$op: as many bytes below"
	is "$(ops "$path" $op)" "$(ops "$dm" $op)" "$op: and as many operations"
done
is "$(from_summary --arg dm "$dm" '[.rows[] | select(.disk == $dm) | .layer] | unique | join(" ")')" \
	request "it is recorded as requests"
is "$(counter orphans)" 0 "each end has a beginning"
nothing_lost
dmsetup remove multi

# A path with room for two.
make_null_blk nullb_b irqmode=2 completion_nsec=20000000 hw_queue_depth=2 submit_queues=1
path=$made_disk
settle
make_multipath "$path"
start_recording
before=$(diskstats "$dm")
runs "fio: more than the path takes" fio --output=/dev/null --direct=1 --ioengine=libaio \
	--iodepth=32 --bs=4k --rw=randread --size=64m --io_size=1m --name=b \
	--filename=/dev/mapper/multi
settle
summarize
is "$(diskstats_from_events "$dm")" "$(difference "$before" "$(diskstats "$dm")")" \
	"a busy path: events and /proc/diskstats of $dm agree"
is "$(ops "$path" read)" "$(ops "$dm" read)" "and as many reads have ended below"
nap 20
is "$(monad-storage inflight --json | jq -c .inflight)" "[]" "nothing seems to be under way"
dmsetup remove multi

# Clones that a path gives back, as its host is busy: they have begun, and are freed without an end.
make_scsi_debug dev_size_mb=64 delay=1
path=$made_disk
settle
make_multipath "$path"
start_recording
before=$(diskstats "$dm")
echo 0x8000 >/sys/bus/pseudo/drivers/scsi_debug/opts
echo 1 >/sys/bus/pseudo/drivers/scsi_debug/every_nth
dd if=/dev/mapper/multi of=/dev/null bs=4k count=1 iflag=direct 2>/dev/null &
reader=$!
is_under_way()
{
	[ "$(monad-storage inflight --json -d "$dm" | jq '.inflight | length')" -eq 1 ]
}
wait_for is_under_way
nap 20
kill -0 $reader
ok $? "a busy host: the read waits"
is "$(monad-storage inflight --json -d "$dm" | jq '.inflight | length')" 1 "and is under way"
# The last clone is freed, and no other one comes.
dmsetup message multi 0 "fail_path /dev/$path"
wait $reader
is $? 1 "without a path it fails"
echo 0 >/sys/bus/pseudo/drivers/scsi_debug/every_nth
nap 20
monad-storage inflight --json >/tmp/inflight 2>/dev/null
is "$(jq -c .inflight /tmp/inflight)" "[]" "nothing seems to be under way"
at_least "$(jq .ended_unseen /tmp/inflight)" 1 "since the kernel says that what was is free"
summarize
is "$(diskstats_from_events "$dm")" "$(difference "$before" "$(diskstats "$dm")")" \
	"$dm has one read, as in /proc/diskstats"
is "$(ops "$dm" read) $(ops "$dm" read errors) $(ops "$path" read)" "1 1 0" \
	"which failed, and the path none"
dmsetup remove multi

# What fails.
make_scsi_debug dev_size_mb=64 opts=2 delay=1
path=$made_disk
settle
make_multipath "$path"
start_recording
dd if=/dev/mapper/multi of=/dev/null bs=64k skip=36 count=1 iflag=direct 2>/dev/null
is "$?" 1 "a medium error"
summarize
is "$(ops "$dm" read) $(ops "$dm" read errors)" "1 1" "one read, which failed"
is "$(ops "$path" read) $(ops "$path" read errors)" "1 1" "and one of the path"
nothing_lost
monad-storage stop >/dev/null
done_testing
