#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Clocks of CPUs that do not agree: an I/O that ends before it was issued, or before it
# began. What is kept of I/Os under way is made to say so; then they end. That is counted
# and said, and what cannot be known of their times is left out: there is no sample of it,
# and none that is huge.
#
# needs: modules=null_blk,dm_mod,dm-delay programs=bpftool,dd,dmsetup
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

pins=/sys/fs/bpf/monad_storage
hour=3600000000000

# set_ahead KEYS TABLE FIELD...: of all I/Os in that table, by an hour; says of how many
set_ahead()
{
	keys=$1
	table=$2
	shift 2
	fields=$(printf '"%s",' "$@")
	bpftool -j map dump pinned "$pins/map_$keys" >/tmp/keys
	bpftool -j map dump pinned "$pins/map_$table" |
		jq -r --argjson hour $hour --argjson fields "[${fields%,}]" --slurpfile keys /tmp/keys '
			# Places that are given back still have what was in them.
			[$keys[0][].formatted.value.key[]] as $taken |
			def bytes: . as $n | [range(8) as $i | $n / pow(256; $i) | floor % 256];
			{ start_ns: 0, first_issue_ns: 8, last_issue_ns: 16 } as $offsets |
			.[] | select($taken[.formatted.key] != 0) |
			.formatted.value as $io | .key as $key |
			reduce $fields[] as $field (.value; $offsets[$field] as $at |
				.[:$at] + ($io[$field] + $hour | bytes) + .[$at + 8:]) |
			"key \($key | join(" ")) value \(map(tostring) | join(" "))"' >/tmp/updates
	while read -r update; do
		# shellcheck disable=SC2086 # one word a byte
		bpftool map update pinned "$pins/map_$table" $update || ok 1 "bpftool map update"
	done </tmp/updates
	wc -l </tmp/updates
}

# under_way N: as many are, of each state
under_way()
{
	[ "$(monad-storage inflight --json | jq '.inflight | length')" -eq "$1" ]
}

# samples_of DISK OP: which of an operation's times there are samples of, and how many
samples_of()
{
	monad-storage latency --json -d "$1" | jq -r --arg op "$2" '.series[] |
		select(.op == $op) | [.ops, .queue.samples, .device.samples, .total.samples] |
		join(" ")'
}

# no_hour DISK: is the sum of each kind of time of that disk below half an hour?
no_hour()
{
	monad-storage latency --json -d "$1" | jq '[.series[] |
		.queue.sum_ns, .device.sum_ns, .total.sum_ns | numbers] | max < 1800e9'
}

# remarks OP: what replay says of the last one
remarks()
{
	monad-storage replay --since "$began" -o "$1" | tail -n 1 |
		awk '{ print $9, $10, $11 != "-", $12, $13, $14 }'
}

# Long enough under way to set its clock ahead, even where an emulator stands still a while.
seconds=$((8 * slowness))
make_null_blk nullb_a irqmode=2 completion_nsec=${seconds}000000000 cache_size=4
disk=$made_disk
never_times_out "$disk"
settle
# Few, so that the tables are short.
start_recording --max-inflight 16
is "$(counter clock_backwards)" 0 "at first the clocks agree"

# It ends before it was issued: when that was is not known.
dd if="/dev/$disk" of=/dev/null bs=4k count=1 iflag=direct 2>/dev/null &
wait_for under_way 1
is "$(set_ahead inflight_keys inflight first_issue_ns last_issue_ns)" 1 "a read is under way"
wait
is "$(counter clock_backwards)" 1 "it ends before it was issued: counted"
events --since "$began" -o read >/tmp/event
is "$(jq -c '[.queue_ns, .device_ns, .total_ns != null]' /tmp/event)" "[null,null,true]" \
	"when it was issued is not known, how long it took is"
jq -e '.flags | index("clock_backwards")' /tmp/event >/dev/null
ok $? "the event says so"
is "$(samples_of "$disk" read)" "1 0 0 1" "no sample where there is no time"
is "$(remarks read)" "- - 1 clock went backwards" "replay says so"

# It ends before it began: how long it is with the device is known.
dd if=/dev/zero of="/dev/$disk" bs=4k count=1 oflag=direct 2>/dev/null &
wait_for under_way 1
is "$(set_ahead inflight_keys inflight start_ns)" 1 "a write is under way"
is "$(monad-storage inflight --json | jq '.inflight[].age_ns')" 0 "it began just now, if ever"
monad-storage export --once >/tmp/metrics
is "$(grep -c "^monad_storage_inflight_oldest_seconds{device=\"$disk\"} 0$" /tmp/metrics)" 1 \
	"and is not old"
wait
is "$(counter clock_backwards)" 2 "it ends before it began: counted"
events --since "$began" -o write >/tmp/event
is "$(jq -c '[.queue_ns, .device_ns != null, .total_ns]' /tmp/event)" "[null,true,null]" \
	"how long it took is not known, but how long the device did"
is "$(samples_of "$disk" write)" "1 0 1 0" "no sample where there is no time"

# An fsync, and the flush it waits for, which the device ends before it has it.
sync -d "/dev/$disk" &
wait_for under_way 2
# (Where there is no block_io_start, the fsync itself is not in that table yet.)
[ "$(set_ahead inflight_keys inflight first_issue_ns last_issue_ns)" -ge 1 ]
ok $? "a flush is under way"
wait
is "$(counter clock_backwards)" 4 "the fsync and the flush: both counted"
is "$(samples_of "$disk" flush)" "1 0 0 1" "the fsync: no sample but of all of it"
is "$(samples_of "$disk" cache_flush)" "1 0 0 1" "the flush: neither"

# A device that takes bios.
make_null_blk nullb_b
dmsetup create slow --table "0 $(cat "/sys/block/$made_disk/size") delay /dev/$made_disk 0 ${seconds}000" ||
	skip_all "no dm-delay"
dm=dm-$(dmsetup info -C --noheadings -o minor slow)
settle
dd if=/dev/mapper/slow of=/dev/null bs=4k count=1 iflag=direct 2>/dev/null &
wait_for under_way 1
is "$(set_ahead bio_keys inflight_bios start_ns)" 1 "a bio is under way"
wait
is "$(counter clock_backwards)" 5 "it ends before it began: counted"
is "$(samples_of "$dm" read)" "1 0 0 0" "no sample"
dmsetup remove slow

monad-storage latency | sed 's/^/# /'
is "$(no_hour "$disk") $(no_hour "$dm")" "true true" "nothing took an hour"
summarize
is "$(from_summary '[.actors[].wait_ns, .actors[].max_ns] | max < 1800e9')" true \
	"nor does the summary say so"
is "$(from_summary .losses.probe.clock_backwards)" 5 "which says what was left out"
is "$(monad-storage cgroups --json | jq '[.. | .total_ns? | numbers] | max < 1800e9')" true \
	"cgroups wait for what is known"
is "$(monad-storage status --json | jq -r '.inflight | add')" 0 "nothing is left in flight"
monad-storage stop >/dev/null
done_testing
