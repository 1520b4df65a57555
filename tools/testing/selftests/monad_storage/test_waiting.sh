#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Before there is a request: I/O that waits for one is in flight, and how long it waited and
# whose it is is in its end; what is not to wait and would have to is no operation; what is
# merged or split is forgotten or found again.
#
# needs: modules=null_blk,dm_mod,loop programs=dd,fio,dmsetup,mount,umount
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

# waiting: bios without a request
waiting()
{
	monad-storage status --json | jq -r .inflight.waiting
}

are_waiting()
{
	[ "$(waiting)" -ge "$1" ]
}

# of_latency DISK OP FILTER: of the metrics
of_latency()
{
	monad-storage latency --json | jq -r --arg disk "$1" --arg op "$2" \
		"[.series[] | select(.disk == \$disk and .op == \$op)][0] | $3"
}

# kernel_inflight DISK
kernel_inflight()
{
	awk '{ print $1 + $2 }' "/sys/block/$1/inflight"
}

#
# A disk that takes one at a time
#

make_null_blk nullb_one irqmode=2 completion_nsec=6000000000 hw_queue_depth=1 submit_queues=1
one=$made_disk
never_times_out "$one"
settle
start_recording
readers=
for reader in 1 2 3; do
	dd if="/dev/$one" of=/dev/null bs=4k count=1 skip=$reader iflag=direct 2>/dev/null &
	readers="$readers $!"
done
wait_for are_waiting 2
is "$(waiting)" 2 "three reads, one request: two of them wait for it"
is "$(kernel_inflight "$one")" 1 "which the kernel does not count"
is "$(monad-storage inflight --json | jq -r '[.inflight[] | [.state, .comm, .disk, .op] |
	join(" ")] | sort | join(",")')" \
	"issued dd $one read,waiting dd $one read,waiting dd $one read" "inflight has them, as dd's"
is "$(monad-storage inflight | grep -c "^ *[0-9.m]*s waiting $one ")" 2 "as text, too"
is "$(monad-storage export --once |
	grep "^monad_storage_inflight{device=\"$one\",state=\"waiting\"}" | cut -d' ' -f2)" 2 \
	"and the metrics"
# shellcheck disable=SC2086
wait $readers
is "$(of_latency "$one" read '[.ops, (.queue.sum_ns / 1e9 | floor)] | join(" ")' |
	sed "s/ \(1[789]\|2[0123]\)\$/ about 18/")" "3 about 18" "the time to wait is in what they took: 6 + 12 s"
summarize
is "$(ops "$one" read)" 3 "and all of them have ended"
nothing_lost

#
# Not to wait
#

make_null_blk nullb_now hw_queue_depth=4 submit_queues=1 irqmode=2 completion_nsec=1000000
now=$made_disk
settle
start_recording
before=$(diskstats "$now")
fio --name=u --filename="/dev/$now" --rw=randread --bs=4k --direct=1 --ioengine=io_uring \
	--iodepth=32 --size=8M --minimal >/tmp/fio 2>&1
is "$(cut -d';' -f5 /tmp/fio)" 0 "io_uring, 32 at a time for 4 requests: fio has no error"
at_least "$(counter given_up)" 1 "bios were given up instead of waiting: $(counter given_up)"
did=$(difference "$before" "$(diskstats "$now")" | cut -d' ' -f1)
is "$did" 2048 "it did 2048 reads"
is "$(of_latency "$now" read '[.ops, .errors, .queue.samples, .total.samples] | join(" ")')" \
	"$did 0 $did $did" "as many are in the metrics, none failed, all have their times"
is "$(counter errors) $(counter orphans)" "0 0" "there is no error, and no end without a beginning"
summarize
is "$(ops "$now" read) $(ops "$now" read errors)" "$did 0" "nor are they events"
is "$(from_summary '[.actors[] | [.comm, .ops] | join(" ")] | join(",")')" "fio $did" \
	"the threads that wait for io_uring go by the name of their program"
nothing_lost

# The same on a device above: nothing can be kept waiting there, either.
dmsetup create now --table "0 $(cat "/sys/block/$now/size") linear /dev/$now 0" ||
	skip_all "no dm-linear"
dm=dm-$(dmsetup info -C --noheadings -o minor now)
settle
start_recording
before=$(diskstats "$now")
fio --name=u --filename=/dev/mapper/now --rw=randread --bs=4k --direct=1 --ioengine=io_uring \
	--iodepth=32 --size=4M --loops=2 --minimal >/tmp/fio 2>&1
