#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The page: it holds what was recorded, needs nothing else, and says what it lacks.
#
# kernel: any
# needs: modules=null_blk,scsi_debug,sd_mod,ext4 programs=dd,mkfs.ext4
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

# has TEXT DESCRIPTION
has()
{
	grep -qF -- "$1" page.html
	ok $? "$2"
}

make_null_blk nullb_a cache_size=4
a=$made_disk
make_scsi_debug dev_size_mb=64 opts=2 delay=1
disk=$made_disk
settle
monad-storage report -r nosuch page.html >/dev/null 2>message
is $? 1 "no such ring: an error"
grep -q nosuch message
ok $? "that names it"
is "$(find . -name "*page*" | wc -l)" 0 "and nothing was written"
start_recording -d "$a" -d "$disk"
dd if="/dev/$a" of=/dev/null bs=4k count=123 iflag=direct 2>/dev/null
dd if=/dev/zero of="/dev/$a" bs=4k count=45 oflag=direct,dsync 2>/dev/null
dd if="/dev/$disk" of=/dev/null bs=64k skip=36 count=1 iflag=direct 2>/dev/null
# Names can hold anything.
cp "$(command -v dd)" '/tmp/a<b>&"c'
PATH=/tmp:$PATH 'a<b>&"c' if="/dev/$a" of=/dev/null bs=4k count=3 iflag=direct 2>/dev/null
began_all=$began
runs "report" monad-storage report --since "$began_all" page.html
is "$(monad-storage report --since "$began_all" page.html)" \
	"$(events --since "$began_all" | wc -l) operations in page.html" "as many as there are events"
has "<td class=\"t\">$a</td><td class=\"t\">read</td><td>126</td><td>504K</td>" "the reads of a disk"
has "<td class=\"t\">$a</td><td class=\"t\">write</td><td>45</td>" "its writes"
has '<td class="t bad">ENODATA</td>' "what failed"
has 'a&lt;b&gt;&amp;&quot;c' "a name is text"
grep -q 'a<b>' page.html
is $? 1 "not HTML"
is "$(grep -c '<svg ' page.html)" "$(grep -c '</svg>' page.html)" "pictures are whole"
at_least "$(grep -c '<svg ' page.html)" 4 "reads, writes, flushes of one disk, reads of the other"
grep -qiE '<script|<link|<img|src=|href=|url\(|@import' page.html
is $? 1 "it needs nothing else"
has "What this page does not show" "it says what it does not show"
tail -n 1 page.html | grep -q '</html>'
ok $? "it has an end"
has " cache flush: the device was told" "what a cache flush is, as there are some"
has "<p>Nobody was put to sleep since the recording was started, $(date -d "$began_all" +%Y-)" \
	"no writeback pressure so far"
is "$(stat -c %a page.html)" 644 "who does not see all may read it, as umask has it"
has "Asked for: from " "which time was asked for"
monad-storage report --until "$(date -d '1 hour' +'%F %T')" page.html >/dev/null
has "Asked for: until " "or until when"
monad-storage report -d "$disk" page.html >/dev/null
grep -q "cache flush" page.html
is $? 1 "and not where there are none"
monad-storage report -d "$disk" -o write page.html >/dev/null
has "No such operation ended in that time" "a page of nothing"
has "<b>Only a part was asked for:</b> disk $disk, write." "that says of what"
has "<p>Nothing of that.</p>" "and not that nothing failed"

# Writeback: a part of it is in the ring, all of it with the programs.
make_null_blk nullb_w mbps=8
mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0 "/dev/$made_disk"
mount "/dev/$made_disk" /mnt
echo $((1 << 20)) >/proc/sys/vm/dirty_background_bytes
echo $((2 << 20)) >/proc/sys/vm/dirty_bytes
start_recording
dd if=/dev/zero of=/mnt/f bs=64k count=100 2>/dev/null
monad-storage report page.html >/dev/null
has "This page cannot show who it was" "who had to wait is not known without a task"
monad-storage task writeback-pressure --json >/tmp/other 2>&1 &
other=$!
wait_for test -s /tmp/other
begin_task writeback-pressure
dd if=/dev/zero of=/mnt/f bs=64k count=160 2>/dev/null
sync
end_task
kill -INT "$other"
wait "$other"
at_least "$(grep -c seqno /tmp/other)" 1 "two tasks see it"
monad-storage report page.html >/dev/null
grep -q "This page cannot show" page.html
is $? 1 "with one, and with the programs, all is"
has "<td class=\"t\">$made_disk</td><td>$(monad-storage latency --json |
	jq -r --arg disk "$made_disk" '.writeback[] | select(.disk == $disk) | .throttles')</td>" \
	"as often as the programs counted"
is "$(sed -n "s|.*<td class=\"t\">$made_disk</td><td class=\"t\">dd</td><td>[0-9]*</td><td>\([0-9]*\)<.*|\1|p" \
	page.html)" "$(task_events 'select(.comm == "dd") | 1' | wc -l)" \
	"and by dd as one of them saw"
monad-storage report --until "$began" page.html >/dev/null
has "This page cannot show who it was" "before that it was nobody"
has "<h3>All, since " "whatever the time, sums are since the start"
monad-ring snapshot -o snap.zst monad_ring >/dev/null
monad-storage report -r ./snap.zst page.html >/dev/null
has "This page cannot show how often" "a snapshot has no sums"
has '<td class="t">dd</td>' "but who it was"
echo 20 >/proc/sys/vm/dirty_ratio
echo 10 >/proc/sys/vm/dirty_background_ratio
umount /mnt
rm page.html snap.zst
monad-storage stop >/dev/null
monad-storage start --events=notable --slow=10s >/dev/null
monad-storage report page.html >/dev/null
has "<b>Only what is notable was recorded</b>" "a page of what is notable says that it is"
echo before >page.html
monad-storage report page.html /dev/null >/dev/null 2>&1
is $? 2 "two files: refused"
monad-storage report >/dev/null 2>&1
is $? 2 "no file: refused"
monad-storage report /nowhere/page.html >/dev/null 2>message
is $? 1 "where there is no directory: an error"
grep -q '/nowhere' message
ok $? "that names it"
is "$(cat page.html)" before "and what was there is as it was"
monad-storage report "/dev/$a" >/dev/null 2>message
is $? 1 "to a disk: refused"
test -b "/dev/$a" && grep -q "/dev/$a is a disk" message
ok $? "that is said, and it stays one"
is "$(find . -name "*page*" | wc -l)" 1 "nothing else is left behind"
monad-storage stop >/dev/null
done_testing
