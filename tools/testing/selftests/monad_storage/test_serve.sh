#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Tasks over a socket: all kinds, with the numbers that a task here has; several, and their
# ends; clients and servers that die; and nothing is left of any of them.
#
# kernel: any
# needs: modules=null_blk,ext4 programs=perl,dd,mkfs.ext4,bpftool,setpriv,timeout,stat,tr built=task_socket
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

socket=/run/monad-storage.sock
with=
make_null_blk nullb_a cache_size=4 irqmode=2 completion_nsec=1000000
disk=$made_disk
mkfs.ext4 -q "/dev/$disk"
mkdir -p /mnt
mount "/dev/$disk" /mnt
make_null_blk nullb_b
other=$made_disk
settle

begin_server()
{
	# What the one before said is not to be taken for its own.
	: >/tmp/server.out
	# shellcheck disable=SC2086
	$with monad-storage serve "$@" >/tmp/server.out 2>/tmp/server.log &
	server=$!
	wait_for grep -q 'taking tasks' /tmp/server.out ||
		{ ok 1 "serve $*"; cat /tmp/server.log; done_testing; }
}

end_server()
{
	kill -TERM $server
	wait $server
	status=$?
}

# in_log TEXT: the server said so
in_log()
{
	wait_for grep -q -- "$1" /tmp/server.log
	ok $? "the server's log: $1"
}

# syncs N: so many fsyncs of a file on $disk, in one process
syncs()
{
	perl -e 'open(my $f, ">", "/mnt/synced") or die;
		for (1 .. '"$1"') { syswrite($f, "x"); syscall(74, fileno($f)) and die }'
}

# Within a second, where a second is one.
nothing_left_soon()
{
	tries=0
	until nothing_left; do
		tries=$((tries + 1))
		[ $tries -lt $((10 * slowness)) ] || break
		sleep 0.1
	done
	is "$(left)" "$before" "$1: no program, link or map is left"
}

# task_processes: their ids
task_processes()
{
	grep -lx storage-task /proc/[0-9]*/comm 2>/dev/null | tr -dc '0-9\n'
}

# tasks_running N
tasks_running()
{
	[ "$(task_processes | wc -l)" -eq "$1" ]
}

before=$(left)
begin_server
is "$(stat -c '%F %a %U' $socket)" "socket 600 root" "the socket is root's alone"

# The same by itself and by the server, at the same time.
begin_task fsync-latency -d "$disk"
mv /tmp/task /tmp/local
local_task=$task
begin_task fsync-latency -d "$disk" --socket $socket
syncs 37
is $? 0 "37 fsyncs"
end_task
is $status 0 "^C ends it well"
kill -INT "$local_task"
wait "$local_task"
is "$(task_summary '[.kind, .ended_by, .operations, .events] | join(" ")')" \
	"fsync-latency cancelled 37 37" "by the server: 37 fsyncs"
is "$(task_events '[.op, .comm, .fs, .file, .disk] | join(" ")' | sort | uniq -c | xargs)" \
	"37 fsync perl ext4 synced $disk" "and what they were"
same='del(.task, .seqno, .time_ns, .latency_ns)'
cmp -s /dev/fd/3 /dev/fd/4 3<<A 4<<B
$(jq -S "select(.seqno) | $same" /tmp/local)
A
$(jq -S "select(.seqno) | $same" /tmp/task)
B
ok $? "all events are what the other task printed"
numbers='[.reason, .operations, .bytes, .errors, .top_devices[0].disk, .top_devices[0].operations,
	.left_out.begun, (.ops | keys | join("+")), (.slowest | length)] | map(tostring) | join(" ")'
is "$(task_summary "$numbers")" "$(jq -r "select(.type == \"summary\") | $numbers" /tmp/local)" \
	"so is the summary"
is "$(task_summary 'keys | join(" ")')" \
	"$(jq -r 'select(.type == "summary") | keys | join(" ")' /tmp/local)" "it has the same keys"
is "$(task_summary '.left_out | keys | join(" ")')" \
	"$(jq -r 'select(.type == "summary") | .left_out | keys | join(" ")' /tmp/local)" \
	"and reasons to leave something out"
is "$(task_summary '.p50_ns <= .p90_ns and .p90_ns <= .p99_ns and .p99_ns <= .max_ns and .p50_ns > 0')" \
	true "percentiles are in order"
nothing_left_out
nothing_left_soon "after these"

