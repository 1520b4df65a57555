#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# A file system with a journal on a disk with a write cache: writes with PREFLUSH
# and FUA go through the kernel's flush sequence, complete twice, and count once.
#
# needs: modules=null_blk,ext4 programs=fio,mkfs.ext4
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

make_null_blk nullb_a cache_size=4 irqmode=2 completion_nsec=50000
disk=$made_disk
mkfs.ext4 -q -F "/dev/$disk"
settle

start_recording -d "$disk"
before=$(diskstats "$disk")
runs "mount" mount -t ext4 "/dev/$disk" /mnt
runs "fio: 20 files, fsync" fio --output=/dev/null --directory=/mnt --ioengine=psync --bs=4k \
	--rw=randwrite --size=256k --fsync=8 --name=f --numjobs=2
sync
umount /mnt
settle
summarize
after=$(diskstats "$disk")
echo "# reads, sectors, writes, sectors, discards, sectors, flushes: $(difference "$before" "$after")"
is "$(diskstats_from_events "$disk")" "$(difference "$before" "$after")" \
	"events and /proc/diskstats agree"
sequenced=$(events --since "$began" -o write |
	jq -r 'select(.flags | index("flush_seq")) | .seqno' | wc -l)
at_least "$sequenced" 1 "some writes went through the flush sequence"
is "$(events --since "$began" -o write |
	jq -r 'select((.flags | index("flush_seq")) and (.bytes == 0 or .partials != 1 or
	       .total_ns < .queue_ns + .device_ns)) | .seqno' | wc -l)" 0 \
	"each of them has its bytes, one data part, and times that add up"
at_least "$(events --since "$began" |
	jq -r 'select(.comm | startswith("jbd2")) | .seqno' | wc -l)" 1 "the journal's thread is named"
at_least "$(from_summary '[.actors[] | select(.comm == "fio")] | length')" 1 "fio is named"
nothing_lost
monad-storage stop >/dev/null
done_testing
