#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# A timeout that the driver waits out: the kernel has forgotten it when the request ends. It is
# counted all the same, and seen while the request is still under way.
#
# needs: modules=nvme programs=dd disks=slow
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

slow_disk()
{
	for controller in /sys/class/nvme/nvme*; do
		[ "$(xargs <"$controller/serial")" != slow ] ||
			basename "$controller"/nvme*n1
	done
}

is_there()
{
	disk=$(slow_disk)
	[ -n "$disk" ] && [ -b "/dev/$disk" ]
}

# What looks for partitions takes its time, too.
is_idle()
{
	[ "$(awk '{ print $1 + $2 }' "/sys/block/$disk/inflight")" = 0 ]
}

wait_for is_there
wait_for is_idle
nap 10
wait_for is_idle || skip_all "the disk is never idle"
# The driver asks the device to abort what has timed out once; here it is done before that again.
echo 3000 >"/sys/block/$disk/queue/io_timeout"

start_recording
dd if="/dev/$disk" of=/dev/null bs=4k count=1 iflag=direct 2>/dev/null &
reader=$!
timed_out()
{
	monad-storage inflight >/tmp/text
	monad-storage inflight --json >/tmp/json
	grep -q "issued *$disk .* dd (timed out)$" /tmp/text
}
wait_for timed_out
ok $? "inflight says that it has timed out, while it is under way"
is "$(jq '[.inflight[] | select(.disk == "'"$disk"'").timed_out] | map(tostring) | join(" ")' /tmp/json)" \
	'"true"' "in JSON, too"
wait $reader
summarize
is "$(ops "$disk" read) $(ops "$disk" read errors) $(ops "$disk" read timeouts)" "1 0 1" \
	"it ended well, and had timed out"
is "$(counter timeouts)" 1 "which is counted"
is "$(monad-storage latency --json | jq --arg disk "$disk" '[.series[] | select(.disk == $disk) |
	.timeouts] | add')" 1 "and in the metrics"
is "$(events --since "$began" | jq -r 'select(.type == "rq_complete" and
	.op == "read").flags | index("timed_out") != null')" true "and the event has it"
at_least "$(events --since "$began" | jq -r 'select(.type == "rq_complete" and
	.op == "read").device_ns')" 5400000000 \
	"which took as long as it did"
nothing_lost
monad-storage stop >/dev/null
done_testing
