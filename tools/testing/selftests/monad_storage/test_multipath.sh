#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# An nvme namespace with two paths: the bios of its head are handed down as they are, and are
# those of the path's requests as well. Each ends at both, flushes and what was merged too, and
# nothing seems to be under way for ever.
#
# needs: modules=nvme programs=fio disks=nvme_paths
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

# nvme0n1, if nvme0c0n1 and so on are paths to it
head_of_paths()
{
	ls /sys/block | sed -n 's/^\(nvme[0-9]*\)c[0-9]*n1$/\1n1/p' | sort -u
}

wait_for eval '[ -b "/dev/$(head_of_paths)" ]'
head=$(head_of_paths)
[ -b "/dev/$head" ] && ls -d "/sys/block/${head%n1}c"*n1 >/dev/null 2>&1 ||
	skip_all "no nvme multipath in this kernel"
settle

# of_latency DISK OP FILTER: of the metrics, of all disks whose name begins so
of_latency()
{
	monad-storage latency --json | jq -r --arg disk "$1" --arg op "$2" \
		"[.series[] | select((.disk | startswith(\$disk)) and .op == \$op)] | $3"
}

start_recording
fio --name=a --filename="/dev/$head" --rw=write --bs=4k --size=4M --ioengine=psync --fsync=256 \
	--end_fsync=1 --minimal >/tmp/fio
is "$(cut -d';' -f5 /tmp/fio)" 0 "buffered writes with fsync"
fio --name=a --filename="/dev/$head" --rw=read --bs=4k --size=4M --ioengine=libaio --direct=1 \
	--iodepth=32 --iodepth_batch=16 --minimal >/tmp/fio
is "$(cut -d';' -f5 /tmp/fio)" 0 "direct reads, sixteen at a time"
summarize
is "$(of_latency "$head" write 'map(.bytes) | add')" 4194304 "the head has all that was written"
is "$(of_latency "$head" read 'map(.bytes) | add')" 4194304 "and read"
is "$(of_latency "${head%n1}c" write 'map(.bytes) | add')" 4194304 "and so have its paths"
is "$(of_latency "${head%n1}c" read 'map(.bytes) | add')" 4194304 "for both"
at_least "$(of_latency "$head" flush 'map(.ops) | add')" 4 "flushes of the head have ended"
is "$(of_latency "$head" flush 'map(.ops) | add')" \
	"$(of_latency "${head%n1}c" flush 'map(.ops) | add')" "as many as those of its paths"
is "$(of_latency "$head" read 'map(.bio_based) | unique | map(tostring) | join(" ")')" true \
	"the head takes bios"
is "$(from_summary "[.actors[] | select(.comm != \"fio\") | .ops] | add // 0")" 0 \
	"all of it is fio's, on both layers"
is "$(monad-storage cgroups --json | jq '[.cgroups[].writes.bytes] | add')" 4194304 \
	"and its cgroup has paid once"
is "$(counter bio_queued)" "$(counter bio_completed)" "each bio that was queued has ended"
nothing_lost

# More than a path takes at once: the last part is the bio itself, which ends when all have.
start_recording
dd if="/dev/$head" of=/dev/null bs=1M count=8 iflag=direct 2>/dev/null
is $? 0 "direct reads of 1 MiB"
summarize
is "$(of_latency "$head" read '[(map(.ops) | add), (map(.bytes) | add)] | join(" ")')" "8 8388608" \
	"the head has eight"
is "$(of_latency "${head%n1}c" read '[(map(.ops) | add), (map(.bytes) | add)] | join(" ")')" \
	"64 8388608" "its paths have eight times as many"
nothing_lost
events --since "$began" -o read >/tmp/events
# The parts of each are between the end of the one before it and its own.
is "$(jq -sr --arg head "$head" 'def began: .time_ns - .total_ns;
	[.[] | select(.disk == $head)] as $wholes | [.[] | select(.disk != $head)] as $parts |
	[$wholes[] | . as $whole | [$parts[] | select(.time_ns > ($whole | began) and
		.time_ns <= $whole.time_ns)] | length] | unique | join(" ")' /tmp/events)" 8 \
	"each ends when all of its eight parts have"

# Sector 65600 is in the third part of the 33rd MiB.
read_badly()
{
	dd if="/dev/$head" of=/dev/null bs=$1 skip=$2 count=1 iflag=direct 2>/dev/null
	is $? 1 "reads a bad sector, $3"
	summarize
	is "$(of_latency "$head" read '[(map(.ops) | add), (map(.errors) | add)] | join(" ")')" "1 1" \
		"the head has one read, which failed"
	is "$(of_latency "${head%n1}c" read 'map(.errors) | add')" 1 "and so has a path"
	events --since "$began" -d "$head" -o read >/tmp/events
	is "$(jq -r --arg head "$head" 'select(.disk == $head) | .error' /tmp/events)" ENODATA \
		"for the reason that there is"
	nothing_lost
}

start_recording
read_badly 4k 8200 "alone"
start_recording
read_badly 1M 32 "in a part that is not the last"

# A path that fails hands what it has to the other: parts of a bio, too, which are none more.
start_recording
fio --name=a --filename="/dev/$head" --rw=read --bs=1M --size=24M --loops=100 --ioengine=libaio \
	--direct=1 --iodepth=4 --time_based --runtime=$((6 * slowness)) --minimal >/tmp/fio &
reader=$!
nap 10
for round in 1 2 3 4; do
	for path in /sys/block/"${head%n1}"c*n1; do
		echo 1 >"$(readlink -f "$path/device")/reset_controller"
		nap 4
	done
	echo "# round $round"
done
wait $reader
is "$(cut -d';' -f5 /tmp/fio)" 0 "paths are reset, and reads go on"
nap 10
is "$(counter bio_queued)" "$(counter bio_completed)" "each bio that was queued has ended"
is "$(of_latency "$head" read '[(map(.ops) | add) * 1048576 == (map(.bytes) | add),
	(map(.errors) | add)] | map(tostring) | join(" ")')" "true 0" "none failed"
is "$(monad-storage inflight --json | jq '(.inflight | length) + .ended_unseen')" 0 \
	"nothing is left in flight"
echo "# $(of_latency "$head" read 'map(.ops) | add') reads were $(of_latency "${head%n1}c" read \
	'map(.ops) | add') of the paths, of which $(monad-storage latency --json | jq --arg d "${head%n1}c" \
	'[.series[] | select(.disk | startswith($d)) | .ops * 131072 - .bytes] | add / 131072') were given back"

# The head alone: what its paths have is not recorded.
start_recording -d "$head"
dd if="/dev/$head" of=/dev/null bs=4k skip=8200 count=1 iflag=direct 2>/dev/null
dd if="/dev/$head" of=/dev/null bs=64k count=4 iflag=direct 2>/dev/null
summarize
is "$(of_latency "$head" read '[(map(.ops) | add), (map(.errors) | add)] | join(" ")')" "5 1" \
	"with the head alone: five reads, one failed"
nothing_lost
monad-storage stop >/dev/null
done_testing
