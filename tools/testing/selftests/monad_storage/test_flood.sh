#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Somebody without any privilege makes as much I/O as can be made, with a ring and tables
# that are much too small for it: each loss is counted, and the machine is of use to others.
#
# needs: modules=null_blk,ext4 programs=fio,mkfs.ext4,setpriv
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

seconds=${full:+60}
seconds=$((${seconds:-12} * slowness))

# (No function: what runs in the background is to be the program itself, which is told to end.)
as_nobody="setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all"

monad-storage stop >/dev/null
rmmod monad_ring && modprobe monad_ring rings=tiny:10:21 || skip_all "cannot reload monad_ring"
# (So slow that a machine which submits 320 a second has more under way than there is room for.)
make_null_blk nullb_a irqmode=2 completion_nsec=50000000 hw_queue_depth=256
disk=$made_disk
make_null_blk nullb_b
other=$made_disk
# (Without what it would write later on its own.)
mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0 "/dev/$disk" && mkdir -p /mnt && mount "/dev/$disk" /mnt || skip_all "no ext4"
mkdir -m 777 /mnt/nobody
settle

runs "start, with room for 16" monad-storage start --ring tiny --max-inflight 16
before=$(diskstats "$disk")

# What is not theirs they do not get.
$as_nobody sh -c 'exec 3</dev/monad_ring-tiny' 2>/tmp/refused
is "$(grep -c "ermission denied" /tmp/refused)" 1 "the ring is not for them"
for command in start stop status "trace --ring tiny" inflight top "export --once"; do
	# shellcheck disable=SC2086
	$as_nobody monad-storage $command >/tmp/refused 2>&1 </dev/null
	is "$?" 1 "$command: refused"
	grep -q "root\|ermission" /tmp/refused
	ok $? "$command: and says why: $(head -n 1 /tmp/refused)"
done

$as_nobody fio --output=/dev/null --directory=/mnt/nobody --size=16m --direct=1 --bs=4k \
	--time_based --runtime=1h --name=a --rw=randrw --ioengine=libaio --iodepth=64 \
	--numjobs=3 --fallocate=none --name=b --rw=write --fsync=1 --ioengine=psync --direct=0 \
	2>/tmp/fio.err &
flood=$!
# Others get on with what they do.
slowest=0
rounds=0
until=$(($(date +%s) + seconds))
while kill -0 $flood 2>/dev/null && { [ $rounds -lt 3 ] || [ "$(date +%s)" -lt $until ]; }; do
	start=$(date +%s%N)
	dd if="/dev/$other" of=/dev/null bs=4k count=8 iflag=direct 2>/dev/null &&
		monad-storage status --ring tiny >/dev/null &&
		monad-storage latency >/dev/null || break
	took=$((($(date +%s%N) - start) / 1000000))
	[ $took -le $slowest ] || slowest=$took
	rounds=$((rounds + 1))
	nap 2
done
kill $flood
ok $? "the flood went on all the time"
wait $flood
at_least $rounds 3 "meanwhile the machine was of use"
echo "# $rounds times; the longest that two commands took: $slowest ms"
[ $slowest -lt $((60000 * slowness)) ]
ok $? "none of them got stuck"
umount /mnt
sync
nap 2

did=$(difference "$before" "$(diskstats "$disk")" | awk '{ print $1, $3, $7 }')
monad-storage status --ring tiny --json >/tmp/status
metrics=$(monad-storage latency --json -d "$disk" | jq -r '
	def ops(f): [.series[] | select(f) | .ops] | add // 0;
	[ops(.op == "read"), ops(.op == "write" or .op == "flush"), ops(.op == "cache_flush")] |
	join(" ")')
# All that ended, but for what the kernel skipped our program at, and had found no room before:
# nobody knows of it.
missing=$(echo "$metrics $did" | awk '{ print $4 - $1, $5 - $2, $6 - $3 }')
unknown=$(jq '[.hooks[].recursion_misses] | add' /tmp/status)
unknown=$((unknown - $(jq '.counters | .ends_unseen + .ends_caught' /tmp/status)))
echo "# of $did reads, writes and flushes $missing are missing; $unknown ends nobody knows of"
echo "$missing" | awk -v unknown=$unknown '{ exit !($1 >= 0 && $2 >= 0 && $3 >= 0 &&
	$1 + $2 + $3 <= unknown) }'
ok $? "reads, writes and flushes: as many as /proc/diskstats has, less what is said not to be known"
at_least "$(jq .counters.table_full /tmp/status)" 1 "there was no room for all that was under way"
echo "# $(jq -c .losses /tmp/status)"
# Every step is an event or a loss of the ring's.
is "$(jq '.ring.last_seqno + .counters.not_recorded' /tmp/status)" \
	"$(jq '.counters | .issued + .completed + .flushed + .merged + .partial +
		.requeued_issued + .requeued_unissued + .bio_queued + .bio_completed' /tmp/status)" \
	"each step was recorded, or counted as not recorded"
is "$(jq '.counters.not_recorded' /tmp/status)" "$(jq '[.losses.ring[]] | add' /tmp/status)" \
	"which the ring counted as well"
is "$(jq '.inflight | add' /tmp/status)" 0 "nothing is left in flight"
monad-storage stop >/dev/null
rmmod monad_ring
modprobe monad_ring
done_testing
