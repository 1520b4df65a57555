#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Operations, sectors and flushes per disk are those of /proc/diskstats, exactly:
# direct and buffered, two disks at once on the same sectors, discards, fsync,
# small requests that get merged and large ones that get split.
#
# needs: modules=null_blk,mq-deadline programs=fio,blkdiscard
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

make_null_blk nullb_a discard=1 cache_size=4 irqmode=2 completion_nsec=20000 submit_queues=2
a=$made_disk
make_null_blk nullb_b discard=1 irqmode=2 completion_nsec=1000 max_sectors=64
b=$made_disk
echo mq-deadline >"/sys/block/$b/queue/scheduler" 2>/dev/null
settle

start_recording
before_a=$(diskstats "$a")
before_b=$(diskstats "$b")
runs "fio: direct, both disks at once" fio --output=/dev/null --direct=1 --ioengine=psync \
	--bs=4k-64k --rw=randrw --size=64m --io_size=4m --randseed=1 \
	--name=on_a --filename="/dev/$a" --name=on_b --filename="/dev/$b"
runs "fio: fsync and fdatasync now and then" fio --output=/dev/null --direct=0 --ioengine=psync \
	--bs=4k --rw=randwrite --size=64m --io_size=1m --fsync=16 --name=f --filename="/dev/$a"
runs "fio: buffered, sequential, readahead" fio --output=/dev/null --direct=0 --ioengine=psync \
	--bs=4k --rw=rw --size=8m --end_fsync=1 --name=s --filename="/dev/$b"
runs "dd: 4 MiB in one write" dd if=/dev/zero of="/dev/$b" bs=4M count=2 oflag=direct
runs "blkdiscard" blkdiscard -o 1M -l 8M "/dev/$a"
settle
summarize
after_a=$(diskstats "$a")
after_b=$(diskstats "$b")

echo "# $a: reads, sectors, writes, sectors, discards, sectors, flushes"
echo "#   $(difference "$before_a" "$after_a")"
is "$(diskstats_from_events "$a")" "$(difference "$before_a" "$after_a")" \
	"$a: events and /proc/diskstats agree"
echo "# $b: $(difference "$before_b" "$after_b")"
is "$(diskstats_from_events "$b")" "$(difference "$before_b" "$after_b")" \
	"$b: events and /proc/diskstats agree"
at_least "$(ops "$a" cache_flush)" 1 "$a was flushed"
at_least "$(ops "$a" discard)" 1 "$a had discards"
is "$(ops "$b" cache_flush)" 0 "$b, without a cache, was not"
nothing_lost

# started = completed + merged; issued = completed - never issued (flushes) + flushes
started=$(counter started)
is "$(($(counter completed) + $(counter merged)))" "$started" "what was started ended or was merged"
echo "# $started started, $(counter merged) merged"
monad-storage stop >/dev/null
done_testing
