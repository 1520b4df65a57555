#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Numbers of disks are used again, by others: what one had is never another's, what was not
# asked for is not recorded, and a disk that comes back under its name goes on counting.
#
# needs: modules=null_blk,nvme,scsi_debug,sd_mod,loop programs=dd,addpart,delpart,losetup,truncate
# needs: disks=nvme
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

# read_disk DISK N: so many reads
read_disk()
{
	dd if="/dev/$1" of=/dev/null bs=4k count="$2" iflag=direct 2>/dev/null
}

number()
{
	cat "/sys/block/$1/dev"
}

# reads DISK: by the programs' metrics
reads()
{
	monad-storage latency --json | jq --arg disk "$1" \
		'[.series[] | select(.disk == $disk and .op == "read") | .ops] | add // 0'
}

# exported DISK: the same, for Prometheus
exported()
{
	monad-storage export --once |
		sed -n "s/^monad_storage_operations_total{device=\"$1\",operation=\"read\"} //p"
}

# replayed DISK: from the events
replayed()
{
	monad-storage replay --summary --json --since "$began" | jq --arg disk "$1" \
		'[.rows[] | select(.disk == $disk and .op == "read") | .ops] | add // 0'
}

# disk_status DISK FIELD
disk_status()
{
	monad-storage status --json | jq -r ".disks[] | select(.disk == \"$1\") | .$2"
}

# says TEXT COMMAND...: one line of what it says has that
says()
{
	text=$1
	shift
	"$@" >/tmp/said 2>&1
	grep -q -- "$text" /tmp/said
	status=$?
	ok $status "$*: $text"
	[ $status -eq 0 ] || head -4 /tmp/said | sed 's/^/#   /'
}

no_labels_twice()
{
	is "$(monad-storage export --once | grep -v '^#' | sed 's/ [^ ]*$//' | sort | uniq -d |
		wc -l)" 0 "no series is exported twice"
}

# nvme bind|unbind ADDRESS
nvme()
{
	echo "$2" >"/sys/bus/pci/drivers/nvme/$1"
}

# read_no_more DISK: all that looks at a new disk has looked; sets $had
read_no_more()
{
	settle
	had=
	wait_for has_not_changed "$1"
}

has_not_changed()
{
	before=$had
	nap 5
	had=$(reads "$1")
	[ "$before" = "$had" ]
}

# in_order: nvme0n1 has the lower number
in_order()
{
	nvme unbind "$first"
	nvme unbind "$second"
	nvme bind "$first"
	wait_for test -b /dev/nvme0n1
	nvme bind "$second"
	wait_for test -b /dev/nvme1n1
	settle
}

# shuffle: nvme1n1 has the number that nvme0n1 had, which has another one
shuffle()
{
	nvme unbind "$first"
	addpart /dev/nvme1n1 1 0 8
	nvme bind "$first"
	wait_for test -b /dev/nvme0n1
	delpart /dev/nvme1n1 1
	nvme unbind "$second"
	nvme bind "$second"
	wait_for test -b /dev/nvme1n1
	settle
}

# They get the first names when no other disk of their kind is there.
first=
second=
others=
for controller in /sys/class/nvme/nvme*; do
	address=$(basename "$(readlink -f "$controller/device")")
	case $(cat "$controller/serial") in
	identity-0*) first=$address ;;
	identity-1*) second=$address ;;
	*) others="$others $address" ;;
	esac
done
[ "$first" ] && [ "$second" ] || skip_all "no two NVMe disks"
for address in $others; do
	nvme unbind "$address"
done

#
# The number of a disk becomes that of a partition of another one, then of that one
#

in_order
was=$(number nvme0n1)
start_recording
read_disk nvme0n1 100
read_disk nvme1n1 7
nvme unbind "$first"
addpart /dev/nvme1n1 1 0 8
is "$(cat /sys/block/nvme1n1/nvme1n1p1/dev)" "$was" "a partition has the number of a disk"
is "$(reads nvme0n1)" 100 "latency: the disk that is gone has what it had"
is "$(reads nvme1n1p1)" 0 "the partition has nothing"
is "$(exported nvme0n1)" 100 "exported likewise"
is "$(exported nvme1n1p1)" "" "without the partition"
is "$(monad-storage export --once | grep -c 'device_info{device="nvme0n1"')" 0 \
	"what is gone is not described"
nvme bind "$first"
wait_for test -b /dev/nvme0n1
read_no_more nvme0n1
at_least "$had" 100 "it comes back"
read_disk nvme0n1 3
is "$(reads nvme0n1)" $((had + 3)) "and goes on counting"
[ "$(number nvme0n1)" != "$was" ]
ok $? "under another number"
is "$(monad-storage export --once | grep 'device_info{device="nvme0n1"' |
	grep -c "minor=\"$(number nvme0n1 | cut -d: -f2)\".*serial=\"identity-0\"")" 1 \
	"which is said, and its serial number"
