#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# What Prometheus gets: the totals are those of /proc/diskstats, every kind of metric is
# brought about, and the exporter outlives starts, stops and other exporters.
#
# kernel: any
# needs: modules=null_blk,scsi_debug,sd_mod,mq-deadline,dm_mod programs=fio,dd,dmsetup,blkdiscard,setpriv,curl
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

# scrape: what it is now
scrape()
{
	monad-storage export --once >/tmp/metrics || ok 1 "monad-storage export --once"
}

# metric 'NAME{LABELS}': of the last scrape; without the prefix all have
metric()
{
	awk -v name="monad_storage_$1" '
		index($0, name " ") == 1 { print substr($0, length(name) + 2); exit }' /tmp/metrics
}

# sum 'NAME{LABELS': of all series that begin so
sum()
{
	awk -v name="monad_storage_$1" 'index($0, name) == 1 { n += $NF } END { printf "%.0f\n", n }' \
		/tmp/metrics
}

# totals DISK: as diskstats() has them, from the last scrape. The kernel counts an fsync as
# a write as well.
totals()
{
	for column in operations:read bytes:read operations:write,flush bytes:write,flush \
			operations:discard bytes:discard operations:cache_flush; do
		total=0
		for op in $(echo "${column#*:}" | tr , ' '); do
			value=$(metric "${column%:*}_total{device=\"$1\",operation=\"$op\"}")
			total=$((total + ${value:-0}))
		done
		case $column in
		bytes:*) total=$((total / 512)) ;;
		esac
		printf '%s ' "$total"
	done | sed 's/ $//'
}

#
# Nothing is recorded
#

monad-storage stop >/dev/null
scrape
is "$(metric recording)" 0 "nothing is recorded: says so"
is "$(grep -vc '^#' /tmp/metrics)" 2 "and nothing else but its version"
for arguments in "" "--once --textfile x" "--prometheus x" "--prometheus 1.2.3:1" "--once more" \
		"--once --json-lines x" "--json-lines" "--json-lines - --json-lines -" \
		"--json-lines - --json -" "--interval 1s" "--slow 5ms --once" \
		"--json-lines - --interval 10ms" "--json-lines - --queue 0" \
		"--json-lines - --slow 5" "--json-lines - --slow none=5ms" \
		"--json-lines - --events maybe" "--json-lines - --since then" \
		"--json-lines - --metrics on" "--json-lines - --metrics 10ms" \
		"--json-lines - --metrics off --events off" "--metrics 1s --once" \
		"--otlp-header a:b --json-lines -" "--otlp-compression none --json-lines -" \
		"--otlp http://127.0.0.1:1 --otlp-compression zip"; do
	# shellcheck disable=SC2086
	monad-storage export $arguments >/dev/null 2>/tmp/message
	is $? 2 "called wrongly: export $arguments"
done

#
# Totals
#

make_null_blk nullb_a discard=1 cache_size=4 irqmode=2 completion_nsec=20000
disk=$made_disk
size=$(cat "/sys/block/$disk/size")
settle
monad-storage stop >/dev/null
ring_before=$(monad-storage status --json -r monad_ring | jq '.ring.last_seqno // 0')
start_recording
before=$(diskstats "$disk")
runs "fio: direct, with fsync" fio --output=/dev/null --direct=1 --ioengine=psync --bs=4k-64k \
	--rw=randrw --size=64m --io_size=4m --fsync=20 --randseed=2 --name=a \
	--filename="/dev/$disk"
runs "blkdiscard" blkdiscard -o 1M -l 8M "/dev/$disk"
settle
scrape
after=$(diskstats "$disk")
echo "# $(totals "$disk")"
is "$(totals "$disk")" "$(difference "$before" "$after")" "totals and /proc/diskstats agree"
is "$(metric recording)" 1 "it is recording"
is "$(metric "latency_seconds_count{device=\"$disk\",operation=\"read\",phase=\"total\"}")" \
	"$(metric "operations_total{device=\"$disk\",operation=\"read\"}")" "each read has a time"
is "$(metric "latency_seconds_bucket{device=\"$disk\",operation=\"read\",phase=\"total\",le=\"+Inf\"}")" \
	"$(metric "operations_total{device=\"$disk\",operation=\"read\"}")" "in a bucket"
