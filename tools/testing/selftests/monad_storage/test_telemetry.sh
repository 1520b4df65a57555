#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# What is recorded comes to receivers: each number as 'monad-storage latency' has it, and each
# event once, though a receiver is killed meanwhile and the recording begun anew.
#
# kernel: any
# needs: modules=null_blk,scsi_debug,sd_mod programs=dd
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

work=/tmp/telemetry
mkdir -p $work
socket=$work/socket
received=$work/received
lines=$work/lines

# --output: it is the one that goes on when it is started again.
start_receiver()
{
	monad-telemetry-receive $socket --output $received 2>>$work/receiver.log &
	receiver=$!
	wait_for test -S $socket
}

begin_export()
{
	monad-storage export --json-lines $lines --telemetry $socket --interval 500ms \
		--metrics 500ms --slow 20ms 2>>$work/export.log &
	export=$!
	wait_for has_batches 1
}

# has_batches N: N lines at least came to both
has_batches()
{
	[ "$(wc -l <$received)" -ge "$1" ] && [ "$(wc -l <$lines)" -ge "$1" ]
}

# more_batches N: until there are N more; what was done before is in the last ones
more_batches()
{
	wait_for has_batches $(($(wc -l <$received) + $1))
	wait_for has_batches $(($(wc -l <$lines) + $1))
}

