#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Tasks come to an end, each in its way, and leave nothing behind; several at a time do not
# see each other's events; and what is asked wrongly is said to be.
#
# needs: modules=null_blk programs=perl,dd,setpriv,bpftool,timeout
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

make_null_blk nullb_a
disk=$made_disk
make_null_blk nullb_b
other=$made_disk
settle

before=$(left)
begin_task vfs-latency -d "$disk" --duration 1s
write_to "$disk" 5
wait $task
is $? 0 "the duration ends it"
is "$(task_summary '[.ended_by, .operations, .events] | join(" ")')" "duration 5 5" "and it says so"
at_least "$(task_summary .window_ns)" 1000000000 "after a second"
wait_for nothing_left
is "$(left)" "$before" "no program, link or map is left"

begin_task vfs-latency -d "$disk" -n 3
write_to "$disk" 50
wait $task
is $? 0 "--max-events ends it"
is "$(task_summary '[.ended_by, .events] | join(" ")')" "max_events 3" "and it says so"
is "$(task_events .seqno | wc -l)" 3 "3 events"
is "$(task_summary '.operations - .left_out.beyond_max_events')" 3 "what came after is counted"

begin_task vfs-latency -d "$disk"
is "$([ "$(left)" != "$before" ] && echo yes)" yes "while it runs, there are programs"
write_to "$disk" 5
kill -9 $task
wait $task 2>/dev/null
wait_for nothing_left
is "$(left)" "$before" "kill -9: no program, link or map is left"

begin_task vfs-latency -d "$disk"
kill -TERM $task
wait $task
is $? 0 "a signal ends it well"
is "$(task_summary '[.ended_by, .operations, .reason] | join(" ")')" "interrupt 0 nothing" \
	"with a summary of nothing"

# Readers that go away, that are stuck, and a task that is stopped.
began_s=$(date +%s)
monad-storage task vfs-latency --duration 5m | head -n 1 >/tmp/head
at_least $((60 * slowness)) $(($(date +%s) - began_s)) "output that is gone ends it"
grep -q COMM /tmp/head
ok $? "after its first line"
monad-storage task vfs-latency -d "$disk" --duration 1s >/dev/full 2>/tmp/message &
task=$!
wait $task
is $? 1 "output that cannot be written is a failure"
grep -q 'output was lost' /tmp/message
ok $? "and it says so"

begin_task vfs-latency -d "$disk" --duration $((2 * slowness))s
write_to "$disk" 5
kill -STOP $task
sleep $((3 * slowness))
write_to "$disk" 7
kill -CONT $task
wait $task
is "$(task_summary '[.operations, .events] | join(" ")')" "5 5" \
	"a task that is stopped sees nothing when its time is over"

# Two at a time, of one kind and of two.
begin_task vfs-latency -d "$disk"
first=$task
mv /tmp/task /tmp/first
begin_task vfs-latency -d "$other"
second=$task
mv /tmp/task /tmp/second
begin_task fsync-latency -d "$other"
write_to "$disk" 5
write_to "$other" 7
write_to "$disk" 11
dd if=/dev/zero of="/dev/$other" bs=4k count=1 conv=fsync,notrunc 2>/dev/null
end_task
kill -INT "$first" "$second"
wait "$first" "$second"
is "$(task_events '[.op, .disk] | join(" ")' | sort | uniq -c | xargs)" "1 fsync $other" \
	"three at a time: the sync"
mv /tmp/first /tmp/task
is "$(task_events '[.op, .disk] | join(" ")' | sort | uniq -c | xargs)" "16 write $disk" \
	"the writes of one disk"
is "$(task_summary '[.operations, .left_out.missed] | join(" ")')" "16 0" "and no others"
mv /tmp/second /tmp/task
is "$(task_events '[.op, .disk] | join(" ")' | sort | uniq -c | xargs)" "8 write $other" \
	"and those of another"
wait_for nothing_left
is "$(left)" "$before" "and nothing is left"

# The kernel attaches 38 programs to a function at most.
pids=
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19; do
	monad-storage task fsync-latency -t 5m >/tmp/many.$i &
	pids="$pids $!"
done
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19; do
	wait_for test -s /tmp/many.$i
