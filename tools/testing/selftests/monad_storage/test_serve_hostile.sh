#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Clients of 'monad-storage serve' that do what they should not: each is told, and only they
# suffer from it. And rings that are too small to be read in time.
#
# kernel: any
# needs: modules=null_blk programs=perl,dd,bpftool,timeout built=task_socket
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

socket=/run/monad-storage.sock
make_null_blk nullb_a
disk=$made_disk
make_null_blk nullb_b
other=$made_disk
settle

monad-storage serve >/tmp/server.out 2>/tmp/server.log &
server=$!
wait_for grep -q 'taking tasks' /tmp/server.out

files()
{
	set -- /proc/$server/fd/*
	echo $#
}

memory_kb()
{
	sed -n 's/^VmRSS:[^0-9]*\([0-9]*\).*/\1/p' /proc/$server/status
}

# still_serves TEXT: a task of somebody else is as it should be
still_serves()
{
	begin_task vfs-latency -d "$disk" --socket $socket -n 5
	write_to "$disk" 5
	wait "$task"
	is "$? $(task_summary '[.operations, .events] | join(" ")')" "0 5 5" "$1: others are served"
}

# says TEXT ACTION...: what task_socket is told
says()
{
	text=$1
	shift
	timeout 60 task_socket $socket "$@" >/tmp/says
	if grep -q -- "$text" /tmp/says; then
		ok 0 "says: $text"
	else
		ok 1 "$*: $text"
		sed 's/^/#   /' /tmp/says
	fi
}

still_serves "at first"
files=$(files)

# No messages.
says 'longer than 65536 bytes.*the connection is closed' raw ffffffff read
says 'longer than 65536 bytes.*the connection is closed' raw 80000000 read
says 'longer than 65536 bytes.*the connection is closed' raw 00010001 read
says '^closed' raw ffffffff read
says 'is no monad.Message.*the connection is closed' raw 00000003ffffff read
says 'is no monad.Message' raw 000000040a02ff00 read
says 'ends in its middle' raw 00000010aabb shut read
says 'was begun, and did not go on' raw 00000010aabb read
says 'was begun, and did not go on' raw 00 read
says 'of a kind that is not known' raw 00000000 await 1
says 'of a kind that is not known' zeros 4000 await 1000
# "GET / H", which is a long length and more
says 'longer than 65536' raw 474554202f2048 read
says "storage.devices has 3000 names: up to 64" names 3000 await 1
says 'would take too much memory.*the connection is closed' names 30000 read
says 'longer than 65536' names 40000 read
still_serves "after no messages"

# Messages of no use.
says 'not Register' register await 1
says 'not TaskResponse' response await 1
says "no task 'x'" cancel x await 1
says "no task 'x?y'" cancel "$(printf 'x\033y')" await 1

# Requests that ask for what there is not: field, value, and what there is.
says "task_id is '': it is 1 to 64" request '' vfs-latency 1000 await 1
says "task_id is 'a?b': " request "$(printf 'a\nb')" vfs-latency 1000 await 1
says "task_id is 'a?b': " request "$(printf 'a\377b')" vfs-latency 1000 await 1
says "task_id is '0*...'" request "$(printf %065d 0)" vfs-latency 1000 await 1
says "^x refused.*kind is 'vfs?': it is vfs-latency, fsync-latency, writeback-pressure or block" \
	request x "$(printf 'vfs\a')" 1000 await 1
says 'duration_ns is 99000000: it is 100000000 to 600000000000' request x vfs-latency 99 await 1
says 'duration_ns is 600001000000: ' request x vfs-latency 600001 await 1
says 'max_events is 1000001: it is 1 to 1000000' request x vfs-latency 1000 max_events=1000001 \
	await 1
says 'sample_rate is 18446744073709551615: ' request x vfs-latency 1000 \
	sample_rate=18446744073709551615 await 1
says 'storage.pids\[0\] is 0: ' request x vfs-latency 1000 pid=0 await 1
says 'storage.pids\[1\] is 4294967295: ' request x vfs-latency 1000 pid=1 pid=4294967295 await 1
says "storage.operations\[0\] is 'fsync': vfs-latency has read, write" \
	request x vfs-latency 1000 op=fsync await 1
says "storage.devices\[0\] is '/etc/shadow': " request x vfs-latency 1000 device=/etc/shadow await 1
says "storage.devices\[0\] is '/dev/../etc': " request x vfs-latency 1000 device=/dev/../etc await 1
says "storage.devices\[0\] is '': " request x vfs-latency 1000 device= await 1
# Anybody can make links there, and is not to learn from them what there is elsewhere.
mkdir -m 777 /dev/shm/anybody
ln -s /root/tests/lib.sh /dev/shm/anybody/file
ln -s /root/no_such /dev/shm/anybody/nothing
ln -s /dev/null /dev/shm/anybody/device
for name in file nothing device; do
	says "there is no disk shm/anybody/$name" \
		request x vfs-latency 1000 device=shm/anybody/$name await 1
