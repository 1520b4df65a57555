# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# TAP from shell scripts: tap_case NAME COMMAND..., tap_skip NAME WHY, then tap_done.

tap_nr=0
tap_failed=0

# One test: ok when the command succeeds. What it prints is shown only if it does not.
tap_case()
{
	local name=$1 output
	shift

	tap_nr=$((tap_nr + 1))
	if output=$("$@" 2>&1); then
		echo "ok $tap_nr - $name"
	else
		echo "not ok $tap_nr - $name"
		sed 's/^/# /' <<<"$output"
		tap_failed=$((tap_failed + 1))
	fi
}

tap_skip()
{
	tap_nr=$((tap_nr + 1))
	echo "ok $tap_nr - $1 # SKIP $2"
}

tap_done()
{
	echo "1..$tap_nr"
	[ $tap_failed -eq 0 ]
	exit
}
