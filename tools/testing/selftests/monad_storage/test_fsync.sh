#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# A pure fsync is one flush and no write, charged to who called it; its device
# time is that of the flush the kernel sent, which is counted apart.
#
# needs: modules=null_blk programs=dd,sync
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

N=20

make_null_blk nullb_a cache_size=4 irqmode=2 completion_nsec=5000000
disk=$made_disk
settle

start_recording -d "$disk"
before=$(diskstats "$disk")
n=0
while [ $n -lt $N ]; do
	/usr/bin/sync "/dev/$disk"
	n=$((n + 1))
done
summarize
after=$(diskstats "$disk")
is "$(ops "$disk" flush)" $N "$N fsyncs are $N flushes"
is "$(ops "$disk" cache_flush)" $N "the device was told to flush $N times"
is "$(ops "$disk" write)" 0 "and nothing was written"
is "$(diskstats_from_events "$disk")" "$(difference "$before" "$after")" \
	"/proc/diskstats, which calls them writes of 0 sectors and flushes, agrees"
is "$(events --since "$began" -o flush | jq -r .comm | sort | uniq -c | xargs)" \
	"$N sync" "their actor is who called fsync"
is "$(events --since "$began" -o flush |
	jq -r 'select(.device_ns >= 5000000 and .total_ns >= .device_ns) | .seqno' | wc -l)" $N \
	"each took 5 ms at the device"
nothing_lost

start_recording -d "$disk"
dd if=/dev/zero of="/dev/$disk" bs=4k count=10 oflag=direct,dsync 2>/dev/null
summarize
is "$(ops "$disk" write)" 10 "O_DSYNC: 10 writes"
is "$(ops "$disk" flush)" 10 "O_DSYNC: 10 flushes"
at_least "$(events --since "$began" |
	jq -s '[.[].device_ns] | min')" 5000000 "O_DSYNC: each of them took 5 ms"
nothing_lost
monad-storage stop >/dev/null
done_testing