done
says 'there is no disk no_such' request x vfs-latency 1000 device=no_such await 1
says "'null' is no block device" request x vfs-latency 1000 device=null await 1
many=
for i in $(seq 65); do
	many="$many pid=$i"
done
# shellcheck disable=SC2086
says 'storage.pids has 65 numbers: up to 64' request x vfs-latency 1000 $many await 1
still_serves "after nonsense"

# Many of them.
task_socket $socket crowd 900 read >/tmp/says
grep -q 'there are 64 connections, as many as there may be' /tmp/says
ok $? "the last of 900 connections is told"
still_serves "after a crowd"
task_socket $socket crowd 70 sleep 20000 >/tmp/says &
client=$!
sleep 6
still_serves "those who say nothing make room"
kill $client
wait $client 2>/dev/null
task_socket $socket flood 200000 >/tmp/says &
client=$!
still_serves "beside a flood"
kill $client
wait $client 2>/dev/null
for i in $(seq 200); do
	task_socket $socket request "$i" vfs-latency 60000
done
no_tasks()
{
	! grep -qx storage-task /proc/[0-9]*/comm 2>/dev/null
}
wait_for no_tasks
ok $? "200 that ask and go at once leave no task"
still_serves "after these"

# One that does not read, while there is more than there is room for.
rm -f /tmp/begun /tmp/go_on
timeout 200 task_socket $socket request s vfs-latency 300000 device="$other" max_events=1000000 \
	until /tmp/begun wait /tmp/go_on request t fsync-latency 1000 await 2 >/tmp/unread &
client=$!
wait_for grep -q '^s ok 0 0 more' /tmp/unread
touch /tmp/begun
nap 2
perl -e 'open(my $f, "+<", "/dev/$ARGV[0]") or die;
	for (1 .. 40000) { sysseek($f, 0, 0); syswrite($f, "x" x 512) == 512 or die }' "$other"
write_to "$other" 100
still_serves "beside one that does not read"
nap 60
touch /tmp/go_on
wait $client
is "$(grep -c '^t refused .* bytes of results have not been read yet' /tmp/unread)" 1 \
	"one that has not read what there is gets no other task"
is "$(sed -n 's/^s \([a-z]*\) .* final \(the client did not read\).*/\1 \2/p' /tmp/unread)" \
	"failed the client did not read" "its task is ended"
read -r _ _ events truncated summary operations _ unresolved why _ <<A
$(grep '^sum s' /tmp/unread)
A
echo "# $events events, $truncated truncated of $operations"
at_least "$events" 1000 "with the events that there was room for"
at_least "$truncated" 1000 "and others that are counted"
is "$((events + truncated)) $summary $unresolved $why" "$operations $events 0 client_slow" \
	"which are all there were"

# Nothing of all that is left.
same_files()
{
	[ "$(files)" -eq "$files" ]
}
wait_for same_files
is "$(files)" "$files" "no file is left open"
[ "$(memory_kb)" -lt 20000 ]
ok $? "nor much memory in use: $(memory_kb) KiB"
is "$(bpftool -j prog show | jq '[.[] | select((.name // "") | startswith("task_"))] | length')" 0 \
	"nor a program"

# A ring that is overwritten in no time.
kill $server
wait $server
is $? 0 "the server ends"
monad-storage stop >/dev/null
if rmmod monad_ring && modprobe monad_ring rings=tiny:10:21 && [ -c /dev/monad_ring-tiny ]; then
	monad-storage serve >/tmp/server.out 2>/tmp/server.log &
	server=$!
	wait_for grep -q 'taking tasks' /tmp/server.out
	start_recording --ring tiny -d "$disk"
	monad-storage task block-latency --socket $socket -t 1s >/tmp/task 2>&1
	is $? 0 "a small ring that is quiet can be read"
	dd if=/dev/zero of="/dev/$disk" bs=512 oflag=direct count=100000000 2>/dev/null &
	writer=$!
	dd if="/dev/$disk" of=/dev/null bs=512 iflag=direct count=100000000 2>/dev/null &
	reader=$!
	nap 5
	monad-storage task block-latency --socket $socket -t 1s >/tmp/task 2>/tmp/message
	is $? 1 "one that is overwritten at once cannot"
	grep -q 'the ring is overwritten every' /tmp/message
	ok $? "and it is refused: $(cat /tmp/message)"
	kill $writer $reader
	wait $writer $reader
	begin_task block-latency --socket $socket -t 60s
	dd if=/dev/zero of="/dev/$disk" bs=512 oflag=direct count=100000000 2>/dev/null &
	writer=$!
	dd if="/dev/$disk" of=/dev/null bs=512 iflag=direct count=100000000 2>/dev/null &
	reader=$!
	wait $task
	is $? 1 "one that comes to be overwritten at once ends the task"
	is "$(task_summary .ended_by)" ring_lapped "which says so"
	kill $writer $reader
	kill $server
	wait $server
	is $? 0 "the server ends again"
	monad-storage stop >/dev/null
	rmmod monad_ring
	modprobe monad_ring
fi
done_testing
