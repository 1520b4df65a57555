#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# An I/O that hangs is told when that is found, again after twice, four times, eight times as
# long, and when it is over: by the event of its end, or without one. It is no timeout until
# its time is up, which for null_blk is 5 seconds.
#
# needs: modules=null_blk programs=dd
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

lines=/tmp/lines
make_null_blk nullb_stuck irqmode=2 completion_nsec=4700000000
disk=$made_disk
make_null_blk nullb_other irqmode=2 completion_nsec=4700000000
other=$made_disk
settle

# told FILTER: what is told of the disk, in order
told()
{
	jq -r ".spontaneousEvents[]? | select(.storage.device.name == \"$disk\") | $1" $lines
}

is_told()
{
	told .name | grep -q io_stuck
}

has_ended()
{
	told .name | grep -q io_stuck_end
}

hang()
{
	rm -f $lines
	monad-storage export --json-lines $lines --interval 200ms --metrics off --stuck 500ms \
		2>/tmp/export.log &
	export=$!
	wait_for test -s $lines
	dd if="/dev/$disk" of=/dev/null bs=4k count=1 iflag=direct 2>/dev/null &
	reader=$!
	dd if="/dev/$other" of=/dev/null bs=4k count=1 iflag=direct 2>/dev/null &
	wait_for is_told
	is "$(told .name | head -n 1)" io_stuck "it hangs, $1: it is told to"
	is "$(told .storage.actor.tgid | sort -u)" $reader "whose it is"
	wait $reader
	wait_for has_ended
	kill $export
	wait $export
	is "$(told .name | uniq -c | tr -s ' \n' ' ')" " 4 io_stuck 1 io_stuck_end " \
		"after 0.5, 1, 2 and 4 seconds, and when it is over"
	is "$(told '.storage.latencyNs | tonumber / 5e8 | log2 | floor' | xargs)" "0 1 2 3 3" \
		"of that age"
	is "$(told .storage.affected | sort -u)" 0 "nobody waits for it: another disk is none of its"
	is "$(told .storage.reasonClass | sort -u)" stuck "it is no timeout"
}

start_recording
hang "and its end is recorded"
is "$(told 'select(.name == "io_stuck_end").storage | [.reason, .phase, (.seqno | tonumber > 0)] |
	join(" ")')" "slow device STORAGE_PHASE_COMPLETE true" "that is its end"

monad-storage stop >/dev/null
monad-storage start --events=notable >/dev/null
hang "and its end is nothing that is recorded"
is "$(told 'select(.name == "io_stuck_end").storage | [.reason, .seqno] | join(" ")')" \
	"end not seen 0" "it is not there any more"
echo "# $(told .message | tail -n 1)"

# A recording that is begun anew knows nothing of what was.
rm -f $lines
monad-storage export --json-lines $lines --interval 200ms --metrics off --stuck 500ms 2>/dev/null &
export=$!
dd if="/dev/$disk" of=/dev/null bs=4k count=1 iflag=direct 2>/dev/null &
reader=$!
nap 15
start_recording
wait $reader
nap 10
kill $export
wait $export
is "$(told .name | sort -u)" io_stuck "in another recording there is no end of it to be told"
monad-storage stop >/dev/null
[ "$tap_failed" -eq 0 ] || sed 's/^/# /' /tmp/export.log
done_testing