is "$(metric "device_info{device=\"$disk\",major=\"$(cut -d: -f1 "/sys/block/$disk/dev")\",minor=\"$(
	cut -d: -f2 "/sys/block/$disk/dev")\",kind=\"request\",model=\"\",serial=\"\",wwid=\"\",dm_name=\"\"}")" \
	1 "who it is"
is "$(sum "cgroup_operations_total{")" "$(($(counter completed) + $(counter bio_completed)))" \
	"the cgroups' operations are all"
for name in started issued completed flushed not_recorded orphans; do
	kind='program_events_total{event'
	case $name in
	not_recorded | orphans) kind='program_losses_total{cause' ;;
	esac
	is "$(metric "$kind=\"$name\"}")" "$(counter $name)" "counter $name as status has it"
done
is "$(metric ring_events_total)" \
	"$(monad-storage status --json | jq --argjson before "$ring_before" '.ring.last_seqno - $before')" \
	"the ring's events as status has them, but for those before"
is "$(metric ring_capacity_events)" "$(monad-storage status --json | jq .ring.capacity)" \
	"and its size"
is "$(sum ring_lost_events_total)" 0 "nothing was lost"
is "$(sum hook_attached)" "$(monad-storage status --json |
	jq '[.hooks[] | select(.attached)] | length')" "hooks as status has them"

#
# Cgroups
#

mkdir /sys/fs/cgroup/some "/sys/fs/cgroup/some/one two"
sh -c "echo \$\$ >'/sys/fs/cgroup/some/one two/cgroup.procs'
	dd if=/dev/$disk of=/dev/null bs=8k count=7 iflag=direct 2>/dev/null"
# On kernels whose blkcg is not on, it is charged to the parent.
echo +io >/sys/fs/cgroup/cgroup.subtree_control
echo +io >/sys/fs/cgroup/some/cgroup.subtree_control
sh -c "echo \$\$ >'/sys/fs/cgroup/some/one two/cgroup.procs'
	dd if=/dev/$disk of=/dev/null bs=8k count=7 iflag=direct 2>/dev/null"
scrape
at_least "$(metric 'cgroup_operations_total{cgroup="/some/one two",operation="read"}')" 7 \
	"a cgroup by its path"
at_least "$(metric 'cgroup_bytes_total{cgroup="/some/one two",operation="read"}')" 57344 \
	"and its bytes"
all=$(sum 'cgroup_operations_total{')
removed=$(sum 'cgroup_operations_total{cgroup="(removed)"')
here=$(sum 'cgroup_operations_total{cgroup="/some/one two"')
rmdir "/sys/fs/cgroup/some/one two" /sys/fs/cgroup/some
scrape
is "$(sum 'cgroup_operations_total{cgroup="/some/one two"')" 0 "it is gone"
is "$(sum 'cgroup_operations_total{cgroup="(removed)"')" $((removed + here)) \
	"what it had is with the removed ones, at once"
sleep 1
scrape
is "$(sum 'cgroup_operations_total{cgroup="(removed)"')" $((removed + here)) "and stays there"
is "$(sum 'cgroup_operations_total{')" "$all" "in all it is what it was"

#
# In flight; a device without requests
#

make_null_blk nullb_b irqmode=2 completion_nsec=3000000000 hw_queue_depth=2
slow=$made_disk
never_times_out "$slow"
# Without a scheduler, requests would wait before they are any.
echo mq-deadline >"/sys/block/$slow/queue/scheduler"
echo 64 >"/sys/block/$slow/queue/nr_requests"
dmsetup create lin --table "0 $size linear /dev/$disk 0"
dm=dm-$(dmsetup info -C --noheadings -o minor lin)
settle
dd if=/dev/mapper/lin of=/dev/null bs=4k count=9 iflag=direct 2>/dev/null
for i in 0 1 2; do
	dd if="/dev/$slow" of=/dev/null bs=4k skip=$((i * 100)) count=1 iflag=direct 2>/dev/null &
