#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# An exporter whose receiver is away: in the end it has tasks refused, and ended, that programs
# ask for; it says how many; and when it can send again, they run again.
#
# needs: modules=null_blk programs=find,tr
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

socket=/run/monad-storage.sock
receiver_socket=/tmp/receiver
lines=/tmp/lines
make_null_blk nullb0
disk=$made_disk
settle

# last_metric NAME: of those of the exporter itself
last_metric()
{
	whole_lines $lines | jq -s -r --arg name "monad_storage_telemetry_$1" \
		'[.[].metrics[]? | select(.name == $name)] | last.value // 0'
}

# ask: a task that takes a moment
ask()
{
	monad-storage task block-latency -d "$disk" --socket $socket -t 100ms \
		>/tmp/task 2>/tmp/message
}

# The receiver has gone: the queue fills up.
begin_export()
{
	monad-storage export --telemetry $receiver_socket --queue "$1" --json-lines $lines \
		--interval 100ms --metrics 100ms 2>>/tmp/export.log &
	export=$!
}

has_refused()
{
	[ "$(last_metric refused_tasks)" -ge "$1" ]
}

is_full()
{
	! ask
}

monad-storage serve >/tmp/server.out 2>/tmp/server.log &
server=$!
wait_for grep -q 'taking tasks' /tmp/server.out
start_recording
ask
is $? 0 "a task"

begin_task block-latency -d "$disk" --socket $socket -t 500s
running=$task
mv /tmp/task /tmp/running
begin_export 10
wait_for is_full
grep -q 'an exporter of this machine cannot keep up' /tmp/message
ok $? "a receiver that is away: another task is refused: $(cat /tmp/message)"
wait $running
is $? 1 "and the one that runs is ended"
is "$(jq -r 'select(.type == "summary").ended_by' /tmp/running)" back_pressure "and says why"
monad-storage task block-latency -d "$disk" -t 100ms >/tmp/task 2>&1
is $? 0 "somebody at a terminal may know better"
wait_for has_refused 2
is "$(last_metric degradation | tr 34 ++)" + "the exporter says how far it degrades"
at_least "$(last_metric refused_tasks)" 2 "and how many tasks that has cost"

monad-telemetry-receive $receiver_socket --output /tmp/received 2>/tmp/receiver.log &
receiver=$!
wait_for ask
ok $? "the receiver is there again: tasks run"
kill $receiver
wait $receiver
wait_for is_full
kill -9 "$export"
wait "$export" 2>/dev/null
ask
is $? 0 "what an exporter asked for that was killed does not count"
is "$(find /run/monad-storage -name 'exporter-*')" "" "nor is it there any more"

kill $server
wait $server
is $? 0 "the server ends"
monad-storage stop >/dev/null
[ "$tap_failed" -eq 0 ] || sed 's/^/# /' /tmp/export.log /tmp/server.log /tmp/receiver.log
done_testing
