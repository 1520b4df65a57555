#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# By which way an I/O was asked for: the kernel's functions, the program's, and a ring that
# goes round keeps the stacks of what is in it.
#
# needs: modules=null_blk,ext4,dm-mod programs=fio,mkfs.ext4,dmsetup,setpriv,timeout
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

# A ring without stacks of others.
monad-storage stop >/dev/null
rmmod monad_ring && modprobe monad_ring || skip_all "cannot reload monad_ring"
make_null_blk nullb_a irqmode=2 completion_nsec=20000
a=$made_disk
settle

# kernel_stacks [OPTION]...: of the operations that ended, a line each
kernel_stacks()
{
	monad-storage replay --json --stacks --since "$began" "$@" |
		jq -r 'select(.kernel_stack) | .kernel_stack | join(" ")'
}

start_recording
dd if="/dev/$a" of=/dev/null bs=4k count=1 iflag=direct 2>/dev/null
is "$(monad-storage replay --stacks --since "$began" 2>&1 >/dev/null | grep -c "start --stacks")" 1 \
	"without stacks, replay says what records them"
is "$(monad-storage replay --json --since "$began" | grep -c kernel_stack)" 0 \
	"and without being asked, it shows none"

start_recording --stacks
dd if="/dev/$a" of=/dev/null bs=4k count=50 iflag=direct 2>/dev/null
is "$(kernel_stacks | grep -c "submit_bio_noacct.*blkdev_read_iter.*vfs_read.*ksys_read")" 50 \
	"direct reads: 50 with vfs_read in their way"
is "$(kernel_stacks | grep -c "bpf_\|__traceiter")" 0 "what records it is not shown"
is "$(kernel_stacks | grep -c "^0x\| 0x")" 0 "all functions have names"
is "$(kernel_stacks 2>&1 >/dev/null | wc -l)" 0 "nothing is said to be missing"
is "$(events --since "$began" | grep -c '"type":"stack"')" 0 "stacks are not shown as events"
distinct=$(kernel_stacks | sort -u | wc -l)
at_least 3 "$distinct" "50 reads came by one way, or two or three"
monad-storage replay --since "$began" --stacks | grep -q "^        vfs_read$"
ok $? "in plain output a line each"
monad-storage replay --since "$began" --folded >/tmp/folded
grep -q "^dd;.*ksys_read;vfs_read;.*submit_bio.* [0-9]*$" /tmp/folded
ok $? "folded, outermost first"
waited=$(events --since "$began" | jq -s '[.[].total_ns] | add / 1000 | floor')
folded=$(awk '{ sum += $NF } END { print sum }' /tmp/folded)
at_least "$waited" "$folded" "folded: as long as they waited, at most ..."
at_least $((folded + $(wc -l </tmp/folded))) "$waited" "... and rounded down once a line"

# a program that stays: its functions, by its symbols
fio --output=/dev/null --direct=1 --ioengine=psync --bs=4k --rw=randread --size=16m \
	--time_based --runtime=600 --rate_iops=20 --thread --name=f --filename="/dev/$a" &
fio=$!
nap 30
monad-storage replay --json --stacks --since "$began" |
	jq -r 'select(.comm == "fio" and .kernel_stack) | .user_stack | join(" ")' >/tmp/user
at_least "$(grep -c "pread\|libc\|fio" /tmp/user)" 1 "functions of a program that runs have names"
kill $fio
wait $fio 2>/dev/null
monad-storage replay --json --stacks --since "$began" |
	jq -r 'select(.comm == "fio" and .kernel_stack) | .user_stack[0]' >/tmp/user
at_least "$(grep -c "^0x" /tmp/user)" 1 "of one that has ended, they have addresses"

start_recording --stacks
mkfs.ext4 -q -F "/dev/$a" && mount -t ext4 "/dev/$a" /mnt
dd if=/dev/zero of=/mnt/file bs=64k count=16 conv=fsync 2>/dev/null
umount /mnt
settle
at_least "$(kernel_stacks -o write | grep -c "ext4_.*vfs_fsync_range\|ext4_sync_file")" 1 \
	"an fsync's writes came through ext4 and vfs_fsync_range"
