#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# What hangs is shown while it hangs, with its age, its owner and how far it got; and
# the number of those under way is the kernel's own.
#
# needs: modules=null_blk,scsi_debug,sd_mod,dm_mod,dm_delay programs=dd,dmsetup
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

# field DISK FILTER: of what is in flight on it
field()
{
	monad-storage inflight --json -d "$1" | jq -r ".inflight | $2"
}

# A driver that never answers, until it is told to.
make_scsi_debug dev_size_mb=64 delay=1
disk=$made_disk
settle
start_recording
is "$(monad-storage inflight)" "nothing is under way" "at first nothing is"
echo 4 >/sys/bus/pseudo/drivers/scsi_debug/opts
echo 1 >/sys/bus/pseudo/drivers/scsi_debug/every_nth
echo 10 >"/sys/block/$disk/device/timeout"
dd if="/dev/$disk" of=/dev/null bs=4k count=1 skip=5 iflag=direct 2>/dev/null &
pid=$!
is_there()
{
	[ "$(field "$1" length)" -eq 1 ]
}
wait_for is_there "$disk"
nap 6
is "$(field "$disk" '[.[] | .state, .op, .sector, .bytes, .comm, .issues] | join(" ")')" \
	"issued read 40 4096 dd 1" "a read that hangs"
is "$(field "$disk" '.[].tgid')" $pid "whose"
at_least "$(field "$disk" '.[].age_ns')" 500000000 "since when"
is "$(monad-storage inflight --json -d "$disk" | jq '[.inflight[] |
	select(.state == "issued")] | length')" \
	"$(awk '{ print $1 + $2 }' "/sys/block/$disk/inflight")" \
	"as many as /sys/block/$disk/inflight has"
is "$(monad-storage inflight -p $$ -p $pid | grep -c " $pid dd\( (timed out)\)\?$")" 1 "with its process asked for"
is "$(monad-storage inflight -p $$)" \
	"nothing of what was asked for is under way; 1 other is" "with another, it is not"
is "$(monad-storage inflight --min-age 1h)" \
	"nothing of what was asked for is under way; 1 other is" "not for an hour, though"
is "$(monad-storage inflight --json -o write | jq -c '[.inflight, .not_asked_for]')" "[[],1]" \
	"no write is: in JSON there is one other"
monad-storage inflight --min-age 5 >/dev/null 2>message
is "$? $(grep -c unit message)" "2 1" "--min-age wants a unit"
is "$(monad-storage inflight --min-age 300ms | grep -c ' issued .* read ')" 1 "but for 300 ms"
monad-storage inflight | sed 's/^/# /'
echo 0 >/sys/bus/pseudo/drivers/scsi_debug/every_nth
wait $pid
is "$(monad-storage inflight -d "$disk")" "nothing is under way" "after it timed out, nothing"

# Bios on a device that is slow, and the device below.
make_null_blk nullb_a
below=$made_disk
dmsetup create slow --table "0 $(cat "/sys/block/$below/size") delay /dev/$below 0 600000" ||
	skip_all "no dm-delay"
dm=dm-$(dmsetup info -C --noheadings -o minor slow)
settle
dd if=/dev/mapper/slow of=/dev/null bs=4k count=1 iflag=direct 2>/dev/null &
pid=$!
wait_for is_there "$dm"
is "$(field "$dm" '[.[] | .state, .op, .comm] | join(" ")')" "bio read dd" "a bio that dm holds"
is "$(field "$below" length)" 0 "is not with the disk below"
# Then it waits no longer.
dmsetup suspend slow && dmsetup resume slow
wait $pid
is "$(monad-storage inflight)" "nothing is under way" "in the end nothing is"
dmsetup remove slow

monad-storage stop >/dev/null
monad-storage inflight >/dev/null 2>&1
is $? 1 "not recording: an error"
done_testing
