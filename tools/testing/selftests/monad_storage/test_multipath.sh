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
monad-storage stop >/dev/null
done_testing