# As text, too.
monad-storage task fsync-latency -d "$disk" --socket $socket -n 3 >/tmp/text 2>/tmp/message &
task=$!
wait_for grep -q COMM /tmp/text
syncs 5
wait $task
is $? 0 "--max-events ends it"
is "$(grep -c '^[0-9:.]* *perl .* fsync .*synced' /tmp/text)" 3 "text: three events"
grep -q 'fsync-latency, .*ended by max_events' /tmp/text
ok $? "and a summary"

# Of all there is, what is read and written to tell of it is no part.
monad-storage task vfs-latency --socket $socket -t 1s --json >/tmp/own
is "$(jq -r 'select(.comm == "storage-task" or .comm == "monad-storage").comm' /tmp/own)" "" \
	"it does not see itself"

begin_task vfs-latency -d "$other" -o write --socket $socket
write_to "$other" 23
dd if="/dev/$other" of=/dev/null bs=4k count=4 iflag=direct 2>/dev/null
end_task
is "$(task_events '[.type, .op, .disk, .bytes] | join(" ")' | sort | uniq -c | xargs)" \
	"23 vfs_io write $other 4096" "vfs-latency: 23 writes"
is "$(task_summary '[.operations, .bytes] | join(" ")')" "23 94208" "and their sum"
nothing_left_out

echo $((1 << 20)) >/proc/sys/vm/dirty_background_bytes
echo $((2 << 20)) >/proc/sys/vm/dirty_bytes
make_null_blk nullb_c mbps=8
slow=$made_disk
mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0 "/dev/$slow"
mkdir -p /tmp/slow_mount
mount "/dev/$slow" /tmp/slow_mount
settle
begin_task writeback-pressure -d "$slow" --socket $socket
dd if=/dev/zero of=/tmp/slow_mount/f bs=64k count=160 2>/dev/null
end_task
at_least "$(task_summary .operations)" 3 "writeback-pressure: a writer is put to sleep"
is "$(task_summary '[.reason, .ops.throttle.operations == .operations, .events == .operations] |
	map(tostring) | join(" ")')" "dirty_throttling true true" "and the summary says so"
is "$(task_events '[.type, .op, .comm, .disk] | join(" ")' | sort -u | xargs)" \
	"dirty_throttle throttle dd $slow" "who, for which disk"
umount /tmp/slow_mount
echo 20 >/proc/sys/vm/dirty_ratio
echo 10 >/proc/sys/vm/dirty_background_ratio

monad-storage task block-latency --socket $socket -t 1s 2>/tmp/message
is $? 1 "block-latency without a recording"
grep -q "the server refused it: .*'monad-storage start' begins it" /tmp/message
ok $? "is refused, with what it takes: $(cat /tmp/message)"
start_recording -d "$other"
begin_task block-latency -d "$other" -o write --socket $socket
mv /tmp/task /tmp/first
first=$task
begin_task block-latency -d "$other" -o write
write_to "$other" 20
end_task
kill -INT "$first"
wait "$first"
is "$(task_events '[.type, .op, .disk] | join(" ")' | sort | uniq -c | xargs)" \
	"20 rq_complete write $other" "block-latency: 20 writes"
cmp -s /dev/fd/3 /dev/fd/4 3<<A 4<<B
$(jq -S "select(.seqno)" /tmp/first)
A
$(jq -S "select(.seqno)" /tmp/task)
B
ok $? "and by the server, to the last number"
begin_task block-latency --socket $socket -t 5m
monad-storage stop >/dev/null
wait "$task"
is "$?" 0 "a recording that ends, ends it"
is "$(task_summary .ended_by)" recording "with a summary"
grep -q 'warning: the recording was ended meanwhile' /tmp/message
ok $? "and a warning"

# Stacks, where they are recorded.
start_recording -d "$other" --stacks
write_to "$other" 3
rm -f /tmp/written
task_socket $socket request a block-latency 300000 device="$other" op=write until /tmp/written \
	cancel a await 1 >/tmp/stacks &
client=$!
wait_for grep -q '^a ok 0 0 more' /tmp/stacks
write_to "$other" 12
nap 5
touch /tmp/written
wait $client
is "$(grep '^sum a' /tmp/stacks)" "sum a 12 0 12 12 0 0 cancelled 12" \
	"12 writes come with stacks, which have names"
monad-storage stop >/dev/null

