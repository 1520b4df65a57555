#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# In the guest: what the examples print is what happened, and so is what they leave in their
# rings.

nr=0
failed=0
slowness=${VM_SLOWNESS:-1}
ok()
{
	nr=$((nr + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $nr - $2"
	else
		echo "not ok $nr - $2"
		failed=1
		sed 's/^/# /' /tmp/out /tmp/err
	fi
}

# nap TENTHS: sleeps as many tenths of a second, and longer where all takes longer.
nap()
{
	sleep "$(($1 * slowness / 10)).$(($1 * slowness % 10))"
}

# begin WORD COMMAND...: starts an example, and waits until it has printed WORD.
begin()
{
	word=$1
	shift
	rm -f /tmp/out
	"$@" >/tmp/out 2>/tmp/err &
	pid=$!
	tries=0
	until grep -qs "$word" /tmp/out || [ $tries -eq $((100 * slowness)) ]; do
		sleep 0.1
		tries=$((tries + 1))
	done
}

# Programs of these paths, each with a name that is its own.
long=/tmp/$(printf '%0200d/%0200d' 7 8)/9
named=/tmp/just-three-and-twenty
mkdir -p "$(dirname "$long")"
for path in /tmp/one /tmp/two "$long" $named; do
	ln -s "$(command -v monad-ring)" "$path"
done

start()
{
	"$1" --version >/dev/null
}

begin recording first_event
# Others may look on, in C and C++, for as long as they like.
eventwatch first >/tmp/watch 2>&1 &
watch=$!
eventwatch-cc first >/tmp/watch-cc 2>&1 &
watch_cc=$!
nap 5
start /tmp/one
start /tmp/two
nap 3
kill $pid
wait $pid
[ "$(grep -c '^[0-9]*: one, pid [0-9]*$' /tmp/out)" -eq 1 ] &&
	[ "$(grep -c '^[0-9]*: two, pid [0-9]*$' /tmp/out)" -eq 1 ]
ok $? "first_event prints the two programs that ended"
[ "$(monad-ring dump first | grep -c 'type-2  *20$')" -ge 2 ]
ok $? "they are in the ring when it has ended"
nap 3
kill $watch $watch_cc
[ "$(grep -c ' type-2 20 bytes$' /tmp/watch)" -ge 2 ] &&
	[ "$(grep -c ' type-2 20 bytes$' /tmp/watch-cc)" -ge 2 ]
ok $? "those who watch the ring have seen them"
eventwatch first storage >/tmp/out 2>/tmp/err
[ $? -eq 1 ] && grep -q 'not 256 (storage)' /tmp/err
ok $? "a ring of other content than asked for is refused"

# A long name, and an ordinary one.
for way in reserve output ringbuf perfbuf; do
	begin TIME exec_events $way
	start $long
	start /tmp/two
	nap 5
	kill $pid
	wait $pid
	status=$?
	[ $status -eq 0 ] && [ "$(head -n 1 /tmp/out)" = \
		"TIME     EVENT PID     COMM             FILENAME" ]
	ok $? "exec_events $way ends when it is told to"
	[ "$(grep -c "^[0-9:]\{8\} EXEC  [0-9]\{1,7\} *9 \{15\} $long\$" /tmp/out)" -eq 1 ] &&
		[ "$(grep -c "^[0-9:]\{8\} EXEC  [0-9]\{1,7\} *two \{13\} /tmp/two\$" /tmp/out)" \
			-eq 1 ]
	ok $? "exec_events $way prints each exec, with its whole name"
done
# pid, comm, the name and its NUL: not a byte more. Only one of the ways tags its events.
for way in reserve output; do
	begin TIME exec_events $way
	start $named
	nap 5
	kill $pid
	wait $pid
	monad-ring dump exec >/tmp/out 2>&1
	case $way in
	reserve) tag=' tag0=[0-9]*' ;;
	output) tag= ;;
	esac
	[ "$(grep -c "type-2  *$((20 + 27))$tag\$" /tmp/out)" -eq 1 ]
	ok $? "exec_events $way records the bytes of the name and no more"
