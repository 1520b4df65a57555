# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# What the storage tests share. They run as root in a guest that has monad_ring
# loaded, print TAP, and exit with 0 (passed), 1 (failed) or 77 (skipped).
#
# needs: programs=date,jq

#
# TAP
#

tap_nr=0
tap_failed=0

# ok STATUS TEXT
ok()
{
	tap_nr=$((tap_nr + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $tap_nr - $2"
	else
		echo "not ok $tap_nr - $2"
		tap_failed=$((tap_failed + 1))
	fi
}

# is GOT WANTED TEXT
is()
{
	[ "$1" = "$2" ]
	ok $? "$3"
	[ "$1" = "$2" ] || echo "#   got '$1', wanted '$2'"
}

# at_least GOT WANTED TEXT: numbers
at_least()
{
	[ "${1:-0}" -ge "$2" ] 2>/dev/null
	ok $? "$3"
	[ "${1:-0}" -ge "$2" ] 2>/dev/null || echo "#   got '$1', wanted $2 or more"
}

# runs TEXT COMMAND...: shows what it printed when it fails
runs()
{
	text=$1
	shift
	if output=$("$@" 2>&1); then
		ok 0 "$text"
	else
		ok 1 "$text"
		echo "$output" | sed 's/^/#   /'
	fi
}

skip_all()
{
	echo "ok 1 # SKIP $*"
	echo "1..1"
	exit 77
}

done_testing()
{
	echo "1..$tap_nr"
	[ $tap_failed -eq 0 ]
	exit
}

#
# Devices
#

mount | grep -q ' /sys/kernel/config ' || mount -t configfs configfs /sys/kernel/config 2>/dev/null

# make_null_blk NAME [ATTRIBUTE=VALUE]...: /dev/NAME
make_null_blk()
{
	dir=/sys/kernel/config/nullb/$1
	modprobe null_blk nr_devices=0 2>/dev/null
	mkdir "$dir" || skip_all "no null_blk with configfs"
	name=$1
	shift
	for attribute in size=256 blocksize=512 memory_backed=1 "$@"; do
		echo "${attribute#*=}" >"$dir/${attribute%%=*}" ||
			echo "# null_blk has no $attribute"
	done
	echo 1 >"$dir/power"
	# Older kernels do not take the name of the directory for the disk.
	index=$(cat "$dir/index")
	if [ ! -b "/dev/$name" ]; then
		name=nullb$index
	fi
	wait_for test -b "/dev/$name"
	made_disk=$name
}

# never_times_out DISK: null_blk has requests fail that have taken 5 seconds when that is looked at
never_times_out()
{
	echo 600000 >"/sys/block/$1/queue/io_timeout"
}

remove_null_blks()
{
	for dir in /sys/kernel/config/nullb/*/; do
		[ -d "$dir" ] || continue
		echo 0 >"$dir/power"
		rmdir "$dir"
	done
}

# make_scsi_debug PARAMETER...: sets made_disk
make_scsi_debug()
{
	rmmod scsi_debug 2>/dev/null
	modprobe scsi_debug "$@" || skip_all "no scsi_debug"
	wait_for scsi_debug_disk
	made_disk=$(scsi_debug_disk)
	wait_for test -b "/dev/$made_disk"
}

scsi_debug_disk()
{
	for block in /sys/bus/pseudo/drivers/scsi_debug/adapter*/host*/target*/*:*/block/*; do
		[ -d "$block" ] && basename "$block" && return
	done
	return 1
}

slowness=${VM_SLOWNESS:-1}

# nap TENTHS: sleeps as many tenths of a second, and longer where all takes longer
nap()
{
	sleep "$(($1 * slowness / 10)).$(($1 * slowness % 10))"
}

# wait_for COMMAND...: for up to 10 seconds, likewise
wait_for()
{
	tries=0
	until "$@" >/dev/null 2>&1; do
		tries=$((tries + 1))
		[ $tries -lt $((100 * slowness)) ] || return 1
		sleep 0.1
	done
}

# What was in the queue of a new disk, udev's and the kernel's looks at its
# partitions, is over.
settle()
{
	sync
	nap 3
}

#
# Recording
#

start_recording()
{
	monad-storage stop >/dev/null
	began=@$(date +%s.%N)
	monad-storage start "$@" >/dev/null || { ok 1 "monad-storage start"; done_testing; }
}

# events [OPTION]...: what replay has, as JSON, without what it says of gaps and totals
events()
{
	monad-storage replay --json "$@" | jq -c 'select(.seqno)'
}

# Everything since start_recording, as JSON in $summary.
summarize()
{
	sync
	nap 2
	summary=$(monad-storage replay --summary --json --since "$began" "$@")
}

# is_traced DISK FILE: one more read of it; does a trace that runs write there yet?
is_traced()
{
	dd if="/dev/$1" of=/dev/null bs=4k count=1 iflag=direct 2>/dev/null
	test -s "$2"
}

# blktrace_traces PID: has it a thread for each CPU, beside the one that began them?
blktrace_traces()
{
	[ "$(ls "/proc/$1/task" | wc -l)" -gt "$(grep -c ^processor /proc/cpuinfo)" ]
}

# whole_lines FILE: of one that is being written
whole_lines()
{
	head -n "$(wc -l <"$1")" "$1"
}

# from_summary FILTER: what jq makes of it
from_summary()
{
	echo "$summary" | jq -r "$@"
}

# ops DISK OP [FIELD]
ops()
{
	from_summary --arg disk "$1" --arg op "$2" \
		"[.rows[] | select(.disk == \$disk and .op == \$op) | .${3:-ops}] | add // 0"
}

# counter NAME: of the programs
counter()
{
	monad-storage status --json | jq -r ".counters.$1"
}

# diskstats DISK: reads, their sectors, writes, discards likewise, flushes
diskstats()
{
	awk -v disk="$1" '$3 == disk { print $4, $6, $8, $10, $15, $17, $19 }' /proc/diskstats
}

# difference "A B ..." "C D ...": C-A D-B ...
difference()
{
	echo "$1 $2" | awk '{
		for (i = 1; i <= NF / 2; i++)
			line = line (i > 1 ? " " : "") $(i + NF / 2) - $i
		print line
	}'
}

# The same numbers, from the events in $summary.
diskstats_from_events()
{
	from_summary --arg disk "$1" '(.diskstats[$disk] // {}) |
		[.reads, .read_sectors, .writes, .written_sectors, .discards,
		 .discarded_sectors, .flushes] | map(. // 0) | join(" ")'
}

# The same, from what was added up since the start.
diskstats_from_metrics()
{
	monad-storage latency --json | jq -r --arg disk "$1" '
		[.series[] | select(.disk == $disk)] |
		def sum(f; ops): [.[] | select(.op as $op | ops | index($op)) | f] | add // 0;
		(["write", "flush", "write_zeroes", "secure_erase", "zone_append"]) as $writes |
		[sum(.ops; ["read"]), sum(.bytes; ["read"]) / 512,
		 sum(.ops; $writes), sum(.bytes; $writes) / 512,
		 sum(.ops; ["discard"]), sum(.bytes; ["discard"]) / 512,
		 sum(.ops; ["cache_flush"])] | join(" ")'
}

# No event lost by anybody, nothing left in flight.
nothing_lost()
{
	is "$(from_summary '[.losses | .. | numbers] | add')" 0 "nothing was lost or left out"
	is "$(monad-storage inflight --json | jq '(.inflight | length) + .ended_unseen')" 0 \
		"nothing is left in flight"
}

#
# Tasks
#

# begin_task KIND [OPTION]...: in the background, and returns when it looks at things; sets
# $task. What it prints comes to /tmp/task, as JSON, and its messages to /tmp/message.
begin_task()
{
	: >/tmp/task
	monad-storage task "$@" --json >/tmp/task 2>/tmp/message &
	task=$!
	wait_for test -s /tmp/task || { ok 1 "task $*"; cat /tmp/message; done_testing; }
}

# end_task: as ^C does; sets $status
end_task()
{
	kill -INT "$task"
	wait "$task"
	# shellcheck disable=SC2034
	status=$?
}

# task_events [FILTER]: what it printed, but for the first and the last line
task_events()
{
	jq -c "select(.seqno)${1:+ | $1}" /tmp/task
}

# task_summary FILTER
task_summary()
{
	jq -r "select(.type == \"summary\") | $1" /tmp/task
}

# nothing_left_out: and nothing lost
nothing_left_out()
{
	is "$(task_summary '.left_out | add')" 0 "nothing was left out"
}

# write_to DISK N: so many writes
write_to()
{
	dd if=/dev/zero of="/dev/$1" bs=4k count="$2" oflag=direct conv=notrunc 2>/dev/null
}

# What tasks load, attach and allocate; takes bpftool.
left()
{
	{
		bpftool -j prog show | jq '[.[] | select((.name // "") | startswith("task_"))] | length'
		bpftool -j link show | jq length
		bpftool -j map show | jq length
	} | xargs
}

# As much as there was $before.
nothing_left()
{
	[ "$(left)" = "$before" ]
}

cleanup()
{
	monad-storage stop >/dev/null 2>&1
	umount /mnt 2>/dev/null
	dmsetup remove_all 2>/dev/null
	rmmod scsi_debug 2>/dev/null
	remove_null_blks
}

trap cleanup EXIT
