#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# What the programs add up by themselves: equal to /proc/diskstats and to what the
# events say, per operation; histograms that hold each I/O once; errors by what they
# were; cgroups, also those that are gone; and what happens when there is no room.
#
# needs: modules=null_blk,scsi_debug,sd_mod,mq-deadline programs=fio,dd,blkdiscard
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

# metric DISK OP FIELD: since the start
metric()
{
	monad-storage latency --json | jq -r --arg disk "$1" --arg op "$2" \
		"[.series[] | select(.disk == \$disk and .op == \$op) | .$3] | add // 0"
}

# merges_from_metrics DISK: of reads and of writes
merges_from_metrics()
{
	echo "$(metric "$1" read merged) $(metric "$1" write merged)"
}

# merges_of DISK: the same from diskstats
merges_of()
{
	awk -v disk="$1" '$3 == disk { print $5, $9 }' /proc/diskstats
}

make_null_blk nullb_a discard=1 cache_size=4 irqmode=2 completion_nsec=20000 submit_queues=2
disk=$made_disk
echo mq-deadline >"/sys/block/$disk/queue/scheduler" 2>/dev/null
settle
start_recording
before=$(diskstats "$disk")
merges_before=$(merges_of "$disk")
runs "fio: two jobs, mixed" fio --output=/dev/null --direct=1 --ioengine=psync --bs=4k-64k \
	--rw=randrw --size=64m --io_size=4m --randseed=1 --numjobs=2 --name=m --filename="/dev/$disk"
runs "fio: fsync now and then" fio --output=/dev/null --direct=0 --ioengine=psync \
	--bs=4k --rw=randwrite --size=64m --io_size=1m --fsync=16 --name=f --filename="/dev/$disk"
runs "dd: buffered, a page at a time, what is adjacent" dd if=/dev/zero of="/dev/$disk" \
	bs=4k count=256 seek=8192 conv=fsync,notrunc
runs "dd: and read ahead" dd if="/dev/$disk" of=/dev/null bs=4k count=256 skip=12288
runs "blkdiscard" blkdiscard -o 1M -l 8M "/dev/$disk"
settle
summarize
after=$(diskstats "$disk")
is "$(diskstats_from_metrics "$disk")" "$(difference "$before" "$after")" \
	"totals and /proc/diskstats agree"
for op in read write flush discard; do
	is "$(metric "$disk" $op ops)" "$(ops "$disk" $op)" "$op: as many as there are events"
	is "$(metric "$disk" $op total.samples)" "$(ops "$disk" $op total.samples)" \
		"$op: as many times in the histogram"
	is "$(monad-storage latency --json | jq --arg disk "$disk" --arg op $op '[.series[] |
		select(.disk == $disk and .op == $op) | .total.buckets[].count] | add')" \
		"$(ops "$disk" $op total.samples)" "$op: each in one bucket"
	is "$(metric "$disk" $op total.sum_ns)" "$(ops "$disk" $op total.sum_ns)" \
		"$op: and the sum of all times"
done
is "$(merges_from_metrics "$disk")" "$(difference "$merges_before" "$(merges_of "$disk")")" \
	"what was merged: as much as /proc/diskstats has"
at_least "$(metric "$disk" write merged)" 1 "which was not nothing"
echo "# $(counter merged) requests and $(counter bio_merged) bios were merged"
monad-storage latency | sed 's/^/# /'
monad-storage latency -H -d "$disk" -o read | tail -n +4 | sed 's/^/# /'
is "$(monad-storage latency -d "$disk" -o flush | wc -l)" 3 "-d and -o: one row"
is "$(monad-storage latency -d "$disk" -o zone_reset)" "no I/O ended" "or none"

is "$(monad-storage errors -d nosuch 2>&1)" \
	"monad-storage: warning: there is no disk nosuch now: looking for what one of that name had
no errors, timeouts or requeues" "a disk that is not there is no good news"

# An interval has what happened in it.
(sleep 0.7; dd if="/dev/$disk" of=/dev/null bs=4k count=10 iflag=direct 2>/dev/null) &
is "$(monad-storage latency --json -d "$disk" -o read 2 2 |
	jq -c '[.series[0].ops, .series[0].total.samples]' | tr '\n' ' ')" "[10,10] [0,0] " \
	"intervals: ten reads in the first, none in the second"
wait
for arguments in 0 1x "1 0" "1 x" "1 2 3" "-o nothing" "-d -1:0"; do
	# shellcheck disable=SC2086
	monad-storage latency $arguments >/dev/null 2>&1
	[ $? -ne 0 ]
	ok $? "latency $arguments: refused"
done
nothing_lost

