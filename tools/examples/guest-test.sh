#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# In the guest: three programs start while the example records; what it prints, and what is
# in the ring when it has ended, are those. Others watch the ring meanwhile.

eventwatch mine >/tmp/watch 2>&1 &
watch=$!
eventwatch-cc mine >/tmp/watch-cc 2>&1 &
watch_cc=$!
exec_events mine 3 >/tmp/out 2>/tmp/err &
reader=$!
tries=0
until grep -q recording /tmp/err || [ $tries -eq 100 ]; do
	sleep 0.1
	tries=$((tries + 1))
done
for name in first second third; do
	ln -sf "$(command -v monad-ring)" /tmp/$name
	/tmp/$name --version >/dev/null
done
wait $reader
status=$?

nr=0
ok()
{
	nr=$((nr + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $nr - $2"
	else
		echo "not ok $nr - $2"
		failed=1
		sed 's/^/# /' /tmp/out /tmp/err
	fi
}

failed=0
[ $status -eq 0 ]
ok $? "the example ends by itself"
# The sleeps and links of this script may be among them.
[ "$(grep -c ', pid [0-9]*, uid 0$' /tmp/out)" -eq 3 ]
ok $? "it prints three events"
[ "$(monad-ring dump mine | grep -c 'type-2 .* 24 ')" -ge 3 ]
ok $? "they are in the ring when it has ended"
sleep 0.5
kill $watch $watch_cc
[ "$(grep -c ' type-2 24 bytes$' /tmp/watch)" -ge 3 ] && cmp -s /tmp/watch /tmp/watch-cc
ok $? "those who watch have seen them, each all of them"
eventwatch mine storage >/tmp/out 2>/tmp/err
[ $? -eq 1 ] && grep -q 'not 256 (storage)' /tmp/err
ok $? "a ring of other content than asked for is refused"
exec_events monad-no-such-ring 1 2>/tmp/err
[ $? -eq 1 ] && grep -q monad-no-such-ring /tmp/err
ok $? "a ring that is not there is named"
echo 1..$nr
exit $failed