# last_metric FILE NAME LABELS: its value; LABELS as jq has an object
last_metric()
{
	whole_lines "$1" | jq -s -r --arg name "$2" --argjson labels "$3" \
		'[.[] | select(.metrics) | .metrics[] | select(.name == $name and
		  ([.labels[]? | {(.name): .value}] | add // {} | contains($labels)))] |
		 last | if .histogram then (.histogram.count // 0) else (.value // 0) end'
}

# rows_of_latency: of each series operations, bytes, errors, latencies and their sum
rows_of_latency()
{
	monad-storage latency --json | jq -r '.series[] |
		[.disk, .op, .ops, .bytes, .errors, .total.samples, .total.sum_ns] | join(" ")' |
		sort
}

# rows_of FILE: the same, of the last batch there; the sum is in seconds
rows_of()
{
	tail -n 1 "$1" | jq -r '
		[.metrics[] | .label = ([.labels[]? | {(.name): .value}] | add // {})] as $all |
		def value($name; $device; $operation):
			[$all[] | select(.name == "monad_storage_" + $name and
				.label.device == $device and .label.operation == $operation)] |
			first | .value // 0;
		$all[] | select(.name == "monad_storage_latency_seconds" and
				.label.phase == "total") |
		.label.device as $d | .label.operation as $o | [$d, $o,
		 value("operations"; $d; $o), value("bytes"; $d; $o),
		 value("failed_operations"; $d; $o),
		 (.histogram.count // "0"), ((.histogram.sum // 0) * 1e9 + 0.5 | floor)] |
		join(" ")' | sort
}

# buckets_add_up FILE: in each histogram of the last batch
buckets_add_up()
{
	tail -n 1 "$1" | jq -e '[.metrics[] | select(.histogram) | .histogram |
		([.buckets[] | tonumber] | add) == ((.count // "0") | tonumber) and
		(.buckets | length) == (.bounds | length) + 1] | length > 0 and all' >/dev/null
}

# events_of FILE FILTER: each event in a line
events_of()
{
	jq -c "select(.spontaneousEvents) | .spontaneousEvents[] | select($2)" "$1"
}

count_of()
{
	events_of "$1" "$2" | wc -l
}

# is_whole FILE: each batch is there once, in order
is_whole()
{
	jq -s -e '[.[].sequence | tonumber] as $n | $n == ([range(1; ($n | length) + 1)])' \
		"$1" >/dev/null
}

make_null_blk nullb_slow irqmode=2 completion_nsec=30000000
slow=$made_disk
make_null_blk nullb_fast
fast=$made_disk
make_scsi_debug dev_size_mb=8 opts=2 medium_error_count=1
bad=$made_disk
settle

start_recording
start_receiver
begin_export
dd if=/dev/$fast of=/dev/null bs=4k count=200 iflag=direct 2>/dev/null
dd if=/dev/zero of=/dev/$fast bs=64k count=10 oflag=direct 2>/dev/null
dd if=/dev/$bad of=/dev/null bs=512 count=1 skip=4660 iflag=direct 2>/dev/null
more_batches 3

is "$(count_of $received ".name == \"io_error\" and .storage.device.name == \"$bad\"")" 1 \
	"the error came to the receiver, once"
is "$(count_of $lines ".name == \"io_error\" and .storage.device.name == \"$bad\"")" 1 \
	"and to the file, once"
event=$(events_of $received ".name == \"io_error\"")
is "$(echo "$event" | jq -r .severity)" SEVERITY_ERROR "it has its severity"
is "$(echo "$event" | jq -r .storage.error)" 61 "it is ENODATA"
is "$(echo "$event" | jq -r .storage.sector)" 4660 "where it was"
is "$(echo "$event" | jq -r .storage.actor.comm)" dd "and whose"

# What it refers to, in the batch that it is in.
is "$(jq -r 'select(.spontaneousEvents) | . as $batch | .spontaneousEvents[] |
	select(.name == "io_error") | .storage.actor.cgroup as $id |
	$batch.dictionary.strings[] | select(.id == $id) | .text' $received)" / \
	"its cgroup is in the dictionary"

# A receiver that is killed while I/O goes on, and comes again.
kill -9 "$receiver"
wait "$receiver" 2>/dev/null
dd if=/dev/$slow of=/dev/null bs=4k count=3 iflag=direct 2>/dev/null
nap 15
is "$(count_of $received ".storage.device.name == \"$slow\"")" 0 "a receiver that is away"
start_receiver
wait_for eval "[ \"\$(count_of $received '.storage.device.name == \"$slow\"')\" -gt 0 ]"
more_batches 2
is "$(events_of $received ".name == \"slow_io\" and .storage.device.name == \"$slow\"" |
	jq -s 'map(1 + (.truncatedCount // 0 | tonumber)) | add')" 3 \
	"gets what was slow meanwhile, each of them once"
grep -q "session resumed" $work/receiver.log
ok $? "in the session that it had"

# Nothing happens any more: the last batch has what there is.
more_batches 2
rows_of_latency >$work/latency
rows_of $received >$work/rows
at_least "$(wc -l <$work/latency)" 4 "'monad-storage latency' has some series"
is "$(cat $work/rows)" "$(cat $work/latency)" "and all of their numbers came to the receiver"
is "$(rows_of $lines)" "$(cat $work/latency)" "and to the file"
buckets_add_up $received
ok $? "the buckets of each histogram add up"
is "$(last_metric $received monad_storage_telemetry_export_up '{"exporter": "telemetry"}')" 1 \
	"the exporter says of itself that it is up"

# Stopped and started again, nobody tells the exporter.
monad-storage stop >/dev/null
more_batches 2
is "$(last_metric $received monad_storage_recording '{}')" 0 "a recording that is stopped"
start_recording
dd if=/dev/$bad of=/dev/null bs=512 count=1 skip=4660 iflag=direct 2>/dev/null
dd if=/dev/$fast of=/dev/null bs=4k count=7 iflag=direct 2>/dev/null
more_batches 3
is "$(last_metric $received monad_storage_operations \
	"{\"device\": \"$fast\", \"operation\": \"read\"}")" 7 "and one that is started begins anew"
is "$(count_of $received '.name == "io_error"')" 2 "its error comes as well, once"

# With another ring; and with one of the same name that is not the same.
for round in 1 2; do
	monad-storage stop >/dev/null
	monad-ring destroy another >/dev/null 2>&1
	monad-ring create another:12:22 >/dev/null
	start_recording --ring another
	dd if=/dev/$bad of=/dev/null bs=512 count=1 skip=4660 iflag=direct 2>/dev/null
	more_batches 2
	is "$(count_of $received '.name == "io_error"')" $((2 + round)) \
		"an error in ring 'another' of round $round comes, once"
done
monad-storage stop >/dev/null
start_recording
more_batches 2
is "$(count_of $received '.name == "io_error"')" 4 "back in the first ring nothing comes twice"

# The last window is sent before it ends.
dd if=/dev/$bad of=/dev/null bs=512 count=1 skip=4660 iflag=direct 2>/dev/null
kill "$export"
wait "$export"
is $? 0 "it ends at SIGTERM"
is "$(count_of $received '.name == "io_error"')" 5 "with what happened last"
is_whole $received
ok $? "the receiver has each batch once, in order"
is_whole $lines
ok $? "and so has the file"
is "$(grep -c "sent [0-9]* batches with [0-9]* events and [0-9]* metrics, 0 dropped$" $work/export.log)" 2 \
	"of each receiver it says what it has got"
! grep "dropped" $work/export.log | grep -qv " 0 dropped$"
ok $? "nothing was dropped"
kill "$receiver"
wait "$receiver"
is $? 0 "the receiver ends at SIGTERM"
grep -q " 0 duplicates, 0 missing, 0 refused" $work/receiver.log
ok $? "with nothing missing"

# From the past: what was in the ring before it was started.
rm -f $lines
timeout 3 monad-storage export --json-lines $lines --interval 1s --since "$began" 2>>$work/export.log
is "$(count_of $lines '.name == "io_error"')" 1 "--since: the error of before"
rm -f $lines
timeout 3 monad-storage export --json-lines $lines --interval 1s --events=off --since "$began" \
	2>>$work/export.log
is "$(count_of $lines true)" 0 "--events=off: no events"
is "$(last_metric $lines monad_storage_operations \
	"{\"device\": \"$bad\", \"operation\": \"read\"}")" 1 "but metrics"
is "$(tail -n 1 $lines | jq -r '[.host, .bootId, (.beganNs | tonumber) > 0] | join(" ")')" \
	"$(uname -n) $(cat /proc/sys/kernel/random/boot_id) true" "a line says whose it is"

# What is not as it may be thought to be.
# export_a_while OPTION...: its messages come to $work/message; returns its status
export_a_while()
{
	monad-storage export --interval 500ms "$@" 2>$work/message &
	export=$!
	nap 30
	kill "$export"
	wait "$export"
}
export_a_while --json-lines $lines
is $? 0 "what was delivered is a success"
is "$(grep -c 'no I/O is an event for being slow: say what is' $work/message)" 1 \
	"nothing is slow: said once"
is "$(grep -c "json $lines: sent [0-9]* batches with 0 events and [0-9]* metrics, 0 dropped$" \
	$work/message)" 1 "which it says at its end"
rm -f $lines
export_a_while --json-lines $lines --interval 200ms --metrics 1s
at_least "$(wc -l <$lines)" 4 "--metrics 1s: there are lines"
at_least $(($(wc -l <$lines) / 5 + 2)) "$(jq -c 'select(.metrics)' $lines | wc -l)" \
	"of which one in five has metrics"
is "$(jq -c 'has("metrics")' $lines | sed -n '1p;2p;$p' | xargs)" "true false true" \
	"the first one and the last one do"
rm -f $lines
export_a_while --json-lines $lines --metrics off
at_least "$(wc -l <$lines)" 4 "--metrics off: there are lines"
is "$(jq -c 'select(.metrics)' $lines)" "" "and no metrics"
export_a_while --json-lines /dev/full --slow 50ms
is $? 1 "what was not is a failure"
grep -q "metrics and 0 events were not delivered" $work/message
ok $? "that says how much"
monad-storage stop >/dev/null
monad-storage start --events=notable --slow=5s >/dev/null
export_a_while --json-lines $lines --slow 50ms
is "$(grep -c 'notable to it (--events=notable), 5.00s: --slow has no more' $work/message)" 1 \
	"what the recording leaves out cannot be told: said once"
monad-storage stop >/dev/null
monad-ring destroy another >/dev/null
[ "$tap_failed" -eq 0 ] || sed 's/^/# /' $work/export.log $work/receiver.log
done_testing
