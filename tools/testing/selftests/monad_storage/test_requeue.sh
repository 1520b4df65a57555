#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Requests that the driver gives back, and requests that time out, are still one
# operation each.
#
# needs: modules=scsi_debug,sd_mod programs=dd
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

# opts=0x8000: every 5th command finds the host busy
make_scsi_debug dev_size_mb=64 delay=1
disk=$made_disk
settle
start_recording -d "$disk"
before=$(diskstats "$disk")
echo 0x8000 >/sys/bus/pseudo/drivers/scsi_debug/opts
echo 5 >/sys/bus/pseudo/drivers/scsi_debug/every_nth
dd if="/dev/$disk" of=/dev/null bs=4k count=50 iflag=direct 2>/dev/null
is $? 0 "host busy: dd reads all the same"
echo 0 >/sys/bus/pseudo/drivers/scsi_debug/every_nth
summarize
after=$(diskstats "$disk")
at_least "$(ops "$disk" read requeues)" 1 "host busy: there were requeues"
is "$(ops "$disk" read)" 50 "host busy: 50 reads"
is "$(diskstats_from_events "$disk")" "$(difference "$before" "$after")" \
	"host busy: events and /proc/diskstats agree"
nothing_lost

# The device's own flushes are given back, too; the fsyncs that wait for them are not.
start_recording -d "$disk"
before=$(diskstats "$disk")
echo 0x8000 >/sys/bus/pseudo/drivers/scsi_debug/opts
echo 2 >/sys/bus/pseudo/drivers/scsi_debug/every_nth
for block in 1 2 3 4 5 6; do
	dd if=/dev/zero of="/dev/$disk" bs=4k count=1 seek=$block conv=notrunc,fsync 2>/dev/null
done
echo 0 >/sys/bus/pseudo/drivers/scsi_debug/every_nth
echo 0 >/sys/bus/pseudo/drivers/scsi_debug/opts
summarize
is "$(diskstats_from_events "$disk")" "$(difference "$before" "$(diskstats "$disk")")" \
	"flushes of a busy host: events and /proc/diskstats agree"
requeues()
{
	monad-storage latency --json -d "$disk" | jq --arg op "$1" '[.series[] |
		select(.op == $op) | .requeues_issued + .requeues_unissued] | add // 0'
}
at_least "$(requeues cache_flush)" 1 "they were given back"
is "$(requeues flush)" 0 "and nothing else was counted as that"
nothing_lost

# opts=4: every command is lost, until every_nth is 0 again
start_recording -d "$disk"
echo 2 >"/sys/block/$disk/device/timeout"
echo 4 >/sys/bus/pseudo/drivers/scsi_debug/opts
echo 1 >/sys/bus/pseudo/drivers/scsi_debug/every_nth
dd if="/dev/$disk" of=/dev/null bs=4k count=1 iflag=direct 2>/dev/null &
wait_for grep -q "^ *1 " "/sys/block/$disk/inflight"
sleep 1
echo 0 >/sys/bus/pseudo/drivers/scsi_debug/every_nth
wait
summarize
is "$(events --since "$began" -o read |
	jq -r 'select((.flags | index("timed_out")) and .total_ns >= 1900000000) | .comm')" dd \
	"timeout: one read, that timed out and took 2 s in all"
at_least "$(counter timeouts)" 1 "timeout: counted"
nothing_lost
monad-storage stop >/dev/null
done_testing