# Several on one connection: cancelled, over, and of the same id.
rm -f /tmp/written
task_socket $socket request a vfs-latency 300000 device="$other" \
	request b fsync-latency $((8000 * slowness)) device="$disk" \
	request a fsync-latency 1000 until /tmp/written cancel a await 3 >/tmp/several &
client=$!
wait_for grep -q '^b ok 0 0 more' /tmp/several
wait_for grep -q '^a ok 0 0 more' /tmp/several
write_to "$other" 250
syncs 9
touch /tmp/written
wait $client
is "$(grep -c '^a refused .*a task of that id is running' /tmp/several)" 1 \
	"an id that is in use is refused"
is "$(grep '^sum a' /tmp/several)" "sum a 250 0 250 250 0 0 cancelled 0" "one is cancelled"
is "$(grep '^a .*final' /tmp/several | grep -v refused)" "a cancelled 0 0 final it was cancelled" \
	"with its status"
is "$(grep '^sum b' /tmp/several)" "sum b 9 0 9 9 0 0 duration 0" "the other one goes on to its end"
nothing_left_soon "after several"

# What is left out is counted, whatever for.
rm -f /tmp/written
task_socket $socket request q vfs-latency 300000 device="$other" sample_rate=10 \
	request m vfs-latency 300000 device="$other" max_events=30 \
	request l vfs-latency 300000 device="$other" min_latency_ns=3600000000000 \
	until /tmp/written cancel q cancel l await 3 >/tmp/truncated &
client=$!
for id in q m l; do
	wait_for grep -q "^$id ok 0 0 more" /tmp/truncated
done
write_to "$other" 200
touch /tmp/written
wait $client
is "$(grep '^sum q' /tmp/truncated)" "sum q 20 180 20 200 0 0 cancelled 0" "sampled: 20 + 180"
read -r _ _ events truncated _ operations _ _ why _ <<A
$(grep '^sum m' /tmp/truncated)
A
is "$events $((events + truncated - operations)) $why" "30 0 max_events" "30 at most, and the others"
is "$(grep '^sum l' /tmp/truncated)" "sum l 0 0 0 200 200 0 cancelled 0" \
	"what is quicker than was asked for did not match"

# A client that is killed, and one that goes away in other ways.
begin_task vfs-latency --socket $socket -t 5m
mv /tmp/task /tmp/first
first=$task
begin_task fsync-latency --socket $socket -t 5m
wait_for tasks_running 2
ok $? "two tasks"
is "$([ "$(left)" != "$before" ] && echo yes)" yes "have programs"
kill -9 "$task" "$first"
wait "$task" "$first" 2>/dev/null
nothing_left_soon "clients are killed"
wait_for tasks_running 0
ok $? "nor a process"
in_log 'ended with its client'
monad-storage task vfs-latency --socket $socket -t 5m | head -n 1 >/tmp/head
grep -q COMM /tmp/head
ok $? "output that is gone ends it"
nothing_left_soon "after that"

# Tasks that die or hang are only that.
begin_task fsync-latency --socket $socket -t 5m
kill -SEGV "$(task_processes)"
wait "$task"
is "$?" 1 "a task that crashes is a failure"
grep -q 'the task failed: the task was killed by a signal: Segmentation fault' /tmp/message
ok $? "and it is said: $(cat /tmp/message)"
begin_task fsync-latency --socket $socket -t 5m
end_task
is $status 0 "the server goes on"
nothing_left_soon "after a crash"

# As many as there may be.
end_server
is $status 0 "SIGTERM ends the server"
is "$(stat -c %F $socket 2>/dev/null)" "" "and its socket is gone"
begin_server --max-tasks 2
begin_task vfs-latency --socket $socket -t 5m
first=$task
mv /tmp/task /tmp/first
begin_task vfs-latency --socket $socket -t 5m -d "$other"
second=$task
mv /tmp/task /tmp/second
monad-storage task vfs-latency --socket $socket 2>/tmp/message
is $? 1 "a third of two"
grep -q 'the server refused it: 2 tasks are running, as many as may' /tmp/message
ok $? "is refused: $(cat /tmp/message)"
write_to "$other" 7
end_server
is $status 0 "SIGTERM again"
wait "$first" "$second"
mv /tmp/second /tmp/task
is "$(task_summary '[.ended_by, .operations, .events] | join(" ")')" "server_ended 7 7" \
	"and its tasks end with summaries"
nothing_left_soon "after the server"

