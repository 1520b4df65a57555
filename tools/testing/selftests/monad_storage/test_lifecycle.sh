#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Starting, stopping and reading, in the order people do it and in others.
#
# needs: modules=null_blk programs=dd,timeout
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

make_null_blk nullb_a
disk=$made_disk
make_null_blk nullb_b
other=$made_disk
settle

monad-storage stop >/dev/null
is "$(monad-storage status | head -n 1)" "Not recording" "at first it does not record"
monad-storage status >/dev/null
is $? 1 "and status says so by its exit status"
runs "start" monad-storage start
is "$(find /sys/fs/bpf/monad_storage -name "link_*" | wc -l)" 14 "12 hooks are pinned, two of them twice"
monad-storage start 2>/tmp/message
is $? 1 "a second start is refused"
grep -q 'already recording' /tmp/message
ok $? "and says why"
is "$(find /sys/fs/bpf/monad_storage -name "link_*" | wc -l)" 14 "and leaves the first one alone"
monad-storage status >/dev/null
is $? 0 "status: recording"
monad-storage status -r nosuch >/dev/null 2>&1
is $? 1 "but not into a ring that there is not"
monad-storage status --json -r nosuch >/dev/null 2>&1
is $? 1 "nor with --json"
rmmod monad_ring 2>/dev/null
is $? 1 "the module cannot be unloaded under it"

began=@$(date +%s.%N)
monad-storage trace --json -d "$disk" >/tmp/trace &
tracer=$!
# has_traced N: writes
has_traced()
{
	[ "$(jq -r 'select(.op == "write") | .op' /tmp/trace | wc -l)" -ge "$1" ]
}
wait_for is_traced "$disk" /tmp/trace
dd if=/dev/zero of="/dev/$disk" bs=4k count=5 oflag=direct 2>/dev/null
dd if=/dev/zero of="/dev/$other" bs=4k count=7 oflag=direct 2>/dev/null
wait_for has_traced 5
kill $tracer
wait
is "$(jq -r 'select(.seqno and .op == "write") | [.disk, .op, .comm] | join(" ")' /tmp/trace | sort | uniq -c | xargs)" \
	"5 $disk write dd" "trace -d shows what happens on one disk"
is "$(events --since "$began" -o write | wc -l)" 12 "replay shows both"
is "$(events --since "$began" --all -d "$other" |
	jq -r .type | sort | uniq -c | xargs)" "7 rq_complete 7 rq_issue" "--all shows each step"
is "$(events --since "$began" --errors | wc -l)" 0 "no errors"
is "$(events --until "$began" --since "$began" | wc -l)" 0 "an empty time"

runs "stop" monad-storage stop
is "$(find /sys/fs/bpf -name "*monad_storage*" | wc -l)" 0 "nothing is pinned any more"
dd if=/dev/zero of="/dev/$disk" bs=4k count=5 oflag=direct 2>/dev/null
is "$(events --since "$began" -o write | wc -l)" 12 \
	"what was recorded is still there, and no more"
runs "stop again" monad-storage stop

mkdir /sys/fs/bpf/monad_storage
is "$(monad-storage status | head -n 1 | cut -d: -f1)" "Half started" "half pinned: status knows"
runs "half pinned: stop cleans up" monad-storage stop
runs "start on one disk only" monad-storage start -d "$other"
began=@$(date +%s.%N)
dd if=/dev/zero of="/dev/$disk" bs=4k count=5 oflag=direct 2>/dev/null
dd if=/dev/zero of="/dev/$other" bs=4k count=7 oflag=direct 2>/dev/null
is "$(events --since "$began" | jq -r .disk | sort | uniq -c | xargs)" \
	"7 $other" "only that disk is recorded"
is "$(monad-storage status --json | jq -r '.inflight.issued + .inflight.queued')" 0 \
	"and no state of the other is kept"
monad-storage stop >/dev/null

runs "an unknown disk can be one that is gone" monad-storage replay -d no_such_disk
remove_null_blks
is "$(events --since "$began" -d "$other" 2>/tmp/message | jq -r .disk | sort | uniq -c | xargs)" \
	"7 $other" "events of a disk that is gone are found by its name"
grep -q "there is no disk $other now" /tmp/message
ok $? "with a warning"
monad-storage replay --since yesterdayish 2>/dev/null
is $? 2 "a time that is none is a usage error"
monad-storage nonsense 2>/dev/null
is $? 2 "so is an unknown verb"
for verb in start stop status trace replay; do
	monad-storage $verb --help | grep -q '^Usage: monad-storage '
	ok $? "$verb --help"
done

# A clock that was wrong when it was started, as before it was set at boot.
began_ns()
{
	monad-storage status --json | jq .started_ns
}
export_began()
{
	monad-storage export --once | sed -n 's/^monad_storage_start_time_seconds //p'
}
make_null_blk nullb_c
disk=$made_disk
settle
monad-storage start >/dev/null
dd if=/dev/zero of="/dev/$disk" bs=4k count=20 oflag=direct 2>/dev/null
is "$(began_ns)" "$(began_ns)" "when it was started does not change"
ago=$(($(date +%s) - $(began_ns) / 1000000000))
now=$(date +%s)
date -s "@$((now - 86400))" >/dev/null
is "$(($(date +%s) - $(began_ns) / 1000000000 - ago < 60)) $(($(date +%s) - $(export_began | cut -d. -f1) - ago < 60))" \
	"1 1" "nor, by the clock that was set back a day, how long ago"
is "$(began_ns)" "$(began_ns)" "which is the same each time"
at_least "$(date +%s)" "$(export_began | cut -d. -f1)" "it is not in the future"
date -s "@$((now + 1))" >/dev/null

# The ring is older than the second recording, whose counters have nothing of the first.
of_ring()
{
	monad-storage export --once | sed -n 's/^monad_storage_ring_events_total //p'
}
before=$(of_ring)
at_least "$before" 24 "events were recorded: $before"
monad-storage stop >/dev/null
monad-storage start >/dev/null
dd if=/dev/zero of="/dev/$disk" bs=4k count=3 oflag=direct 2>/dev/null
[ "$(of_ring)" -ge 6 ] && [ "$(of_ring)" -lt "$before" ]
ok $? "started again: $(of_ring), of this recording"
monad-storage stop >/dev/null
done_testing
