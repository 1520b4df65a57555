#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# What tools/demo.sh runs in the guest. Two disks: one that is fast and has a
# write cache (null_blk, 80 us), one that is old (scsi_debug; sectors 4660 to
# 4669 cannot be read).

# The argument says whether there is a terminal at the other end.
if [ -n "${1:-}" ]; then
	bold=$(printf '\033[1m') plain=$(printf '\033[0m')
else
	bold='' plain=''
fi

say()
{
	printf '\n%s%s%s\n' "$bold" "$*" "$plain"
}

# show COMMAND: as if typed
show()
{
	printf '\n%s# %s%s\n' "$bold" "$*" "$plain"
	sh -c "$*" 2>&1
}

# background NAME COMMAND...: a program under a name of its own
background()
{
	ln -sf "$(command -v "$2")" "/tmp/$1"
	name=$1
	shift 2
	"/tmp/$name" "$@" >/dev/null 2>&1 &
}

# diskstats DISK: reads, sectors read, writes, sectors written, flushes; the kernel's own
diskstats()
{
	awk -v disk="$1" '$3 == disk { print $4, $6, $8, $10, $19 }' /proc/diskstats
}

# compare DISK BEFORE: what the kernel has counted since, and what the events say
compare()
{
	events=$(monad-storage replay --summary --json | jq -r --arg disk "$1" \
		'.diskstats[$disk] | [.reads, .read_sectors, .writes, .written_sectors, .flushes] |
		 map(. // 0) | join(" ")')
	echo "$1 $2 $(diskstats "$1") $events" | awk '{
		for (i = 2; i <= 6; i++)
			line = line sprintf(" %12d", $(i + 5) - $i)
		printf "%-8s %-12s%s\n", $1, "diskstats", line
		printf "%-8s %-12s", $1, "events"
		for (i = 12; i <= 16; i++) {
			printf " %12d", $i
			same += $i == $(i - 5) - $(i - 10)
		}
		print same == 5 ? "  the same" : "  DIFFERENT"
		exit same != 5
	}' || status=1
}

status=0
mount -t configfs configfs /sys/kernel/config 2>/dev/null
fast=/sys/kernel/config/nullb/nullb0
mkdir $fast
echo 512 >$fast/size
echo 1 >$fast/memory_backed
echo 2 >$fast/irqmode
echo 80000 >$fast/completion_nsec
echo 16 >$fast/cache_size
echo 1 >$fast/power
sleep 0.5
# What is written before the recording, and what counts of it, is over when that begins.
mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0 /dev/nullb0
mount -t ext4 /dev/nullb0 /mnt
sync
sleep 0.5
scsi_debug=/sys/bus/pseudo/drivers/scsi_debug

say "Linux $(uname -r), two disks: nullb0 (fast, ext4) and sda (old)."
say "The recorder is started. It is made of BPF programs and a ring in the kernel's memory:
no process of it stays."
show "monad-storage start"
show "pidof monad-storage || echo none of it runs"

nullb0_before=$(diskstats nullb0)
sda_before=$(diskstats sda)

say "Work begins: a database-like load on nullb0, a backup that reads sda. Nobody is watching."
background database fio --output=/dev/null --directory=/mnt --name=db --ioengine=psync \
	--rw=randrw --rwmixread=70 --bs=8k --size=32m --fsync=32 --time_based --runtime=8 \
	--thinktime=2000
background backup dd if=/dev/sda of=/dev/null bs=128k iflag=direct skip=80 count=200
sleep 4
echo "  ... for a moment, sda answers 200 ms late"
echo 50 >$scsi_debug/delay
background backup dd if=/dev/sda of=/dev/null bs=64k iflag=direct skip=1000 count=4
background logger dd if=/dev/zero of=/dev/sda bs=4k oflag=direct seek=20000 count=3
sleep 2
echo 1 >$scsi_debug/delay
echo "  ... and one of its sectors cannot be read"
background backup dd if=/dev/sda of=/dev/null bs=64k iflag=direct skip=36 count=1
wait
umount /mnt
sleep 0.2

say "It is over. Only now does somebody look. What was slow?"
show "monad-storage replay -d sda --min-latency 100ms"
echo "
COMM, PID: who asked for it. RWBS: read, write, sync, ... as blktrace has it. QUEUE-MS: until
the device had it; DEVICE-MS: until the device was done."
say "What failed?"
show "monad-storage replay --errors"
echo "
ENODATA is what the block layer makes of a SCSI medium error."
say "And all in all?"
show "monad-storage replay --summary"
say "Does it add up? The kernel's own count in /proc/diskstats, and the recorded events:"
echo "(/proc/diskstats has each fsync as a write of 0 sectors too; the summary above tells them
apart.)"
printf '\n%-8s %-12s %12s %12s %12s %12s %12s\n' DISK "COUNTED BY" READS SECTORS WRITES SECTORS \
	FLUSHES
compare nullb0 "$nullb0_before"
compare sda "$sda_before"
say "The recording goes on; status says how it is."
show "monad-storage status | sed -n '1,3p'"
echo "
That was in a guest, which is gone now. README.md has, under 'For real', what to type on a
machine of your own; man ./tools/monad-storage/monad-storage.8 has the rest."
exit $status