delpart /dev/nvme1n1 1
nvme unbind "$second"
nvme bind "$second"
wait_for test -b /dev/nvme1n1
settle
is "$(number nvme1n1)" "$was" "another disk has the number it had"
read_disk nvme1n1 50
is "$(reads nvme0n1)" $((had + 3)) "latency: nothing of that one is its"
is "$(exported nvme0n1)" $((had + 3)) "exported likewise"
is "$(replayed nvme0n1)" $((had + 3)) "and by the events"
at_least "$(reads nvme1n1)" 57 "that one has its own"
is "$(reads nvme1n1)" "$(replayed nvme1n1)" "all of it"
no_labels_twice
is "$(monad-storage latency --json -d nvme1n1 | jq -r '[.series[].disk] | unique | join(" ")')" \
	nvme1n1 "asked for by name, latency has one disk"
is "$(events -d nvme1n1 --since "$began" | jq -r .disk | sort -u)" nvme1n1 "and so has replay"
monad-storage report --since "$began" /tmp/report.html >/dev/null
is "$(grep -o '<h2>nvme[^<]*' /tmp/report.html | sort | tr '\n' ' ')" \
	"<h2>nvme0n1 <h2>nvme0n1 <h2>nvme1n1 <h2>nvme1n1 " "a report tells them apart"

#
# Only what was asked for
#

in_order
was=$(number nvme0n1)
start_recording -d nvme0n1
read_disk nvme0n1 5
read_disk nvme1n1 8
is "$(reads nvme0n1) $(reads nvme1n1)" "5 0" "one disk was asked for"
is "$(disk_status nvme0n1 recorded) $(disk_status nvme0n1 renumbered)" "true false" \
	"status has it, as JSON"
says "^Recording nvme0n1 into" monad-storage status
nvme unbind "$first"
says "^Recording nothing into" monad-storage status
says "nvme0n1 was removed and is not recorded any more, unless it comes back as $was" \
	monad-storage status
nvme bind "$first"
wait_for test -b /dev/nvme0n1
read_no_more nvme0n1
is "$(number nvme0n1)" "$was" "it comes back with its number"
read_disk nvme0n1 6
is "$(reads nvme0n1)" $((had + 6)) "and is recorded"
shuffle
is "$(number nvme1n1)" "$was" "another disk has the number now"
had=$(reads nvme0n1)
read_disk nvme1n1 7
read_disk nvme0n1 7
is "$(reads nvme1n1)" 0 "which is not recorded"
is "$(reads nvme0n1)" "$had" "nor is the one that has another number"
is "$(events --since "$began" | jq -r .disk | sort -u)" nvme0n1 "there are no events of it"
says "nvme0n1 was removed and is not recorded any more: start again to record what has its name now" \
	monad-storage status
says "^Of what is recorded, nothing was lost" monad-storage status
is "$(disk_status nvme0n1 recorded) $(disk_status nvme0n1 renumbered)" "false true" \
	"as JSON"
says "nvme1n1 is not recorded" monad-storage latency -d nvme1n1

#
# What the kernel calls a disk may have something behind it, and media come and go
#

make_scsi_debug dev_size_mb=16
start_recording -d "$made_disk"
read_disk "$made_disk" 9
is "$(reads "$made_disk")" 9 "a disk of SCSI, asked for"
says "^Recording $made_disk into" monad-storage status

truncate -s 1M /tmp/image
losetup /dev/loop0 /tmp/image
seq=$(cat /sys/block/loop0/diskseq)
start_recording -d loop0
read_disk loop0 3
losetup -d /dev/loop0
losetup /dev/loop0 /tmp/image
[ "$(cat /sys/block/loop0/diskseq)" != "$seq" ]
ok $? "a loop device with another file has another diskseq"
had=$(reads loop0)
read_disk loop0 4
is "$(reads loop0)" $((had + 4)) "and goes on being recorded"
is "$(monad-storage latency --json | jq '[.series[] | select(.op == "read")] | length')" 1 \
	"as one disk"
losetup -d /dev/loop0

#
# Disks whose names are taken from those who make them
#

remove_null_blks
make_null_blk ident_a
if [ "$made_disk" = ident_a ]; then
	was=$(number ident_a)
	start_recording
	read_disk ident_a 100
	remove_null_blks
	make_null_blk ident_b
	is "$(number ident_b)" "$was" "a disk has the number and not the name of one that was"
	read_disk ident_b 6
	had=$(reads ident_b)
	is "$(reads ident_a)" "$(replayed ident_a)" "each has its own"
	is "$(reads ident_b)" "$(replayed ident_b)" "in latency and by the events"
	is "$(exported ident_b)" "$had" "and exported"
	at_least 90 "$had" "which is not that of the other"
	remove_null_blks
fi
for address in $others; do
	nvme bind "$address"
done
done_testing