# The server is killed.
begin_server
begin_task vfs-latency --socket $socket -t 5m
kill -9 $server
wait $server 2>/dev/null
nothing_left_soon "the server is killed"
wait "$task"
is "$?" 1 "its client sees it"
grep -q 'it has closed the connection' /tmp/message
ok $? "and says so"
wait_for tasks_running 0
ok $? "no process is left"
is "$(stat -c %F $socket)" socket "its socket is left"
begin_server
ok $? "the next one takes its place"
monad-storage serve 2>/tmp/message
is $? 1 "but not that of one that is there"
grep -q "somebody listens at $socket already" /tmp/message
ok $? "says it"
end_server
echo precious >/tmp/file
monad-storage serve --socket /tmp/file 2>/tmp/message
is $? 1 "a file in its place"
grep -q 'is no socket' /tmp/message
ok $? "is named"
is "$(cat /tmp/file)" precious "and left alone"
monad-storage serve --socket /no/such/directory/s 2>/tmp/message
is $? 1 "a directory that is not there: $(cat /tmp/message)"
monad-storage serve --socket "/tmp/$(printf %0120d 1)" 2>/tmp/message
is $? 1 "a path that is too long: $(cut -c 1-40 /tmp/message)..."
monad-storage serve --max-tasks 20 2>/tmp/message
is $? 2 "--max-tasks 20"
monad-storage serve --group no_such_group 2>/tmp/message
is $? 2 "a group that is not there"
setpriv --reuid 1000 --regid 1000 --clear-groups monad-storage serve 2>/tmp/message
is $? 1 "as a user"
monad-storage task vfs-latency --socket $socket 2>/tmp/message
is $? 1 "nobody serves"
grep -q "nobody listens at $socket" /tmp/message
ok $? "it says"
monad-storage task vfs-latency --socket $socket --ring monad_ring 2>/tmp/message
is $? 2 "--ring is not for a server's"

# With no more than its unit lets it have.
with="setpriv --no-new-privs --bounding-set=-all,+sys_admin,+dac_read_search,+sys_ptrace"
start_recording -d "$other" --stacks
begin_server
with=
begin_task fsync-latency -d "$disk" --socket $socket
syncs 8
end_task
is "$status $(task_summary '[.operations, .events] | join(" ")')" "0 8 8" \
	"with the capabilities of its unit: fsync-latency"
begin_task block-latency -d "$other" -o write --socket $socket
write_to "$other" 6
end_task
is "$status $(task_summary '[.operations, .events] | join(" ")')" "0 6 6" "and block-latency"
is "$(cat /tmp/message)" "" "without a warning"
end_server
monad-storage stop >/dev/null

# Others may, if they are in the group.
begin_server --group 1000 --socket /tmp/group.sock
is "$(stat -c '%a %g' /tmp/group.sock)" "660 1000" "a socket of a group"
: >/tmp/task
setpriv --reuid 1000 --regid 1000 --clear-groups \
	monad-storage task fsync-latency -d "$disk" --socket /tmp/group.sock -n 3 --json >/tmp/task &
task=$!
wait_for test -s /tmp/task
syncs 4
wait $task
is "$? $(task_summary .events)" "0 3" "whose members need not be root"
setpriv --reuid 1001 --regid 1001 --clear-groups \
	monad-storage task fsync-latency --socket /tmp/group.sock 2>/tmp/message
is $? 1 "others may not: $(cat /tmp/message)"
end_server

# One user does not keep all others away.
begin_server --group 1000 --socket /tmp/group.sock --max-tasks 3
members=
for _ in 1 2; do
	: >/tmp/task
	setpriv --reuid 1000 --regid 1000 --clear-groups \
		monad-storage task fsync-latency -d "$disk" --socket /tmp/group.sock -t 5m --json \
		>/tmp/task 2>/dev/null &
	members="$members $!"
	wait_for test -s /tmp/task
done
setpriv --reuid 1000 --regid 1000 --clear-groups \
	monad-storage task fsync-latency -d "$disk" --socket /tmp/group.sock 2>/tmp/message
is $? 1 "a third one of a user, of three"
grep -q '2 tasks of user 1000 are running, as many as one may have' /tmp/message
ok $? "is refused: $(cat /tmp/message)"
monad-storage task fsync-latency -d "$disk" --socket /tmp/group.sock -t 100ms >/tmp/task
is $? 0 "and root has it"
end_server
# shellcheck disable=SC2086
wait $members
umount /mnt
done_testing
