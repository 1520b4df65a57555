#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# In the guest: monad-ring makes kernel rings, looks at them while they are written to, keeps what
# is in them and destroys them; and says why when it cannot.

nr=0
failed=0
slowness=${VM_SLOWNESS:-1}

ok()
{
	nr=$((nr + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $nr - $2"
	else
		echo "not ok $nr - $2"
		failed=1
		sed 's/^/# /' /tmp/out
	fi
}

# does STATUS NAME COMMAND...: what it prints is in /tmp/out.
does()
{
	want=$1
	name=$2
	shift 2
	"$@" >/tmp/out 2>&1
	[ $? -eq "$want" ]
	ok $? "$name"
}

# says NAME REGEX
says()
{
	grep -q -e "$2" /tmp/out
	ok $? "$1"
}

# Programs that start: what exec_events records.
execs()
{
	i=0
	while [ $i -lt "$1" ]; do
		/tmp/first --version >/dev/null
		i=$((i + 1))
	done
}
ln -sf "$(command -v monad-ring)" /tmp/first

does 0 "create" monad-ring create t1:16:24
says "tells device, id and size" \
	'^/dev/monad_ring-t1: ring id [0-9]*, 65536 events, 16 MiB of payload, [0-9]* of 11 chunks huge$'
does 0 "list" monad-ring list
says "has it" '^/dev/monad_ring-t1 *device *none *65536 .* kernel$'
does 1 "once more" monad-ring create t1:16:24
says "there is one" 'there is a kernel ring `t1`'
does 1 "the device's name is the ring's" monad-ring create /dev/monad_ring-t1
says "there is one" 'there is a kernel ring `t1`'
does 1 "more memory than there is" monad-ring create big:30:40
says "how much that is" 'of 65536 MiB and 1048576 MiB of payload'
does 1 "a name that is none" monad-ring create 'a b'
says "what is one" '1 to 31 letters'
does 1 "a node there is not" monad-ring create --node 99 t2
says "which" 'there is no NUMA node 99'
does 0 "one with content, on a node, in JSON" \
	monad-ring --json create --content storage --node 0 monad_ring-t2:16:24
says "has an id" '"ring_id": [1-9]'
does 0 "info" monad-ring info t2
says "content" '^content type: *256 (storage)$'
says "node" '^numa node: *0$'
says "state" '^state: *live$'
says "wakeups" '^readers woken: *0$'
! grep -q 'not the one of this program' /tmp/out
ok $? "schema"
does 0 "an empty ring is sound" monad-ring check t2

does 1 "not everybody may" setpriv --reuid 1000 --regid 1000 --clear-groups \
	monad-ring create t3:16:24
says "who" 'it takes root, or the group'
chmod 444 /dev/monad_ring /dev/monad_ring-t1
does 1 "nor who can read" setpriv --reuid 1000 --regid 1000 --clear-groups \
	monad-ring create t3:16:24
says "who" 'CAP_PERFMON'
does 1 "nor destroy" setpriv --reuid 1000 --regid 1000 --clear-groups monad-ring destroy t1
says "who" 'CAP_PERFMON'
chmod 400 /dev/monad_ring /dev/monad_ring-t1

# Events.
exec_events reserve >/tmp/events 2>/tmp/err &
recorder=$!
tries=0
until grep -qs TIME /tmp/events || [ $tries -eq $((100 * slowness)) ]; do
	sleep 0.1
	tries=$((tries + 1))
done
execs 20
does 0 "stat" monad-ring stat exec
says "has a header" '^RING .*EVENTS/s'
says "and rates since it was created" '^exec  *[0-9.]*[1-9][0-9.]* .* 0 *0 '
# Written to for as long as it takes: how fast that is, is the machine's business.
monad-ring stat --interval "$slowness" --count 3 --json exec monad_ring >/tmp/stat &
stat=$!
while kill -0 $stat 2>/dev/null; do
	execs 5
done
wait $stat
jq -s -e 'length == 6 and
	([.[] | select(.path == "/dev/monad_ring-exec" and (.since_creation | not))] |
		map(.events_per_s) | length == 2 and all(. > 0)) and
	([.[] | select(.path == "/dev/monad_ring")] | all(.events_per_s == 0))' /tmp/stat >/tmp/out 2>&1
ok $? "stat: one is written to, the other is not"
execs 50 &
does 0 "a ring that is written to is sound" monad-ring check exec
says "and has events" '[1-9][0-9]* events (0 discarded'
wait $!
does 0 "snapshot" monad-ring snapshot exec
says "a name of its own" '^written: *monad_ring-exec-[0-9]*-[0-9]*.zst ('
says "nothing missed" '^missed: *0 (0 '
does 0 "since" monad-ring snapshot --since 1h -o /tmp/since.zst exec
says "events" '^copied: *[1-9]'
kill $recorder
wait $recorder 2>/dev/null
monad-ring dump exec 2>/dev/null | cut -c 41- >/tmp/dump
[ "$(wc -l </tmp/dump)" -gt 70 ]
ok $? "the ring has all of them"
does 0 "copy" monad-ring copy exec /tmp/copy
monad-ring dump /tmp/copy 2>/dev/null | cut -c 41- | cmp - /tmp/dump >/tmp/out 2>&1
ok $? "the copy has the same"
does 0 "and is sound" monad-ring check /tmp/copy
does 0 "info of it" monad-ring info /tmp/copy
says "has the kernel ring's boot" '^boot id:'
does 0 "so is the snapshot" monad-ring check ./monad_ring-exec-*.zst

# The end of a ring that is looked at.
does 0 "destroy what the recorder made" monad-ring destroy exec
monad-ring stat --interval 0.1 t1 >/tmp/stat 2>&1 &
stat=$!
sleep "$slowness"
does 0 "destroy" monad-ring destroy /dev/monad_ring-t1
says "which" '^/dev/monad_ring-t1: destroyed$'
wait $stat
ok $? "stat ends when the ring does"
cp /tmp/stat /tmp/out
says "and says why" ' gone$'
[ ! -e /dev/monad_ring-t1 ]
ok $? "there is no such device any more"
does 1 "destroying goes on" monad-ring destroy t1 monad_ring /dev/null t2
says "what there is not" 'no event ring `t1`'
says "what goes with the module" 'the default ring, which goes with the module'
says "what is no ring" '/dev/null: not a monad_ring device'
says "what is destroyed" '^/dev/monad_ring-t2: destroyed$'

made=0
while monad-ring create "many$made:10:21" >/tmp/out 2>&1 && [ $made -lt 70 ]; do
	made=$((made + 1))
done
[ $made -eq 63 ]
ok $? "there can be 64 rings: $made besides the default one"
says "which is said" 'there are 64'
while [ $made -gt 0 ]; do
	made=$((made - 1))
	monad-ring destroy many$made >/tmp/out 2>&1 || break
done
does 0 "all are destroyed" monad-ring list
[ "$(wc -l </tmp/out)" -eq 2 ]
ok $? "but the default one"

# Files in huge pages.
mkdir -p /mnt/huge
mount -t hugetlbfs none /mnt/huge
does 0 "a file in the default directory" monad-ring create --file --content test hf:10:21
! grep -q warning /tmp/out
ok $? "is in huge pages"
says "and is told" '^/mnt/huge/event-rings/hf: 1024 events, 2 MiB of payload$'
does 0 "it is sound" monad-ring check hf
does 0 "list" monad-ring list
says "has it" '^/mnt/huge/event-rings/hf *file *test .* gone$'
does 1 "a copy is not for huge pages" monad-ring copy hf /mnt/huge/copy
says "which is said" 'would be on hugetlbfs'
does 1 "too large" monad-ring create --file --content test large:20:30
says "too few pages" 'huge pages'
does 0 "destroy it" monad-ring destroy hf
[ -z "$(ls -A /mnt/huge/event-rings)" ]
ok $? "nothing is left"

rmmod monad_ring
does 1 "without the module" monad-ring create t1
says "what to do" 'modprobe monad_ring'
echo 1..$nr
exit $failed