done
monad-storage task fsync-latency -t 1s 2>/tmp/message
is $? 1 "too many at a time: there is nothing left to attach to"
grep -q 'warning: attaching to vfs_fsync_range' /tmp/message
ok $? "a warning names the function"
grep -q 'there is nothing to attach to for fsync-latency' /tmp/message
ok $? "and an error says that it was the last"
# The same for those who ask a server.
monad-storage serve --socket /tmp/socket >/tmp/server.out 2>/tmp/server.log &
server=$!
wait_for grep -q 'taking tasks' /tmp/server.out
monad-storage task fsync-latency --socket /tmp/socket 2>/tmp/message
is $? 1 "too many at a time, asked over a socket"
grep -q 'the server refused it: there is nothing to attach to for fsync-latency' /tmp/message
ok $? "is refused"
grep -q 'warning: attaching to vfs_fsync_range: as many programs as the kernel takes' /tmp/message
ok $? "and a warning says why"
# shellcheck disable=SC2086
kill $pids $server
wait
wait_for nothing_left
is "$(left)" "$before" "and nothing is left of all of these"

# block-latency reads what is recorded.
monad-storage task block-latency -t 1s 2>/tmp/message
is $? 1 "block-latency without a recording"
grep -q "'monad-storage start' begins it" /tmp/message
ok $? "says what it takes"
start_recording -d "$disk"
monad-storage task block-latency -t 1s -d "$other" 2>/tmp/message
is $? 1 "block-latency of a disk that is not recorded"
grep -q "$other is not recorded" /tmp/message
ok $? "says so"
begin_task block-latency -d "$disk" -o write -s 2
write_to "$disk" 20
dd if="/dev/$disk" of=/dev/null bs=4k count=4 iflag=direct 2>/dev/null
end_task
is "$(task_events '[.type, .op, .disk] | join(" ")' | sort | uniq -c | xargs)" \
	"10 rq_complete write $disk" "block-latency: every second write"
is "$(task_summary '[.operations, .bytes, .left_out.sampled_out] | join(" ")')" "20 81920 10" \
	"and sums of all"
begin_task block-latency -n 5
write_to "$disk" 20
wait $task
is "$(task_events .seqno | wc -l) $(task_summary .ended_by)" "5 max_events" "--max-events there"
begin_task block-latency -t $((2 * slowness))s
monad-storage stop >/dev/null
wait $task
grep -q 'the recording was ended meanwhile' /tmp/message
ok $? "a recording that ends meanwhile is no good news"

# usage TEXT ARGUMENT...: is refused, with a message that has TEXT
usage()
{
	text=$1
	shift
	monad-storage task "$@" >/dev/null 2>/tmp/message
	is $? 2 "usage: $*"
	grep -q -- "$text" /tmp/message
	ok $? "it says: $text"
}

usage 'which kind' --json
usage "no task 'nonsense'" nonsense
usage 'one kind of task' vfs-latency fsync-latency
usage "no operation 'fsync'.*read, write" vfs-latency -o fsync
usage "no operation 'read'.*dsync_write" fsync-latency -o read
usage 'duration is 100ms to 10m' vfs-latency -t 11m
usage 'duration is 100ms to 10m' vfs-latency -t 0
usage 'max-events is 1 to' vfs-latency -n 0
usage 'sample-rate is 1 to' vfs-latency -s -1
usage 'no process id' vfs-latency -p 0
usage 'no time' vfs-latency --min-latency soon
usage 'reads the ring that is recorded to' block-latency -r monad_ring
monad-storage task vfs-latency -d no_such_disk 2>/tmp/message
is $? 1 "a disk that is not there"
grep -q 'there is no disk no_such_disk' /tmp/message
ok $? "is named"
monad-storage task vfs-latency -r no_such_ring 2>/tmp/message
is $? 1 "so is a ring: $(cat /tmp/message)"
setpriv --reuid 1000 --regid 1000 --clear-groups monad-storage task vfs-latency 2>/tmp/message
is $? 1 "as a user"
grep -q 'a task takes root' /tmp/message
ok $? "it takes root"

if rmmod monad_ring 2>/dev/null; then
	monad-storage task vfs-latency -t 1s 2>/tmp/message
	is $? 1 "without the module: $(head -n 1 /tmp/message)"
	grep -q monad_ring /tmp/message
	ok $? "which is named"
	modprobe monad_ring
fi
done_testing
