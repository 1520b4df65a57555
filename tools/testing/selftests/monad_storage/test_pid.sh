#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# One process among others: trace -p and replay -p have all of its I/O and nothing of
# the others', down to the thread, and nothing is left in flight.
#
# needs: modules=null_blk programs=dd,fio
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

make_null_blk nullb_a irqmode=2 completion_nsec=100000 submit_queues=2
disk=$made_disk
settle
start_recording

# Others, on the same disk, before, meanwhile and after.
fio --output=/dev/null --name=others --numjobs=2 --direct=1 --ioengine=psync --bs=4k \
	--rw=randrw --size=64m --time_based --runtime=600 --filename="/dev/$disk" &
others=$!
busy()
{
	[ "$(diskstats "$disk" | cut -d' ' -f1)" -gt 50 ]
}
wait_for busy

# It waits for a word, so that its number is known before its first I/O.
mkfifo /tmp/go
sh -c "read -r word </tmp/go
	exec dd if=/dev/zero of=/dev/$disk bs=4k count=100 oflag=direct 2>/dev/null" &
pid=$!
monad-storage trace -p $pid >/tmp/trace 2>/tmp/trace.err &
reader=$!
monad-storage trace --all -p $pid >/tmp/steps 2>/tmp/steps.err &
readers="$reader $!"
# The heading comes when they follow.
wait_for test -s /tmp/trace
wait_for test -s /tmp/steps
echo go >/tmp/go
wait $pid
lines()
{
	[ "$(wc -l <"$1")" -ge "$2" ]
}
wait_for lines /tmp/trace 101
wait_for lines /tmp/steps 201
# What there should not be may come later.
nap 5
# shellcheck disable=SC2086
kill $readers
# shellcheck disable=SC2086
wait $readers
is "$(tail -n +2 /tmp/trace | awk '{ print $2, $3, $4, $5 }' | sort | uniq -c | xargs)" \
	"100 dd $pid $disk write" "trace -p: 100 writes, and no more"
is "$(tail -n +2 /tmp/steps | awk '{ print $2, $3, $5 }' | sort | uniq -c | xargs)" \
	"100 dd $pid rq_complete 100 dd $pid rq_issue" "trace --all -p: each issued and done"
is "$(cat /tmp/trace.err /tmp/steps.err)" "" "and nothing was missed"

# Threads: by the process all, by one of them its own.
fio --output=/dev/null --name=threads --thread --numjobs=4 --direct=1 --ioengine=psync \
	--bs=4k --rw=randread --size=16m --number_ios=25 --filename="/dev/$disk" &
threads=$!
wait $threads
kill -0 $others
ok $? "the others were busy all the time"
kill $others
wait $others 2>/dev/null

summarize
is "$(events --since "$began" -p $pid | jq -r '[.comm, .pid, .op, .error] | join(" ")' |
	sort | uniq -c | xargs)" "100 dd $pid write" "replay -p: 100 writes, and no more"
is "$(events --since "$began" --all -p $pid | jq -r .type | sort | uniq -c | xargs)" \
	"100 rq_complete 100 rq_issue" "replay --all -p: each issued and done"
is "$(monad-storage replay --summary --json -p $pid | jq '[.rows[].ops] | add')" 100 \
	"replay --summary -p"
events --since "$began" -p $threads >/tmp/threads
is "$(wc -l </tmp/threads)" 100 "a process of four threads: 100 reads"
is "$(jq .tid /tmp/threads | sort | uniq -c | awk '{ print $1 }' | xargs)" "25 25 25 25" \
	"25 by each"
tid=$(jq .tid /tmp/threads | head -n 1)
is "$(events --since "$began" -p "$tid" | jq -r .tid | sort | uniq -c | xargs)" "25 $tid" "one of them alone"
is "$(events --since "$began" -p $pid -p $threads | wc -l)" 200 "two processes: 200"
is "$(events --since "$began" -p $$ | wc -l)" 0 "one that asked for nothing: none"
at_least "$(ops "$disk" read)" 200 "the others are there"
nothing_lost

for wrong in "" x 1x -1 2147483648 -18446744073709551615; do
	monad-storage replay -p "$wrong" >/dev/null 2>/tmp/message
	is $? 2 "process '$wrong' is a usage error"
	grep -q "'$wrong' is no process id" /tmp/message
	ok $? "and is said to be none"
done
monad-storage stop >/dev/null
done_testing
