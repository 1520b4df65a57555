#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Devices upon devices: each one has its own operations and times, on one layer.
#
# needs: modules=null_blk,dm_mod,dm_delay programs=dd,dmsetup
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

make_null_blk nullb_a irqmode=2 completion_nsec=5000000
disk=$made_disk
settle
size=$(cat "/sys/block/$disk/size")

dmsetup create lin --table "0 $size linear /dev/$disk 0" || skip_all "no dm-linear"
dm=dm-$(dmsetup info -C --noheadings -o minor lin)
settle
start_recording
before=$(diskstats "$disk")
dd if=/dev/zero of=/dev/mapper/lin bs=16k count=20 oflag=direct 2>/dev/null
dd if=/dev/mapper/lin of=/dev/null bs=16k count=30 iflag=direct 2>/dev/null
summarize
after=$(diskstats "$disk")
is "$(ops "$dm" write) $(ops "$dm" read)" "20 30" "dm-linear: 20 writes, 30 reads"
is "$(ops "$dm" write bytes)" 327680 "dm-linear: their bytes"
is "$(ops "$disk" write) $(ops "$disk" read)" "20 30" "the disk below: the same, once"
is "$(diskstats_from_events "$disk")" "$(difference "$before" "$after")" \
	"events and /proc/diskstats agree"
is "$(from_summary --arg dm "$dm" '[.rows[] | select(.disk == $dm) | .layer] | unique | join(" ")')" \
	bio "the dm device is recorded as bios"
is "$(events --since "$began" | jq -r .comm | sort | uniq -c | xargs)" \
	"100 dd" "all of them by dd"
nothing_lost
dmsetup remove lin

dmsetup create slow --table "0 $size delay /dev/$disk 0 50" || skip_all "no dm-delay"
dm=dm-$(dmsetup info -C --noheadings -o minor slow)
settle
start_recording
dd if=/dev/mapper/slow of=/dev/null bs=4k count=5 iflag=direct 2>/dev/null
summarize
# dm counts in ticks, of 4 ms and the first of them not whole.
at_least "$(events --since "$began" -d "$dm" | jq -s '[.[].total_ns] | min')" \
	51000000 "dm-delay: 50 ms and the disk's 5"
at_least "$(events --since "$began" -d "$disk" |
	jq -s 'if ([.[].device_ns] | max) < 50000000 then [.[].device_ns] | min else 0 end')" \
	5000000 "the disk below: 5 ms"
nothing_lost
monad-storage stop >/dev/null
done_testing