done
begin TIME exec_events reserve 2
start /tmp/one
start /tmp/two
wait $pid
[ $? -eq 0 ] && [ "$(wc -l </tmp/out)" -eq 3 ]
ok $? "exec_events ends by itself after as many as it was told"
exec_events reserve 0 2>/tmp/err
[ $? -eq 2 ]
ok $? "a count of none is refused"
exec_events nothing 2>/tmp/err
[ $? -eq 2 ] && grep -q usage: /tmp/err
ok $? "a way that there is not is refused"

case $(uname -r) in
6.1.*)
	cpu_sampler 1 >/tmp/out 2>/tmp/err
	[ $? -eq 1 ] && [ "$(wc -l </tmp/err)" -eq 1 ] && grep -q "Linux 6.12 or later" /tmp/err
	ok $? "cpu_sampler says that this kernel is too old"
	;;
*)
	# Something to be seen: a process in user space, and one in the kernel. How many samples
	# there are depends on what else the machine has to do that this guest runs on.
	sh -c 'while :; do :; done' &
	spinner=$!
	cpu_sampler -F 999 2 >/tmp/out 2>/tmp/err
	ok $? "cpu_sampler ends after the time it was given"
	kill $spinner
	grep -q '^ *[0-9]\{2,\} .* sh  *(user)$' /tmp/out
	ok $? "cpu_sampler sees a loop in user space"
	dd if=/dev/zero of=/dev/null bs=4M 2>/dev/null &
	spinner=$!
	cpu_sampler -F 999 2 >/tmp/out 2>/tmp/err
	kill $spinner
	[ "$(awk '$3 == "dd" && $4 !~ /[()]/ { n += $1 } END { print n + 0 }' /tmp/out)" -ge 5 ]
	ok $? "cpu_sampler knows the kernel's functions by name"
	cpu_sampler -p -F 99 1 >/tmp/out 2>/tmp/err
	[ "$(grep -c '^[0-9]*\.[0-9]\{9\} .* pid [0-9]* tid [0-9]* cpu [01] ' /tmp/out)" -ge 5 ]
	ok $? "cpu_sampler prints each sample when asked to"
	[ "$(monad-ring dump perf | grep -ci 'sample')" -ge 100 ]
	ok $? "the samples are in the ring, by their name"
	cpu_sampler -e cycles 1 >/tmp/out 2>/tmp/err
	status=$?
	{ [ $status -eq 1 ] && grep -q 'try -e cpu-clock' /tmp/err; } || [ $status -eq 0 ]
	ok $? "cpu_sampler says where there are no performance counters"
	;;
esac
for bad in "-F 0" "-F x" "-e nothing" "0" "1 2" "-n 0" "-1"; do
	# shellcheck disable=SC2086
	cpu_sampler $bad >/tmp/out 2>/tmp/err
	[ $? -eq 2 ] && grep -q usage: /tmp/err
	ok $? "cpu_sampler $bad is refused"
done

# As the last of the programs goes, so does what keeps the module.
unload()
{
	tries=0
	until rmmod monad_ring 2>/dev/null || [ $tries -eq $((100 * slowness)) ]; do
		sleep 0.1
		tries=$((tries + 1))
	done
}

unload
modprobe monad_ring rings=monad_ring,exec:10:21
begin TIME exec_events reserve 1
start /tmp/two
wait $pid
ok $? "a ring that was made at load, for nothing in particular, is taken"
unload
timeout $((10 * slowness)) exec_events reserve 1 >/tmp/out 2>/tmp/err
[ $? -eq 1 ] && grep -q 'modprobe monad_ring' /tmp/err
ok $? "without the module, it says what to do"
echo 1..$nr
exit $failed
