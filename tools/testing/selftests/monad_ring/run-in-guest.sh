#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Run the selftests, or those named: all they print, in the Test Anything Protocol, then a
# line for each program.  As root, on a machine that may lose its monad_ring: the tests load
# and unload it.  It is loaded again in the end, with the rings it had.
#
#   run-in-guest.sh [PROGRAM]...
#   run-in-guest.sh --inject[=N] [PROGRAM]...	with faults injected: see inject.sh
#
# Exit status: 0, 1 when something failed, 4 when all was skipped.

cd "$(dirname "$0")" || exit 1
case ${1:-} in
--inject*) exec ./inject.sh "$@" ;;
esac
# shellcheck disable=SC2046 # a word a program
[ $# -gt 0 ] || set -- $(sed 's/.*://' kselftest-list.txt)
limit=$(($(sed -n 's/^timeout=//p' settings) * ${VM_SLOWNESS:-1}))

module=/sys/module/monad_ring
loaded=false
if [ -d $module ]; then
	loaded=true
	rings=$(cat $module/parameters/rings)
fi

output=$(mktemp) || exit 1
summary=$(mktemp) || exit 1
trap 'rm -f "$output" "$summary"' EXIT

for program; do
	start=$(date +%s)
	{
		timeout "$limit" "./$program" 2>&1
		echo "# exit $?"
	} | tee "$output"
	status=$(sed -n '$s/^# exit //p' "$output")
	# One that crashed has not said so itself.
	if [ "$status" != 0 ] && [ "$status" != 4 ] && ! grep -q '^not ok' "$output"; then
		echo "not ok $program: exit status $status" | tee -a "$output"
	fi
	awk -v name="$program" -v seconds=$(($(date +%s) - start)) '
		/^not ok/ { failed++; next }
		/^(ok|1\.\.0).* # SKIP/ { skipped++; next }
		/^ok/ { passed++ }
		END {
			printf "# %-12s %3d passed %3d failed %3d skipped %4d s\n",
				name, passed, failed, skipped, seconds
		}' "$output" >>"$summary"
done

if $loaded && [ ! -d $module ]; then
	modprobe monad_ring "rings=$rings" || echo "# monad_ring cannot be loaded again"
fi

cat "$summary"
awk '
	{ passed += $3; failed += $5 }
	END { exit failed || !NR ? 1 : passed ? 0 : 4 }' "$summary"
