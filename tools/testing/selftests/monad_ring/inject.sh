#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Run the selftests, or those named, while allocations and copies from and to user space fail at
# random in their processes. They may fail then; the kernel must not complain (which is for
# tools/testing/vm/run to see), nothing may keep the module afterwards, and it has to work. For
# kernels with CONFIG_FAULT_INJECTION.
#
#   run-in-guest.sh --inject[=N] [PROGRAM]...
#
# N: of so many chances to fail, one is taken; 5000 if not given; at least 100.
#
# TAP: a line for each program, with how many faults it got. Exit status: 0, 1 when something
# failed, 4 when all was skipped.

cd "$(dirname "$0")" || exit 1
case ${1:-} in
--inject) chances=5000 ;;
--inject=*) chances=${1#*=} ;;
*) chances= ;;
esac
case $chances in
"" | *[!0-9]* | ? | ??)
	echo "usage: run-in-guest.sh --inject[=N] [PROGRAM]..., N from 100 on" >&2
	exit 1 ;;
esac
shift
# shellcheck disable=SC2046 # a word a program
[ $# -gt 0 ] || set -- $(sed 's/.*://' kselftest-list.txt)
: "${VM_SLOWNESS:=1}"

debugfs=/sys/kernel/debug
kinds='failslab fail_page_alloc fail_usercopy'
module=/sys/module/monad_ring
# More faults than there will be.
many=1000000000
# Seconds for each program: those who wait for what has failed need not be waited for.
limit=$((60 * VM_SLOWNESS))
# Nor need it be as often.
export MONAD_RING_WAKEUPS=2000

echo "TAP version 13"
for kind in $kinds; do
	if [ ! -w "$debugfs/$kind/probability" ]; then
		echo "1..0 # SKIP this kernel has no $kind"
		exit 4
	fi
done

# set_faults KIND FILE VALUE: where the kind of fault has such a thing
set_faults()
{
	[ ! -e "$debugfs/$1/$2" ] || echo "$3" >"$debugfs/$1/$2"
}

# inject CHANCES; 0: no more
inject()
{
	for kind in $kinds; do
		set_faults "$kind" probability 0
		set_faults "$kind" task-filter Y
		set_faults "$kind" ignore-gfp-wait N
		set_faults "$kind" ignore-gfp-highmem N
		set_faults "$kind" min-order 0
		# Each would be a stack in the log otherwise.
		set_faults "$kind" verbose 0
		[ "$1" -gt 0 ] || continue
		# In per cent is no less than one in a hundred; of each N/100th, then.
		set_faults "$kind" interval $(($1 / 100))
		set_faults "$kind" times $many
		set_faults "$kind" probability 1
	done
}

# How many there were since inject().
injected()
{
	echo $((many - $(cat "$debugfs/$1/times")))
}

# What a program that ended has left running.
kill_rest()
{
	for process in /proc/[0-9]*; do
		marked=$(cat "$process/make-it-fail" 2>/dev/null)
		[ "$marked" != 1 ] || kill -9 "${process#/proc/}" 2>/dev/null
	done
}

unload()
{
	tries=0
	while [ -d $module ] && ! rmmod monad_ring 2>/dev/null; do
		tries=$((tries + 1))
		if [ $tries -ge $((10 * VM_SLOWNESS)) ]; then
			echo "# monad_ring is still used by $(cat $module/refcnt)"
			return 1
		fi
		sleep 1
	done
}

output=$(mktemp) || exit 1
trap 'inject 0; rm -f "$output"' EXIT
total=0 tests=0 failed=0

# result DESCRIPTION: for the status of the command before
result()
{
	status=$?
	tests=$((tests + 1))
	if [ $status -eq 0 ]; then
		echo "ok $tests - $1"
	else
		failed=$((failed + 1))
		echo "not ok $tests - $1"
	fi
}

run_program()
{
	start=$(date +%s)
	inject "$chances"
	# It may be what fails.
	tries=0
	until grep -q '^TAP version' "$output" || [ $tries -ge 20 ]; do
		tries=$((tries + 1))
		# shellcheck disable=SC2016 # expanded by the shell that is replaced
		timeout -k 10 "$limit" sh -c 'echo 1 >/proc/self/make-it-fail && exec "./$0"' \
			"$1" >"$output" 2>&1
	done
	kill_rest
	inject 0
	sed 's/^/# /' "$output"
	sum=0 counts=
	for kind in $kinds; do
		count=$(injected "$kind")
		sum=$((sum + count))
		counts="$counts, $kind $count"
	done
	total=$((total + sum))
	counts="$counts; tests: $(grep -c '^ok' "$output") passed, \
$(grep -c '^not ok' "$output") failed, $(($(date +%s) - start)) s"
	unload && grep -q '^TAP version' "$output"
	result "$1, a fault in $chances: $sum injected: ${counts#, }"
	: >"$output"
}

: >"$output"
for program; do
	run_program "$program"
done
./device >"$output" 2>&1 && unload
result "device, without faults"
[ $total -gt 0 ]
result "faults injected: $total"
sed 's/^/# /' "$output"
echo "1..$tests"
[ $failed -eq 0 ]