done
all_submitted()
{
	scrape
	[ "$(metric "inflight{device=\"$slow\",state=\"issued\"}") $(metric \
		"inflight{device=\"$slow\",state=\"queued\"}")" = "2 1" ]
}
wait_for all_submitted
nap 5
scrape
is "$(metric "inflight{device=\"$slow\",state=\"issued\"}")" 2 "in flight: two are with the device"
is "$(metric "inflight{device=\"$slow\",state=\"queued\"}")" 1 "and one waits"
at_least "$(metric "inflight_oldest_seconds{device=\"$slow\"}" | awk '{ printf "%d", $1 * 1000 }')" \
	500 "for half a second at least"
is "$(metric "inflight_oldest_seconds{device=\"$disk\"}")" 0 "none on the other one"
wait
is "$(metric "operations_total{device=\"$dm\",operation=\"read\"}")" 9 "dm: operations"
is "$(sum "device_info{device=\"$dm\"" ) $(grep -c "device_info{device=\"$dm\".*kind=\"bio\"" \
	/tmp/metrics)" "1 1" "dm: takes bios"
is "$(grep -c "latency_seconds_count{device=\"$dm\",.*phase=\"queue\"" /tmp/metrics)" 0 \
	"dm: has no queue"
scrape
is "$(sum 'inflight{')" 0 "nothing is in flight any more"
dmsetup remove lin

#
# Merges
#

make_null_blk nullb_c irqmode=2 completion_nsec=300000000 hw_queue_depth=1 submit_queues=1
merging=$made_disk
echo mq-deadline >"/sys/block/$merging/queue/scheduler"
echo 64 >"/sys/block/$merging/queue/nr_requests"
settle
scrape
bytes=$(metric "bytes_total{device=\"$merging\",operation=\"read\"}")
{
	echo "fio version 2 iolog"
	for action in add open "read 8192000 4096" "read 16384000 4096" "read 40960 4096" \
			"read 49152 4096" "read 45056 4096" close; do
		echo "/dev/$merging $action"
	done
} >/tmp/iolog
runs "fio: adjacent reads" fio --output=/dev/null --name=merge --direct=1 --ioengine=libaio \
	--iodepth=8 --iodepth_batch=1 --replay_no_stall=1 --read_iolog=/tmp/iolog
scrape
at_least "$(metric "merges_total{device=\"$merging\",operation=\"read\"}")" 1 "merges"
is "$(metric "bytes_total{device=\"$merging\",operation=\"read\"}")" $((${bytes:-0} + 20480)) \
	"no byte is missing"

#
# Errors, requeues, timeouts
#

make_scsi_debug dev_size_mb=64 opts=2 delay=1
bad=$made_disk
settle
dd if="/dev/$bad" of=/dev/null bs=64k skip=36 count=1 iflag=direct 2>/dev/null
scrape
is "$(metric "errors_total{device=\"$bad\",operation=\"read\",error=\"ENODATA\"}")" 1 \
	"a medium error, by name"
is "$(metric "failed_operations_total{device=\"$bad\",operation=\"read\"}")" 1 "one failed"
is "$(sum "device_info{device=\"$bad\"") $(grep -c "device_info{device=\"$bad\".*model=\"scsi_debug\"" \
	/tmp/metrics)" "1 1" "its model"
echo 0x8000 >/sys/bus/pseudo/drivers/scsi_debug/opts
echo 5 >/sys/bus/pseudo/drivers/scsi_debug/every_nth
dd if="/dev/$bad" of=/dev/null bs=4k count=50 iflag=direct 2>/dev/null
echo 5 >"/sys/block/$bad/device/timeout"
echo 4 >/sys/bus/pseudo/drivers/scsi_debug/opts
echo 1 >/sys/bus/pseudo/drivers/scsi_debug/every_nth
dd if="/dev/$bad" of=/dev/null bs=4k count=1 iflag=direct 2>/dev/null &
is_under_way()
{
	[ "$(awk '{ print $1 + $2 }' "/sys/block/$bad/inflight")" -ge 1 ]
}
wait_for is_under_way
nap 2
echo 0 >/sys/bus/pseudo/drivers/scsi_debug/every_nth
wait
scrape
at_least "$(sum "requeues_total{device=\"$bad\"")" 1 "requeues"
is "$(sum requeues_total)" "$(($(counter requeues_issued) + $(counter requeues_unissued)))" \
	"as many as the programs saw"
is "$(metric "timeouts_total{device=\"$bad\",operation=\"read\"}")" 1 "a timeout"
is "$(sum timeouts_total)" "$(counter timeouts)" "as the programs saw it"
is "$(sum partial_completions_total)" "$(counter partials)" "partial completions, too"
rmmod scsi_debug
wait_for test ! -e "/sys/block/$bad"
scrape
is "$(metric "errors_total{device=\"$bad\",operation=\"read\",error=\"ENODATA\"}")" 1 \
	"the disk is gone, its errors are not"
is "$(grep -c "device_info{device=\"$bad\"" /tmp/metrics)" 0 "and it is not said to be there"

#
# Tables that are too small
#

monad-storage stop >/dev/null
monad-storage start --max-inflight 16 --max-cgroups 8 >/dev/null
remove_null_blks
make_null_blk nullb_d irqmode=2 completion_nsec=200000000 hw_queue_depth=256
disk=$made_disk
settle
runs "fio: 256 at once" fio --output=/dev/null --direct=1 --ioengine=libaio --iodepth=256 \
	--bs=4k --rw=randread --size=64m --number_ios=512 --name=d --filename="/dev/$disk"
mkdir /sys/fs/cgroup/many
echo +io >/sys/fs/cgroup/many/cgroup.subtree_control
for i in $(seq 50); do
	mkdir "/sys/fs/cgroup/many/$i"
	sh -c "echo \$\$ >/sys/fs/cgroup/many/$i/cgroup.procs
		dd if=/dev/$disk of=/dev/null bs=4k count=1 iflag=direct 2>/dev/null" &
done
wait
scrape
at_least "$(metric 'program_losses_total{cause="table_full"}')" 1 "more in flight than there is room"
at_least "$(metric 'program_losses_total{cause="orphans"}')" 1 "whose ends have no beginning"
at_least "$(metric 'program_losses_total{cause="cgroups_full"}')" 1 "more cgroups"
at_least "$(sum 'cgroup_operations_total{cgroup="(unknown)"')" 1 "which are not known"
at_least "$(metric "operations_total{device=\"$disk\",operation=\"read\"}")" 562 \
	"and no operation is missing"
monad-storage stop >/dev/null
rmdir /sys/fs/cgroup/many/* /sys/fs/cgroup/many 2>/dev/null

#
# Served
#

monad-storage export --prometheus 0 >/tmp/served 2>/tmp/served.err &
exporter=$!
wait_for grep -q serving /tmp/served
url=$(sed -n 's/serving //p' /tmp/served)
fetch()
{
	curl -sS --max-time 120 "${2:-$url}" >"${1:-/tmp/metrics}"
}
echo "# $url"
fetch
is "$(metric recording)" 0 "served while nothing is recorded"
start_recording -d "$disk"
dd if="/dev/$disk" of=/dev/null bs=4k count=3 iflag=direct 2>/dev/null
fetch
is "$(metric recording) $(metric recording_filtered)" "1 1" "recording, some disks"
is "$(metric "operations_total{device=\"$disk\",operation=\"read\"}")" 3 "of that recording"
monad-storage stop >/dev/null
fetch
is "$(metric recording)" 0 "stopped"
start_recording
fetch
is "$(metric recording) $(metric recording_filtered)" "1 0" "started again"
is "$(metric "operations_total{device=\"$disk\",operation=\"read\"}")" "" "it counts anew"

monad-storage export --prometheus 0 >/tmp/served2 &
second=$!
wait_for grep -q serving /tmp/served2
url2=$(sed -n 's/serving //p' /tmp/served2)
monad-storage export --prometheus "$(echo "$url" | sed 's|http://\(.*\)/metrics|\1|')" 2>/tmp/message
is $? 1 "a port that is taken"
grep -q "is taken: another program listens there" /tmp/message
ok $? "is said to be"

# Scrapers of both, while recordings come and go and there is I/O.
scrapers=
for n in 1 2 3 4; do
	for i in $(seq 10); do
		case $n in
		[12]) fetch /tmp/scraped$n ;;
		*) fetch /tmp/scraped$n "$url2" ;;
		esac
		grep -q '^monad_storage_recording [01]$' /tmp/scraped$n || echo "$n $i"
		[ -z "$(grep -v '^#' /tmp/scraped$n | sed 's/ [^ ]*$//' | sort | uniq -d)" ] ||
			echo "twice: $n $i"
	done >/tmp/scraper$n 2>&1 &
	scrapers="$scrapers $!"
done
for i in $(seq 3); do
	monad-storage stop >/dev/null
	monad-storage start >/dev/null
	dd if="/dev/$disk" of=/dev/null bs=4k count=5 iflag=direct 2>/dev/null
done
# shellcheck disable=SC2086
wait $scrapers
is "$(cat /tmp/scraper[1-4])" "" "two exporters, two scrapers each, starts and stops meanwhile"
is "$(cat /tmp/served.err)" "" "without a complaint"
fetch
is "$(metric "operations_total{device=\"$disk\",operation=\"read\"}")" 5 "of the last recording"

# What was started by another version cannot be read, and that is not "nothing".
mv /sys/fs/bpf/monad_storage/map_counters /sys/fs/bpf/monad_storage/map_other
mv /sys/fs/bpf/monad_storage/map_devices /sys/fs/bpf/monad_storage/map_counters
is "$(curl -s -o /tmp/message -w '%{http_code}' "$url")" 503 "of another version: no metrics"
grep -q "started by another version" /tmp/message
ok $? "and why"
curl -s -o /dev/null "$url"
is "$(grep -c "another version" /tmp/served.err)" 1 "said once"
monad-storage stop >/dev/null
fetch
is "$(metric recording)" 0 "until it is stopped"

kill $exporter $second
wait $exporter
is $? 0 "SIGTERM ends it well"
wait $second
is $? 0 "the other one, too"
curl -s "$url" >/dev/null
is $? 7 "and nobody listens any more"

#
# Text files
#

start_recording
file=/tmp/text/storage.prom
mkdir /tmp/text
umask 077
runs "a text file" monad-storage export --textfile $file
umask 022
is "$(stat -c %a $file) $(ls -A /tmp/text)" "644 storage.prom" "for all to read, alone"
for i in $(seq 10); do
	monad-storage export --textfile $file || echo failed
done >/tmp/message 2>&1 &
writer=$!
torn=0
while kill -0 $writer 2>/dev/null; do
	[ "$(tail -n 1 $file | cut -d'{' -f1)" = "monad_storage_ring_fill_ratio" ] || torn=$((torn + 1))
done
is "$torn$(cat /tmp/message)" 0 "is there in full whenever it is looked at"
is "$(ls -A /tmp/text)" storage.prom "nothing is left beside it"
mkdir /tmp/small
mount -t tmpfs -o size=8k none /tmp/small
echo old >/tmp/small/storage.prom
monad-storage export --textfile /tmp/small/storage.prom 2>/tmp/message
is $? 1 "a file system that is full"
grep -q "No space left" /tmp/message
ok $? "is said to be"
is "$(cat /tmp/small/storage.prom) $(ls -A /tmp/small)" "old storage.prom" "the old file stays"
umount /tmp/small
monad-storage export --textfile /tmp/none/x 2>/dev/null
is $? 1 "no such directory"
monad-storage export --textfile /tmp/text 2>/dev/null
is $? 1 "a directory"
is "$(find /tmp -name '.text.*')" "" "nothing is left of that"
# What packaging/monad-storage-exporter.service leaves it.
monad-storage export --textfile $file
runs "with two capabilities" setpriv --bounding-set=-all,+sys_admin,+dac_read_search \
	--no-new-privs monad-storage export --textfile /tmp/few
is "$(sed 's/ [^ ]*$//' /tmp/few)" "$(sed 's/ [^ ]*$//' $file)" "it sees what it sees with all"
setpriv --reuid 1000 --regid 1000 --clear-groups monad-storage export --once 2>/tmp/message
is $? 1 "as a user"
grep -q "takes root" /tmp/message
ok $? "takes root"
monad-storage export --once >/dev/full 2>/tmp/message
is $? 1 "output that is lost is a failure"
monad-storage stop >/dev/null
done_testing
