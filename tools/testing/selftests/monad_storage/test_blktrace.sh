#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# blktrace beside us on the same disk sees the same issues, completions and requeues,
# event for event: where, how long, how often.
#
# needs: modules=null_blk,mq-deadline,scsi_debug,sd_mod programs=fio,dd,blktrace,blkparse
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

mount | grep -q ' /sys/kernel/debug ' || mount -t debugfs debugfs /sys/kernel/debug
command -v blktrace >/dev/null || skip_all "no blktrace"

# What blktrace saw in trace.*: action, sector, sectors; as many lines as events.
from_blktrace()
{
	blkparse -q -i trace -f "$1 %a %S %n\n" -a "$2" 2>/dev/null |
		awk -v want="$1" '$1 == want && NF == 4 { print $3, $4 }' | sort -n
}

# from_ring "TYPE...": the same of ours
from_ring()
{
	monad-storage replay --all --json --since "$began" -d "$disk" | jq -r --arg types "$1" '
		select(.type as $type | $types | split(" ") | index($type)) |
		"\(.sector // 0) \(.bytes / 512)"' | sort -n
}

# beside COMMAND...: with both looking
beside()
{
	start_recording -d "$disk"
	rm -f trace.*
	blktrace -d "/dev/$disk" -o trace -a issue -a complete -a requeue >/dev/null 2>&1 &
	tracer=$!
	wait_for test -e "/sys/kernel/debug/block/$disk/trace0"
	wait_for blktrace_traces "$tracer"
	nap 5
	"$@" >/dev/null 2>&1
	sync
	sleep 1
	kill -INT $tracer
	wait $tracer
}

# same NAME LETTER ACTION "TYPE..." [LEAST]
same()
{
	from_blktrace "$2" "$3" >theirs
	from_ring "$4" >ours
	at_least "$(wc -l <ours)" "${5:-1}" "$1: there are some"
	cmp -s theirs ours
	ok $? "$1: $(wc -l <ours), as blktrace has"
	cmp -s theirs ours || diff theirs ours | head -20 | sed 's/^/#   /'
}

make_null_blk nullb_a irqmode=2 completion_nsec=20000 submit_queues=2
disk=$made_disk
echo mq-deadline >"/sys/block/$disk/queue/scheduler" 2>/dev/null
settle
beside fio --output=/dev/null --direct=1 --ioengine=psync --bs=4k-64k --rw=randrw --size=64m \
	--io_size=2m --randseed=1 --numjobs=2 --name=m --filename="/dev/$disk"
same "fio: issues" D issue "rq_issue" 100
same "fio: completions" C complete "rq_complete rq_partial" 100
summarize -d "$disk"
nothing_lost

beside dd if=/dev/zero of="/dev/$disk" bs=1M count=8
same "buffered writes: issues" D issue "rq_issue" 8
same "buffered writes: completions" C complete "rq_complete rq_partial" 8

# Requeues, with a driver that is busy now and then.
make_scsi_debug dev_size_mb=64 delay=1
disk=$made_disk
settle
echo 0x8000 >/sys/bus/pseudo/drivers/scsi_debug/opts
echo 5 >/sys/bus/pseudo/drivers/scsi_debug/every_nth
beside dd if="/dev/$disk" of=/dev/null bs=4k count=50 iflag=direct
echo 0 >/sys/bus/pseudo/drivers/scsi_debug/every_nth
same "busy: issues" D issue "rq_issue" 50
same "busy: requeues" R requeue "rq_requeue" 1
same "busy: completions" C complete "rq_complete rq_partial" 50
monad-storage stop >/dev/null
done_testing
