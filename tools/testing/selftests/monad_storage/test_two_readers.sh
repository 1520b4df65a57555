#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# As many I/Os a second as the machine makes, every step of them recorded, in a ring of
# 64 MiB, with two that read all of it as it comes: nobody loses anything.
#
# needs: modules=null_blk programs=fio built=keep_up
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

ios=${full:+1000000}
ios=${ios:-200000}

monad-storage stop >/dev/null
rmmod monad_ring && modprobe monad_ring rings=rate:18:26 || skip_all "cannot reload monad_ring"
make_null_blk nullb_a memory_backed=0 irqmode=0
disk=$made_disk
settle

seqno()
{
	monad-storage status --json --ring rate | jq -r .ring.last_seqno
}

runs "start" monad-storage start --ring rate -d "$disk"
first=$(seqno)
for reader in 1 2; do
	keep_up /dev/monad_ring-rate >/tmp/reader_$reader &
	eval "reader_$reader=$!"
	wait_for grep -q reading /tmp/reader_$reader
done
# One that looks at flow tags only.
monad-storage trace --ring rate --all --json --min-latency 1m >/tmp/trace &
trace=$!
nap 10
before=$(diskstats "$disk")
start=$(date +%s%N)
runs "fio: $ios I/Os" fio --output=/dev/null --direct=1 --rw=randread --bs=4k --norandommap \
	--io_size=$((ios * 2))k --ioengine=libaio --iodepth=16 --iodepth_batch=8 \
	--name=a --numjobs=2 --filename="/dev/$disk"
nanoseconds=$(($(date +%s%N) - start))
reads=$(difference "$before" "$(diskstats "$disk")" | awk '{ print $1 }')
last=$(seqno)
events=$((last - first))
at_least "$reads" "$ios" "they were done"
echo "# $((reads * 1000 / (nanoseconds / 1000000))) I/Os a second"
is "$events" $((2 * reads)) "issued and completed: each is an event"

# shellcheck disable=SC2154 # set by eval
kill "$reader_1" "$reader_2"
# shellcheck disable=SC2154
wait "$reader_1" "$reader_2"
for reader in 1 2; do
	is "$(tail -n 1 /tmp/reader_$reader)" "$events 0 $((reads * 4096))" \
		"reader $reader: has every event, and every byte"
done
nap 10
kill $trace
wait $trace 2>/dev/null
is "$(jq -c 'select(.type == "totals") | .missed' /tmp/trace)" 0 "nor did trace miss one"
is "$(monad-storage status --json | jq -r '[.losses.ring, .losses.probe | add] | add')" 0 \
	"the recording lost nothing"
monad-storage stop >/dev/null
rmmod monad_ring
modprobe monad_ring
done_testing