at_least "$(kernel_stacks -o write | grep -c "jbd2_journal_commit_transaction")" 1 \
	"the journal's through jbd2"

dmsetup create linear --table "0 1024 linear /dev/$a 0"
start_recording --stacks
dd if=/dev/mapper/linear of=/dev/null bs=4k count=1 iflag=direct 2>/dev/null
monad-storage replay --json --stacks --since "$began" --all >/tmp/events
is "$(jq -r 'select(.type == "bio_complete") | .kernel_stack | index("ksys_read") != null' \
	/tmp/events)" true "a bio's, of a device upon another"
is "$(jq -r 'select(.type == "rq_complete" and .op == "read") | .kernel_stack |
	any(test("^(dm_submit_bio|__map_bio|__?submit_bio)")) and index("ksys_read") != null' \
	/tmp/events)" true "and the request's below it, as its bio was queued"
dmsetup remove linear

# More events than the ring has room for, all by the same way.
monad-storage stop >/dev/null
monad-ring create small:10:21 >/dev/null
start_recording --stacks --ring small
fio --output=/dev/null --direct=1 --ioengine=psync --bs=4k --rw=randread --size=16m \
	--io_size=16m --loops=2 --name=f --filename="/dev/$a"
monad-storage replay --ring small --json --stacks |
	jq -r 'select(.type == "rq_complete") | .kernel_stack != null' | sort | uniq -c >/tmp/lapped
echo "# $(tr '\n' ' ' </tmp/lapped)"
at_least "$(awk '$2 == "true" { print $1 }' /tmp/lapped)" 200 "a ring that went round has stacks"
is "$(grep -c false /tmp/lapped)" 0 "of all that is in it"
is "$(monad-storage status --json | jq .counters.stacks_full)" 0 "there was room for all"

# No room: 16 ways, in a table for four times as many.
start_recording --stacks=16
i=0
while [ $i -lt 120 ]; do
	# a process each: user addresses are its own
	dd if="/dev/$a" of=/dev/null bs=4k count=1 iflag=direct 2>/dev/null
	i=$((i + 1))
done
at_least "$(monad-storage status --json | jq .counters.stacks_full)" 1 "what has no room is counted"
monad-storage status | grep -q "stacks not kept"
ok $? "and said"

monad-storage start --stacks --no-attribution 2>/tmp/out
is $? 2 "stacks without attribution are refused"
monad-storage stop >/dev/null
monad-storage start --stacks=5 2>/tmp/out
is $? 2 "so are too few"
grep -q "16 to 65536" /tmp/out
ok $? "with the bounds"

# What packaging/monad-storage-exporter.service leaves an exporter, where addresses of the kernel
# are not for everybody.
remove_null_blks
make_null_blk nullb_slow irqmode=2 completion_nsec=5000000
settle
echo 1 >/proc/sys/kernel/kptr_restrict
echo 2 >/proc/sys/kernel/perf_event_paranoid
start_recording --stacks
# Who asked is there as long as the exporter is, however slow that is.
dd if="/dev/$made_disk" of=/dev/null bs=4k iflag=direct 2>/dev/null &
asks=$!
setpriv --bounding-set=-all,+sys_admin,+dac_read_search,+sys_ptrace,+syslog --no-new-privs \
	timeout $((5 * slowness)) monad-storage export --json-lines /tmp/lines --interval 500ms \
	--slow 1us --metrics off 2>/dev/null
kill $asks
wait
jq -c '.dictionary.stacks[]?.frames[]' /tmp/lines >/tmp/frames
at_least "$(jq 'select(.user | not) | .symbol // 0' /tmp/frames | wc -l)" 10 \
	"an exporter with few capabilities: frames of the kernel"
is "$(jq 'select(.user | not) | select((.symbol // 0) == 0)' /tmp/frames | wc -l)" 0 \
	"with their names"
at_least "$(jq 'select(.user) | select((.module // 0) > 0) | .module' /tmp/frames | wc -l)" 1 \
	"those of programs say what they are in"
at_least "$(jq '.spontaneousEvents[]?.storage.actor.mountNamespace | select(. != null and . != "0")' \
	/tmp/lines | wc -l)" 1 "and the mount namespace is known"
monad-storage stop >/dev/null
done_testing
