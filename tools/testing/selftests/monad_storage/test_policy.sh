#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# What becomes an event is what start was told; metrics have everything, and what was
# left out is counted.
#
# needs: modules=null_blk programs=fio,blkdiscard
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

make_null_blk nullb_a irqmode=2 completion_nsec=20000
fast=$made_disk
make_null_blk nullb_b irqmode=2 completion_nsec=30000000
slow=$made_disk
settle

# reads DISK N: one after the other
reads()
{
	fio --output=/dev/null --direct=1 --ioengine=psync --bs=4k --rw=randread \
		--size=16m --io_size="$(($2 * 4))k" --name=f --filename="/dev/$1"
}

# count_events FILTER
count_events()
{
	events --all --since "$began" | jq -c "select($1)" | wc -l
}

# metric DISK: reads that ended
metric()
{
	monad-storage latency --json | jq --arg disk "$1" \
		'[.series[] | select(.disk == $disk and .op == "read") | .ops] | add // 0'
}

start_recording --events ends
reads "$fast" 100
is "$(count_events '.type == "rq_complete"')" 100 "ends: 100 reads, 100 events"
is "$(count_events 'true')" 100 "and no others"
is "$(counter left_out)" 0 "none was left out"
is "$(monad-storage status --json | jq -r .events)" ends "status says so"
nap 1
summarize
nothing_lost

start_recording --events notable --slow 20ms
reads "$fast" 200
reads "$slow" 5
is "$(count_events ".disk == \"$slow\" and (.flags | index(\"slow\"))")" 5 \
	"notable: 5 slow reads, marked as such"
is "$(count_events 'true')" 5 "and no others"
is "$(counter left_out)" 200 "which were counted"
is "$(metric "$fast")" 200 "and measured"

start_recording --events notable --slow 20ms --slow "$slow=10s"
reads "$slow" 3
is "$(count_events 'true')" 0 "a disk with a time of its own"
is "$(metric "$slow")" 3 "has its metrics, too"

start_recording --events notable --sample 10
reads "$fast" 2000
sampled=$(count_events '.flags | index("sample")')
at_least "$sampled" 120 "one in 10 of 2000: about 200, not less than 120"
at_least 280 "$sampled" "nor more than 280"
is "$((sampled + $(counter left_out)))" 2000 "with those that were left out, 2000"

start_recording --events ends --max-rate 50
reads "$fast" 3000
recorded=$(count_events 'true')
at_least "$recorded" 50 "50 a second at most: that many were recorded"
at_least $((50 * 60 * slowness)) "$recorded" "and no more"
limited=$(counter rate_limited)
at_least "$limited" 1 "some were too many"
is "$((recorded + limited))" 3000 "they are counted"
is "$(metric "$fast")" 3000 "and measured"
monad-storage status | grep -q "50 a second at most" && ok 0 "status says so" || ok 1 "status says so"
monad-storage status | grep -q "lost or not seen" && ok 0 "and that not all is there" ||
	ok 1 "and that not all is there"

start_recording --no-attribution
reads "$fast" 10
is "$(count_events '.type == "rq_complete" and .pid == 0 and .comm == ""')" 10 \
	"nobody is named without attribution"

cat >/tmp/storage.conf <<END
# of a test
ring = monad_ring
events = notable
slow = 20ms
slow = $fast=1s
sample = 1000000
max-rate = 1000
enable_attribution = no
END
start_recording --config /tmp/storage.conf
is "$(monad-storage status --json |
	jq -r '[.events, .slow_ns, .slow_devices, .sample, .max_rate, .attribution] | join(" ")')" \
	"notable 20000000 1 1000000 1000 false" "settings from a file"
start_recording --slow 5ms --config /tmp/storage.conf
is "$(monad-storage status --json | jq -r '[.slow_ns, .slow_devices] | join(" ")')" \
	"5000000 0" "the command line counts more"
monad-storage stop >/dev/null

# refused TEXT OPTION...: with 2 and a message that has TEXT
refused()
{
	text=$1
	shift
	monad-storage start "$@" >/tmp/out 2>&1
	status=$?
	[ $status -eq 2 ] && grep -q -- "$text" /tmp/out
	ok $? "refused: $* ($text)"
	[ $status -eq 2 ] || { echo "# status $status"; sed 's/^/#   /' /tmp/out; }
}

refused "all, ends or notable" --events some
refused "with its unit" --events notable --slow 20
refused "with its unit" --events notable --slow 0ms
refused "set events to notable, too" --slow 20ms
refused "set events to notable, too" --sample 10
refused "goes with events ends or notable" --max-rate 10
refused "sample is 1 to" --events notable --sample 0
refused "No such file" --config /tmp/none.conf
printf 'events = ends\n\nslow=x\n' >/tmp/bad.conf
refused "/tmp/bad.conf:3: slow is a time" --config /tmp/bad.conf
printf '[disk]\nevents = ends\n' >/tmp/bad.conf
refused "/tmp/bad.conf:.*no sections" --config /tmp/bad.conf
printf 'nonsense\n' >/tmp/bad.conf
refused "/tmp/bad.conf:1: this is not SETTING = VALUE" --config /tmp/bad.conf
printf 'events = notable\nnonsense\nslow = x\n' >/tmp/bad.conf
refused "/tmp/bad.conf:2: this is not SETTING = VALUE" --config /tmp/bad.conf
printf 'enable_attribution = perhaps\n' >/tmp/bad.conf
refused "yes or no, not 'perhaps'" --config /tmp/bad.conf
printf 'evnets = ends\n' >/tmp/bad.conf
refused "no setting 'evnets'" --config /tmp/bad.conf
refused "directory" --config /tmp
monad-storage start --events notable --slow nodisk=1s 2>/tmp/out
is "$?" 1 "a disk that is not there"
grep -q "no disk nodisk" /tmp/out && ok 0 "is named" || ok 1 "is named"
done_testing
