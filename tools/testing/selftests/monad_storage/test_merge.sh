#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# A request that is merged into another one never completes: it is not an
# operation, its bytes are the other's, and nothing of it is kept.
#
# needs: modules=null_blk,mq-deadline programs=fio
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

# While the one request that the device can take is out, others wait in the
# scheduler.
make_null_blk nullb_a irqmode=2 completion_nsec=300000000 hw_queue_depth=1 submit_queues=1
disk=$made_disk
echo mq-deadline >"/sys/block/$disk/queue/scheduler" || skip_all "no mq-deadline"
echo 64 >"/sys/block/$disk/queue/nr_requests"
settle

# The first two are with the device and next in line. The last one joins the one
# at 40960, which then reaches up to the one at 49152; or that one, and down to it.
cat >/tmp/iolog <<EOT
fio version 2 iolog
/dev/$disk add
/dev/$disk open
/dev/$disk read 8192000 4096
/dev/$disk read 16384000 4096
/dev/$disk read 40960 4096
/dev/$disk read 49152 4096
/dev/$disk read 45056 4096
/dev/$disk close
EOT

start_recording -d "$disk"
before=$(diskstats "$disk")
runs "fio: five reads at once, three of them adjacent" fio --output=/dev/null --name=merge \
	--direct=1 --ioengine=libaio --iodepth=8 --iodepth_batch=1 --replay_no_stall=1 \
	--read_iolog=/tmp/iolog
summarize
after=$(diskstats "$disk")
merged=$(counter merged)
[ "$merged" -gt 0 ] || skip_all "no two requests met in the scheduler"
is "$(diskstats_from_events "$disk")" "$(difference "$before" "$after")" \
	"events and /proc/diskstats agree"
is "$(ops "$disk" read bytes)" 20480 "no byte is missing"
# (It is 8192 bytes when the last one joined the one behind it.)
is "$(events --all --since "$began" | jq -r 'select(.type == "rq_merge") |
	[.comm, .bytes == 4096 or .bytes == 8192] | join(" ")')" "fio true" \
	"the merge is an event, with its actor"
is "$(($(counter completed) + merged))" "$(counter started)" "what was started ended or was merged"
nothing_lost
monad-storage stop >/dev/null
done_testing
