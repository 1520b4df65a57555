#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Eleven workloads, as disks have them: after each one, events, resident metrics and
# /proc/diskstats say the same of every disk, to the operation and the sector, and while
# they run what is in flight is what /sys says.
#
# needs: modules=null_blk,scsi_debug,sd_mod,dm_mod,mq-deadline,ext4,xfs,loop
# needs: programs=fio,dd,dmsetup,blkdiscard,mkfs.ext4,mkfs.xfs,fallocate,sync
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

operations_from_metrics()
{
	all=$(diskstats_from_metrics "$1")
	echo "${all% *}"
}

# workload NAME COMMAND...: on the disks in $disks
workload()
{
	name=$1
	shift
	settle
	start_recording
	for disk in $disks; do
		diskstats "$disk" >"before.$disk"
	done
	runs "$name" "$@"
	settle
	summarize
	for disk in $disks; do
		want=$(difference "$(cat "before.$disk")" "$(diskstats "$disk")")
		# What a driver that takes bios accounts is up to it: all but flushes.
		case $disk in
		dm-*)
			is "$(operations_from_metrics "$disk")" "${want% *}" "$name: metrics of $disk ($want)"
			continue ;;
		esac
		is "$(diskstats_from_events "$disk")" "$want" "$name: events of $disk"
		is "$(diskstats_from_metrics "$disk")" "$want" "$name: metrics of $disk ($want)"
	done
	nothing_lost
}

fio_quiet()
{
	fio --output=/dev/null --randseed=1 --size=64m "$@"
}

make_null_blk nullb_a discard=1 cache_size=4 irqmode=2 completion_nsec=20000 submit_queues=2
a=$made_disk
make_null_blk nullb_b discard=1 irqmode=2 completion_nsec=1000 max_sectors=64
b=$made_disk
make_scsi_debug dev_size_mb=128 delay=1 lbpu=1 lbpws=1
s=$made_disk
echo mq-deadline >"/sys/block/$b/queue/scheduler" 2>/dev/null

disks="$a $b"
workload "random reads and writes, direct" fio_quiet --direct=1 --ioengine=psync --bs=4k-64k \
	--rw=randrw --io_size=2m --name=on_a --filename="/dev/$a" --name=on_b --filename="/dev/$b"
workload "deep queues" fio_quiet --direct=1 --ioengine=libaio --iodepth=32 --bs=4k --rw=randread \
	--io_size=2m --name=on_a --filename="/dev/$a" --name=on_b --filename="/dev/$b"
disks=$b
workload "buffered, sequential" fio_quiet --direct=0 --ioengine=psync --bs=4k --rw=rw --io_size=8m \
	--end_fsync=1 --name=s --filename="/dev/$b"
workload "large writes on a disk with small requests" \
	dd if=/dev/zero of="/dev/$b" bs=4M count=2 oflag=direct
disks=$a
workload "a storm of fsyncs" fio_quiet --direct=0 --ioengine=psync --bs=4k --rw=randwrite \
	--io_size=256k --fsync=1 --numjobs=4 --name=f --filename="/dev/$a"
workload "O_DSYNC" dd if=/dev/zero of="/dev/$a" bs=4k count=30 oflag=direct,dsync
workload "discards" blkdiscard -o 1M -p 1M -l 16M "/dev/$a"

ext4()
{
	mkfs.ext4 -q -F "/dev/$a" && mount "/dev/$a" /mnt &&
		fio --output=/dev/null --directory=/mnt --size=4m --bs=4k --rw=randwrite --fsync=8 \
			--ioengine=psync --name=e && rm -r /mnt/e* && umount /mnt
}
workload "ext4: made, written, removed" ext4

# The least that xfs takes, of which only what is written takes memory.
make_null_blk nullb_x size=320 discard=1 cache_size=4 irqmode=2 completion_nsec=20000
x=$made_disk
disks=$x
xfs()
{
	mkfs.xfs -q -f "/dev/$x" && mount "/dev/$x" /mnt &&
		dd if=/dev/zero of=/mnt/x bs=64k count=64 conv=fsync && rm /mnt/x && umount /mnt
}
workload "xfs: made, written, removed" xfs

disks=$s
workload "scsi: written and read" sh -c "dd if=/dev/zero of=/dev/$s bs=64k count=64 conv=fsync &&
	dd if=/dev/$s of=/dev/null bs=16k count=64 iflag=direct"

dmsetup create lin --table "0 65536 linear /dev/$s 0"
dm=dm-$(dmsetup info -C --noheadings -o minor lin)
disks="$s $dm"
workload "a device upon a device" dd if=/dev/zero of=/dev/mapper/lin bs=16k count=40 oflag=direct
dmsetup remove lin

# In flight: a disk so slow that all stay there while both are asked.
make_null_blk nullb_c irqmode=2 completion_nsec=4000000000 hw_queue_depth=64
c=$made_disk
settle
start_recording -d "$c"
fio --output=/dev/null --direct=1 --ioengine=libaio --iodepth=16 --bs=4k --rw=randread --size=16m \
	--io_size=64k --iodepth_batch_submit=16 --name=q --filename="/dev/$c" &
pid=$!
sys_inflight()
{
	[ "$(awk '{ print $1 + $2 }' "/sys/block/$c/inflight")" -eq 16 ]
}
wait_for sys_inflight
is "$(monad-storage inflight --json -d "$c" | jq '.inflight | length')" \
	"$(awk '{ print $1 + $2 }' "/sys/block/$c/inflight")" "in flight: as many as /sys has"
is "$(monad-storage top --json 0.1 1 | jq --arg disk "$c" '.disks[] |
	select(.disk == $disk) | .inflight')" 16 "and as top shows"
wait $pid
is "$(monad-storage inflight --json -d "$c" | jq '.inflight | length')" 0 "and in the end none"
monad-storage stop >/dev/null
done_testing
