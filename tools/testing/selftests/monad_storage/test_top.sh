#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# top: disks and actors of an interval, no more and no less.
#
# kernel: any
# needs: modules=null_blk programs=fio,dd,script,stty,env,timeout
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
monad-storage top --json 9 2 >top.json
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

is "$(jq -s -c '[.[].notable_only]' top.json)" "[false,false]" "all I/O has actors"

# As on a terminal.
escape=$(printf '\033')
export TERM=vt100
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
tr -d '\r' <typescript | sed "s/$escape\[[?0-9;]*[a-zA-Z]//g; s/^/# /" | head -20
# on_terminal ROWS COLUMNS: what two intervals look like there, without what moves the cursor
on_terminal()
{
	timeout 60 script -qec "stty rows $1 cols $2; monad-storage top 1 2" typescript >/dev/null
	tr -d '\r' <typescript | sed "/$escape\[?1049l/,\$d; s/$escape\[[?0-9;]*[a-zA-Z]//g; /^Script /d"
}

# Only what is asked for is under way, and is what makes a disk busy.
fio --output=/dev/null --direct=1 --ioengine=libaio --iodepth=4 --bs=4k --rw=write --size=1m \
	--time_based --runtime=$((6 * slowness)) --name=f --filename="/dev/$b" &
nap 20
for op in read write; do
	monad-storage top --json -o $op 0.5 1 | jq -r --arg disk "$b" \
		'[.disks[] | select(.disk == $disk) | .inflight] | add // "none"' >/tmp/inflight_$op
done
wait
is "$(cat /tmp/inflight_read)" none "of a disk that is written to, -o read shows nothing"
at_least "$(cat /tmp/inflight_write)" 1 "-o write shows what is under way"

# ^Z gives the terminal back, fg takes it again.
mkfifo keys
# (Whoever runs in the background of a script ignores SIGQUIT.)
timeout 60 /usr/bin/env --default-signal=QUIT script -qfec "set -m; stty rows 24 cols 80; monad-storage top 1
	until [ -e go_on ]; do sleep 0.1; done; fg; true" typescript <keys >/dev/null &
exec 3>keys
wait_for pidof monad-storage
top=$(pidof monad-storage)
wait_for grep -aq "sorted by" typescript
tty=$(readlink "/proc/$top/fd/0")
stopped()
{
	grep -q "^State:.*T" "/proc/$top/status"
}
# modes: what of the line's editing and echo is on
modes()
{
	stty -F "$tty" -a | grep -o -- '-*icanon\|-*echo\>' | xargs
}
is "$(modes)" "-icanon -echo" "top has the keys for itself"
# given_back: how often the screen was
given_back()
{
	grep -ao "$escape\[?1049l" typescript | wc -l
}
kill -TSTP "$top"
wait_for stopped
ok $? "stopped"
is "$(modes)" "icanon echo" "the terminal is as it was"
was_given_back()
{
	[ "$(given_back)" -eq "$1" ]
}
wait_for was_given_back 1
ok $? "the screen, too"
touch go_on
sleep 1.5
is "$(modes)" "-icanon -echo" "and when it goes on, it has them again"
printf o >&3
wait_for grep -aq "sorted by ops" typescript
ok $? "a key is read at once"
kill -QUIT "$top"
wait
exec 3>&-
is "$(given_back)" 2 "^\\ leaves no terminal behind that cannot be used"

# Of each width, all fits; of the least, something is seen.
(
	sleep 1
	dd if="/dev/$a" of=/dev/null bs=4k count=2000 iflag=direct 2>/dev/null
) &
for columns in 80 60 40 200; do
	on_terminal 24 $columns >screen
	at_least "$columns" "$(awk '{ print length }' screen | sort -n | tail -1)" \
		"in $columns columns no line is longer"
	grep -q "^DISK .* p99" screen
	ok $? "and the slowest are there"
done
wait
on_terminal 6 80 >screen
at_least 10 "$(grep -c . screen)" "in 6 rows no more lines, twice"
timeout 60 script -qec "stty rows 24 cols 80; monad-storage top 1 1" typescript >/dev/null
tr -d '\r' <typescript | sed "s/^.*$escape\[?1049l//" >screen
is "$(grep -c "^DISK .* p99" screen)" 1 "the last of a number of tables stays when it ends"
TERM=dumb on_terminal 24 80 >/dev/null
grep -aq "$escape" typescript
is $? 1 "TERM=dumb: nothing moves the cursor"
grep -aq "sorted by waited" typescript
ok $? "but it is shown"
monad-storage top 1 1 | grep -q "$escape"
is $? 1 "nor in a pipe"

start_recording --events=notable --slow=1s
is "$(monad-storage top --json 0.1 1 | jq -c .notable_only)" true \
	"actors of notable I/O only are said to be that"
for arguments in "--sort nothing" "-n 0" 0 "1 2 3"; do
	# shellcheck disable=SC2086
	monad-storage top $arguments >/dev/null 2>&1 </dev/null
	is $? 2 "top $arguments: refused"
done

# Stopped and started while somebody looks.
monad-storage top --json $((8 * slowness)) 2 >top.json &
nap 10
start_recording
dd if="/dev/$a" of=/dev/null bs=4k count=3 iflag=direct 2>/dev/null
wait
is "$(jq -s -c '[.[].notable_only]' top.json)" "[true,false]" "another recording: top knows its kind"
rm -f typescript
(
	wait_for grep -aq "sorted by" typescript
	monad-storage stop >/dev/null
) &
timeout 60 script -qfec "stty rows 24 cols 80; monad-storage top 1" typescript >/dev/null
wait
sed -n "/$escape\[?1049l/,\$p" typescript | sed "1s/^.*$escape\[?1049l//" | grep -q "not recording"
ok $? "stopped meanwhile: that is said where it can be read"
monad-storage top 1 1 >/dev/null 2>&1
is $? 1 "not recording: an error"
done_testing
