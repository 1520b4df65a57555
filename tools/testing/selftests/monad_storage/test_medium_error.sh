#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# A SCSI medium error comes as a completion of 0 bytes without an error and then
# one with it: that is one operation, one error, one latency.
#
# needs: modules=scsi_debug,sd_mod programs=dd
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

# Sector 0x1234 is bad with opts=2.
make_scsi_debug dev_size_mb=64 opts=2 delay=1
disk=$made_disk
settle

start_recording -d "$disk"
before=$(diskstats "$disk")
dd if="/dev/$disk" of=/dev/null bs=64k skip=36 count=1 iflag=direct 2>/dev/null
is $? 1 "reading the bad sector fails"
summarize
after=$(diskstats "$disk")
is "$(ops "$disk" read)" 1 "one operation"
is "$(ops "$disk" read errors)" 1 "one error"
is "$(ops "$disk" read total.samples)" 1 "one latency"
is "$(events --errors --since "$began" |
	jq -r '[.error, .comm, .sector, .bytes] | join(" ")')" "ENODATA dd 4608 65536" \
	"it is ENODATA, by dd, and where"
is "$(monad-storage replay --errors --since "$began" | grep -c ENODATA)" 1 "and in the table"
is "$(diskstats_from_events "$disk")" "$(difference "$before" "$after")" \
	"events and /proc/diskstats agree"
nothing_lost
monad-storage stop >/dev/null
done_testing
