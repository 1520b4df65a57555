#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# A ring that is much too small, and a reader that sleeps: what the reader prints
# and what it says it missed is all there was.
#
# needs: modules=null_blk programs=fio
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

monad-storage stop >/dev/null
rmmod monad_ring && modprobe monad_ring rings=tiny:10:21 || skip_all "cannot reload monad_ring"
[ -c /dev/monad_ring-tiny ] || skip_all "no second ring"
make_null_blk nullb_a
disk=$made_disk
settle

seqno()
{
	monad-storage status --json --ring tiny | jq -r .ring.last_seqno
}

runs "start on a ring of 1024 events" monad-storage start --ring tiny -d "$disk"
began=$(seqno)
# has_traced N: the event with that number
has_traced()
{
	grep -q "\"seqno\":$1," /tmp/trace
}
monad-storage trace --ring tiny --all --json >/tmp/trace 2>/tmp/trace.err &
reader=$!
wait_for is_traced "$disk" /tmp/trace
kill -STOP $reader
runs "fio: 4000 reads" fio --output=/dev/null --name=r --direct=1 --ioengine=psync --bs=4k \
	--rw=randread --size=32m --number_ios=4000 --filename="/dev/$disk"
kill -CONT $reader
wait_for has_traced "$(seqno)"
kill $reader
wait $reader 2>/dev/null
is $? 0 "the reader ends well"
grep -q "events, and the payload of .* were overwritten" /tmp/trace.err
ok $? "and says that it was too slow"

first=$(jq -r 'select(.seqno) | .seqno' /tmp/trace | head -n 1)
events=$(($(seqno) - first + 1))
printed=$(jq -r 'select(.seqno) | .seqno' /tmp/trace | wc -l)
missed=$(jq -r 'select(.type == "gap") | .missed' /tmp/trace | awk '{ n += $1 } END { print n + 0 }')
echo "# $events events, $printed printed, $missed missed"
at_least "$missed" 1 "the reader was lapped"
is $((printed + missed)) "$events" "printed and missed are all there were"
is "$(jq -c 'select(.type == "totals") | [.events + .expired, .missed]' /tmp/trace)" \
	"[$printed,$missed]" "and what the totals say"
is "$(jq -r 'select(.seqno) | .seqno' /tmp/trace | sort -n | uniq -d | wc -l)" 0 \
	"none was printed twice"
is "$(($(counter issued) + $(counter completed)))" $(($(seqno) - began)) "and all that the programs saw"
is "$(monad-storage status --json | jq -r '[.losses.ring, .losses.probe | add] | add')" 0 \
	"the recording itself lost nothing"
is "$(monad-storage status | grep -c -e "^Nothing was lost" -e "^The ring went round: it has what is from ")" \
	2 "status says that, and that the ring does not have all of it any more"
is "$(monad-storage replay --summary --json 2>/dev/null | jq '[.rows[].ops] | add > 0')" true \
	"replay reads the ring that is recorded to, if no other is asked for"
monad-storage report -r tiny --since 1h /tmp/page.html >/dev/null 2>/tmp/message
grep -q "the ring reaches back to .* only, not to " /tmp/message
ok $? "report says that it does not have the hour that is asked for"
grep -q "What ended before .*: so far back the ring reaches" /tmp/page.html
ok $? "and so does its page"

monad-storage stop >/dev/null
monad-ring create made:10:21 >/dev/null
runs "start on a ring that was created" monad-storage start -r made -d "$disk"
monad-ring destroy made >/dev/null
monad-storage status >/tmp/text 2>/dev/null
is "$? $(grep -c "^That ring is gone, and no event is recorded" /tmp/text)" "1 1" \
	"status says that its ring was destroyed"
monad-storage stop >/dev/null
runs "after stop the module can be unloaded at once" rmmod monad_ring
modprobe monad_ring
done_testing