is "$(cut -d';' -f5 /tmp/fio)" 0 "through dm-linear: fio has no error"
did=$(difference "$before" "$(diskstats "$now")" | cut -d' ' -f1)
is "$(of_latency "$now" read '[.ops, .errors] | join(" ")')" "$did 0" "$did reads below"
is "$(of_latency "$dm" read '[.ops, .errors, .total.samples] | join(" ")')" "2048 0 2048" \
	"and 2048 of $dm, none failed, all have their times"
at_least "$(counter given_up)" 2 "given up on both: $(counter given_up)"
# One is told that it would have to wait, another ends in an interrupt meanwhile.
at_least "$(counter ends_caught)" 1 "ends at which the program was skipped: $(counter ends_caught)"
is "$(counter ends_unseen)" 0 "are no ends that nobody saw"
is "$(monad-storage export --once | sed -n 's/^monad_storage_program_events_total.*"ends_caught"} //p')" \
	"$(counter ends_caught)" "as many in the metrics"
summarize
nothing_lost
dmsetup remove now

#
# Split and merged
#

make_null_blk nullb_split max_sectors=64 hw_queue_depth=2 submit_queues=1 irqmode=2 \
	completion_nsec=1000000
split=$made_disk
echo 32 >"/sys/block/$split/queue/max_sectors_kb" 2>/dev/null
settle
start_recording
dd if="/dev/$split" of=/dev/null bs=1M count=2 iflag=direct 2>/dev/null
summarize
is "$(ops "$split" read) $(ops "$split" read bytes)" "64 2097152" "1 MiB at a time of 32 KiB"
is "$(from_summary '[.actors[] | [.comm, .ops] | join(" ")] | join(",")')" "dd 64" \
	"all parts are dd's"
is "$(of_latency "$split" read '[.queue.samples, .total.samples] | join(" ")')" "64 64" \
	"and have their times"
nothing_lost

start_recording
dd if=/dev/zero of="/dev/$split" bs=64k count=64 2>/dev/null
dd if="/dev/$split" of=/dev/null bs=64k count=64 skip=64 2>/dev/null
if [ -e /sys/block/$split/queue/discard_max_bytes ]; then
	blkdiscard "/dev/$split" 2>/dev/null
fi
summarize
at_least "$(ops "$split" write)" 1 "written through the page cache, merged where it can be"
nothing_lost

#
# Zones: writes wait for those before them
#

make_null_blk nullb_zone zoned=1 zone_size=16 irqmode=2 completion_nsec=2000000
zone=$made_disk
if [ "$(cat "/sys/block/$zone/queue/zoned")" = host-managed ]; then
	echo mq-deadline >"/sys/block/$zone/queue/scheduler" 2>/dev/null
	settle
	start_recording
	fio --name=z --filename="/dev/$zone" --zonemode=zbd --rw=write --bs=4k --size=16M --io_size=512k \
		--direct=1 --ioengine=libaio --iodepth=8 --minimal >/tmp/fio 2>&1
	summarize
	is "$(from_summary '[.actors[] | select(.comm != "fio")] | length')" 0 \
		"writes of a zone are fio's, whoever hands them on"
	is "$(ops "$zone" write bytes)" 524288 "all of them"
	nothing_lost
fi

#
# One upon another: a cgroup pays once
#

make_null_blk nullb_below
below=$made_disk
dmsetup create top --table "0 65536 linear /dev/$below 0"
dmsetup create toptop --table "0 65536 linear /dev/mapper/top 0"
settle
start_recording
dd if=/dev/zero of=/dev/mapper/toptop bs=1M count=10 oflag=direct 2>/dev/null
is "$(monad-storage cgroups --json | jq '[.cgroups[].writes.bytes] | add')" 10485760 \
	"10 MiB through three devices are 10 MiB of a cgroup"
summarize
dmsetup remove toptop
dmsetup remove top

# One that is gone is not another one of the same number.
mkdir -p /tmp/other
if mount -t cgroup -o none,name=other cgroup /tmp/other 2>/dev/null; then
	umount /tmp/other
	nap 10
	is "$(monad-storage cgroups --json | jq '[.cgroups[] | select(.path == "/") |
		.writes.bytes] | add')" 10485760 "a hierarchy that goes takes no cgroup of another with it"
fi
monad-storage stop >/dev/null
done_testing