# Cgroups: charged to the one that has the io controller, and kept when it is gone.
if [ -e /sys/fs/cgroup/cgroup.controllers ] || mount -t cgroup2 none /sys/fs/cgroup 2>/dev/null; then
	echo +io >/sys/fs/cgroup/cgroup.subtree_control
	mkdir /sys/fs/cgroup/reader
	sh -c 'echo $$ >/sys/fs/cgroup/reader/cgroup.procs
	       exec dd if=/dev/'"$disk"' of=/dev/null bs=4k count=77 iflag=direct' 2>/dev/null
	id=$(stat -c %i /sys/fs/cgroup/reader)
	is "$(monad-storage cgroups --json | jq -r --argjson id "$id" '.cgroups[] |
		select(.id == $id) | [.reads.ops, .reads.bytes, .path] | join(" ")')" \
		"77 315392 /reader" "77 reads of cgroup /reader"
	# The kernel says so of one that is gone, behind its name.
	mkdir "/sys/fs/cgroup/one (deleted)"
	id_there=$(stat -c %i "/sys/fs/cgroup/one (deleted)")
	sh -c 'echo $$ >"/sys/fs/cgroup/one (deleted)/cgroup.procs"
	       exec dd if=/dev/'"$disk"' of=/dev/null bs=4k count=3 iflag=direct' 2>/dev/null
	is "$(monad-storage cgroups --json | jq -r --argjson id "$id_there" '.cgroups[] |
		select(.id == $id) | .path')" "/one (deleted)" "one that is only called so is there"
	mkdir -p /sys/fs/cgroup/upper/lower
	echo +io >/sys/fs/cgroup/upper/cgroup.subtree_control
	sh -c 'echo $$ >/sys/fs/cgroup/upper/lower/cgroup.procs
	       exec dd if=/dev/'"$disk"' of=/dev/null bs=4k count=11 iflag=direct' 2>/dev/null
	for cgroup in "reader 77" "/reader 77" "/sys/fs/cgroup/reader 77" "$id 77" \
		      "/upper 11" "/upper/lower 11" "/reader -c /upper 88"; do
		is "$(monad-storage replay --json -o read --since "$began" -c ${cgroup% *} |
			jq -s 'map(select(.seqno)) | length')" "${cgroup##* }" \
			"replay -c ${cgroup% *}: ${cgroup##* } reads"
	done
	monad-storage report --since "$began" -c /upper /tmp/page.html >/dev/null
	grep -q "<b>Only a part was asked for:</b> cgroup /upper\." /tmp/page.html
	ok $? "report says of which"
	monad-storage replay -c "" >/dev/null 2>&1
	is $? 1 "no name is no cgroup"
	monad-storage replay -c /nosuch >/dev/null 2>/tmp/message
	is "$? $(grep -c "there is no cgroup /nosuch" /tmp/message)" "1 1" "one that is not there"
	echo -io >/sys/fs/cgroup/upper/cgroup.subtree_control
	monad-storage replay -c /upper/lower 2>&1 >/dev/null | grep -q "io controller is not enabled"
	ok $? "one that does not pay for its I/O"
	echo +io >/sys/fs/cgroup/upper/cgroup.subtree_control
	monad-storage cgroups --json $((4 * slowness)) 1 >/tmp/interval &
	nap 10
	rmdir /sys/fs/cgroup/upper/lower /sys/fs/cgroup/upper /sys/fs/cgroup/reader \
		"/sys/fs/cgroup/one (deleted)"
	wait_for sh -c "monad-storage cgroups --json | jq -e '.gone.reads.ops >= 91'"
	is "$(monad-storage cgroups --json | jq -r '.gone.reads.ops')" 91 \
		"are those of cgroups that are gone"
	wait
	is "$(jq -c '.gone.reads.ops' /tmp/interval)" 0 "of which none was in the interval they went in"
	is "$(monad-storage cgroups --json | jq -r --argjson id "$id" '[.cgroups[] |
		select(.id == $id)] | length')" 0 "which is not there any more"
else
	ok 0 "cgroups # SKIP no cgroup v2"
fi
remove_null_blks

# Errors by what they were.
make_scsi_debug dev_size_mb=64 opts=2 delay=1
disk=$made_disk
settle
start_recording
dd if="/dev/$disk" of=/dev/null bs=64k skip=36 count=1 iflag=direct 2>/dev/null
dd if="/dev/$disk" of=/dev/null bs=64k skip=36 count=1 iflag=direct 2>/dev/null
is "$(monad-storage errors --json | jq -r --arg disk "$disk" '.errors[] |
	select(.disk == $disk) | [.op, .error, .count] | join(" ")')" "read ENODATA 2" \
	"two medium errors"
is "$(metric "$disk" read errors)" 2 "which are in the series, too"
at_least "$(metric "$disk" read partials)" 2 "and came after completions of parts"
is "$(monad-storage errors --json | jq -c .trouble)" "[]" "which are no trouble of their own"
monad-storage errors | sed 's/^/# /'
is "$(monad-storage errors -o write)" "no errors, timeouts or requeues" "none of writes"

# With no room for all of them, they are counted all the same.
monad-storage stop >/dev/null
for i in $(seq 24); do
	make_null_blk nullb_$i size=8
done
settle
start_recording --max-series 8 --max-cgroups 8
for i in $(seq 24); do
	name=nullb_$i
	[ -b /dev/$name ] || name=nullb$(cat /sys/kernel/config/nullb/nullb_$i/index)
	dd if=/dev/$name of=/dev/null bs=4k count=10 iflag=direct 2>/dev/null
	dd if=/dev/zero of=/dev/$name bs=4k count=10 oflag=direct 2>/dev/null
	blkdiscard -l 4k /dev/$name 2>/dev/null
	dd if=/dev/zero of=/dev/$name bs=4k count=1 oflag=dsync 2>/dev/null
done
settle
monad-storage latency --json >metrics.json 2>/dev/null
is "$(jq '[.series[].ops, .unknown_ops] | add' metrics.json)" \
	"$(($(counter completed) + $(counter flushed)))" "a table too small: still all are counted"
at_least "$(counter series_full)" 1 "of some, there was no room"
echo "# $(jq '.series | length' metrics.json) series, $(jq .unknown_ops metrics.json) operations of others," \
	"$(counter series_full) did not fit"
monad-storage stop >/dev/null
is "$(monad-storage latency 2>&1)" \
	"monad-storage: not recording: 'monad-storage start' begins it" "latency, when not recording"
done_testing
