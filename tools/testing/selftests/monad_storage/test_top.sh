#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# top: disks and actors of an interval, no more and no less.
#
# needs: modules=null_blk programs=fio,dd,script
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

make_null_blk nullb_a irqmode=2 completion_nsec=20000
a=$made_disk
make_null_blk nullb_b irqmode=2 completion_nsec=2000000
b=$made_disk
settle
start_recording
dd if="/dev/$a" of=/dev/null bs=4k count=9 iflag=direct 2>/dev/null
(
	sleep 1.5
	dd if="/dev/$a" of=/dev/null bs=4k count=50 iflag=direct 2>/dev/null
	fio --output=/dev/null --direct=1 --ioengine=psync --bs=16k --rw=write --size=1m \
		--io_size=320k --name=f --filename="/dev/$b"
) &
monad-storage top --json 5 2 >top.json
wait
is "$(jq -c --arg disk "$a" 'first(.disks[] | select(.disk == $disk)) | [.reads, .read_bytes, .writes]' \
	top.json | head -1)" "[50,204800,0]" "50 reads, none of those before"
is "$(jq -c --arg disk "$b" 'first(.disks[] | select(.disk == $disk)) | [.writes, .written_bytes]' \
	top.json | head -1)" "[20,327680]" "20 writes of the other disk"
is "$(jq -s -c '.[0].actors | map(select(.ops > 9)) | map([.comm, .ops]) | sort' top.json)" \
	'[["dd",50],["fio",20]]' "by dd and by fio"
is "$(jq -s '.[0].actors[0].comm' top.json)" '"fio"' "who waited more comes first"
at_least "$(jq -s '.[0].actors[0].waited_ns' top.json)" 40000000 "20 times 2 ms and more"
is "$(jq -s -c '.[1].actors' top.json)" "[]" "and in the next interval nobody"
is "$(jq -s '[.[].missed] | add' top.json)" 0 "nothing was missed"

# As on a terminal.
(
	sleep 1.5
	dd if="/dev/$a" of=/dev/null bs=4k count=50 iflag=direct 2>/dev/null
) &
(sleep 5; printf o; sleep 1; printf q) |
	timeout 60 script -qec "stty rows 24 cols 80; monad-storage top 4" typescript >/dev/null
is $? 0 "q ends it"
wait
grep -aq "sorted by waited" typescript
ok $? "it shows what it sorts by"
grep -aq "sorted by ops" typescript
ok $? "o sorts by operations"
grep -aq " dd " typescript
ok $? "and who it was"
tr -d '\r' <typescript | sed 's/\x1b\[[?0-9;]*[a-zA-Z]//g; s/^/# /' | head -20
for arguments in "--sort nothing" "-n 0" 0 "1 2 3"; do
	# shellcheck disable=SC2086
	monad-storage top $arguments >/dev/null 2>&1 </dev/null
	is $? 2 "top $arguments: refused"
done
monad-storage stop >/dev/null
monad-storage top 1 1 >/dev/null 2>&1
is $? 1 "not recording: an error"
done_testing
