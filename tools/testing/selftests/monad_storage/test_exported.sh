#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Each counter that an exporter has of itself is made to count, by what it is there for: a
# receiver that goes away, a queue that is full, batches that are refused, a ring that is
# overwritten. What counts where is in tools/testing/unit/test_lib_exported.c.
#
# needs: modules=null_blk,scsi_debug,sd_mod programs=dd
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

work=/tmp/exported
mkdir -p $work
socket=$work/socket
lines=$work/lines

# highest NAME [LABELS]: in all lines so far, in thousandths
highest()
{
	whole_lines $lines | jq -s -r --arg name "monad_storage_$1" --argjson labels "${2:-{\}}" \
		'[.[].metrics[]? | select(.name == $name and
		  ([.labels[]? | {(.name): .value}] | add // {} | contains($labels))) | .value] |
		 max // 0 | . * 1000 | floor'
}

has_counted()
{
	[ "$(highest "$@")" -gt 0 ]
}

# counts NAME [LABELS]: sooner or later
counts()
{
	wait_for has_counted "$@"
	at_least "$(highest "$@")" 1 "$1${2:+ $2}"
}

of_telemetry='{"exporter": "telemetry"}'

start_receiver()
{
	monad-telemetry-receive $socket --output $work/received "$@" 2>>$work/receiver.log &
	receiver=$!
	wait_for test -S $socket
}

stop_receiver()
{
	kill "$receiver"
	wait "$receiver"
}

# A cgroup of its own for who reads what fails.
read_bad()
{
	sh -c "echo \$\$ >/sys/fs/cgroup/reader/cgroup.procs
		dd if=/dev/$bad of=/dev/null bs=512 count=1 skip=4660 iflag=direct 2>/dev/null"
}

make_null_blk nullb_slow irqmode=2 completion_nsec=30000000
slow=$made_disk
make_null_blk nullb_fast
fast=$made_disk
make_scsi_debug dev_size_mb=8 opts=2 medium_error_count=1
bad=$made_disk
settle
mkdir /sys/fs/cgroup/reader
echo +io >/sys/fs/cgroup/cgroup.subtree_control
monad-ring destroy small >/dev/null 2>&1
monad-ring create small:12:22 >/dev/null
start_recording --ring small

start_receiver
monad-storage export --json-lines $lines --telemetry $socket --queue 10 --interval 500ms \
	--metrics 500ms --slow 20ms 2>$work/export.log &
export=$!
# It has the ring open before there is a line: what comes now it sees.
wait_for test -s $lines
dd if=/dev/$slow of=/dev/null bs=4k count=40 iflag=direct 2>/dev/null
read_bad
echo "# what is recorded"
counts ring_bytes
counts ring_capacity_bytes
counts ring_fill_ratio
counts cgroup_seconds
counts cgroup_failed_operations
echo "# what is sent"
counts telemetry_events
counts telemetry_notable_events
counts telemetry_sent_events
counts telemetry_truncated_events
counts telemetry_export_added_batches "$of_telemetry"
counts telemetry_export_sent_batches "$of_telemetry"
counts telemetry_export_sent_metrics "$of_telemetry"
counts telemetry_export_sent_events "$of_telemetry"
counts telemetry_export_up "$of_telemetry"

echo "# a receiver that is killed"
while :; do
	dd if=/dev/$slow of=/dev/null bs=4k count=20 iflag=direct 2>/dev/null
done &
reader=$!
kill -9 "$receiver"
wait "$receiver" 2>/dev/null
counts telemetry_export_failures "$of_telemetry"
counts telemetry_export_waiting_batches "$of_telemetry"
counts telemetry_export_waiting_bytes "$of_telemetry"
counts telemetry_skipped_metrics
counts telemetry_sampled_events
counts telemetry_dropped_events
counts telemetry_degradation
echo "# a queue that is full"
counts telemetry_export_dropped_batches "$of_telemetry"
counts telemetry_export_dropped_metrics "$of_telemetry"
counts telemetry_export_dropped_events "$of_telemetry"
is "$(highest telemetry_export_dropped_batches '{"exporter": "json"}')" 0 \
	"of the receiver that is there nothing is"
kill "$reader"
wait "$reader" 2>/dev/null

echo "# one that refuses batches"
before=$(highest telemetry_export_dropped_batches "$of_telemetry")
start_receiver --refuse-every 2
refuses_more()
{
	[ "$(highest telemetry_export_dropped_batches "$of_telemetry")" -gt \
		$((before + 3000)) ]
}
wait_for refuses_more
ok $? "what it refuses is dropped"

echo "# a ring that is written faster than it is read"
kill -STOP "$export"
dd if=/dev/$fast of=/dev/null bs=4k count=6000 iflag=direct 2>/dev/null
kill -CONT "$export"
counts telemetry_lost_events

kill "$export"
wait "$export"
is $? 0 "the exporter ends"
stop_receiver
monad-storage stop >/dev/null
monad-ring destroy small >/dev/null
rmdir /sys/fs/cgroup/reader
[ "$tap_failed" -eq 0 ] || sed 's/^/# /' $work/export.log $work/receiver.log
done_testing
