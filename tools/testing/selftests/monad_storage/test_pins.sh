#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Where recordings are pinned: what others put there is not touched, a start that
# is not complete is not taken for one, and starts and stops wait for each other.
#
# needs: modules=null_blk programs=setpriv,timeout
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

pins=/sys/fs/bpf/monad_storage
monad-storage stop >/dev/null

as_user()
{
	setpriv --reuid 1000 --regid 1000 --clear-groups "$@"
}

# refused TEXT: start, stop and status leave alone what is there, and say why
refused()
{
	for verb in start stop status; do
		monad-storage $verb >/tmp/message 2>&1
		is $? 1 "$verb: $1"
		grep -q "is not what 'monad-storage start' makes" /tmp/message
		ok $? "and says so"
		grep -q "of user 1000" /tmp/message
		ok $? "and whose it is"
	done
}

is "$(monad-storage status --json | jq -c '[.recording, .half_started]')" "[false,false]" \
	"not recording"
chmod 1777 /sys/fs/bpf
echo 0 >/proc/sys/fs/protected_symlinks
mkdir -p /tmp/victim
touch /tmp/victim/a
as_user ln -s /tmp/victim $pins
refused "a link of a user"
is "$(ls /tmp/victim)" a "and what it leads to is still there"
rm $pins
as_user mkdir $pins
refused "a directory of a user"
rmdir $pins
mkdir /tmp/empty
mount --bind /tmp/empty /sys/fs/bpf
monad-storage start 2>/tmp/message
grep -q 'mount -t bpf -o mode=700 none /sys/fs/bpf' /tmp/message
ok $? "without a BPF file system: start says how to mount it"
umount /sys/fs/bpf

for verb in start stop status; do
	monad-storage start >/dev/null 2>&1
	as_user monad-storage $verb 2>/tmp/message
	is $? 1 "$verb as a user"
	grep -q 'takes root' /tmp/message
	ok $? "takes root"
done
runs "what was started goes on" monad-storage status
monad-storage stop >/dev/null

mkdir -m 700 $pins
monad-storage status >/dev/null
is $? 1 "half started: status is no success"
is "$(monad-storage status --json | jq -c '[.recording, .half_started]')" "[false,true]" \
	"nor recording"
runs "half started: stop" monad-storage stop
mkdir -m 700 $pins
monad-storage start >/dev/null 2>/tmp/message
is "$? $(grep -c "not quite begun" /tmp/message)" "0 1" \
	"half started: another start takes its place, and says so"
is "$(monad-storage status --json | jq -c '[.recording, .half_started]')" "[true,false]" \
	"as a whole one"
monad-storage stop >/dev/null
monad-storage start >/dev/null 2>&1 &
first=$!
wait_for test -e $pins/link_block_rq_complete
kill -KILL $first
wait $first 2>/dev/null
[ ! -e $pins/map_session ] || echo "# it had started"
programs=$(find $pins -name "link_*" | wc -l)
at_least "$programs" 1 "killed while it started: $programs programs are attached"
rm -f $pins/map_session
runs "and the next start is none the worse" monad-storage start
rm $pins/map_session
is "$(monad-storage status --json | jq -c '[.recording, .half_started]')" "[false,true]" \
	"without its last pin it is half started"
monad-storage stop >/dev/null

# The lock is held while somebody starts.
monad-storage start >/tmp/first 2>&1 &
first=$!
monad-storage start >/tmp/second 2>&1 &
second=$!
wait $first
a=$?
wait $second
is "$((a + $?))" 1 "of two starts at once one wins"
grep -q 'already recording (' /tmp/first /tmp/second
ok $? "and the other knows"
runs "a complete recording" monad-storage status
monad-storage stop >/dev/null
monad-storage start >/tmp/first 2>&1 &
first=$!
wait_for test -e $pins
runs "a stop while it starts" monad-storage stop
wait $first
is $? 0 "comes after the start"
is "$(find /sys/fs/bpf -name "*monad_storage*" | wc -l)" 0 "and leaves nothing"
rm -f /run/monad-storage.lock
ln -s /tmp/victim/b /run/monad-storage.lock
monad-storage start 2>/dev/null
is $? 1 "a lock that is a link is not followed"
is "$(ls /tmp/victim)" a "nothing was made behind it"
rm /run/monad-storage.lock

for arguments in "--max-inflight 4294967360" "--max-inflight 15" "-d 99:99" "-d -1:0" "-d no_such_disk"; do
	# shellcheck disable=SC2086
	monad-storage start $arguments >/dev/null 2>&1
	at_least $? 1 "start $arguments: refused"
done
monad-storage status >/dev/null
is $? 1 "and nothing was started"
done_testing
