# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What the tests with a Prometheus on this machine and a monad-storage in a guest share:
# a directory $work, the guest, and the questions that Prometheus is asked. TAP.

. tools/testing/tap.sh

work=$(mktemp -d "${TMPDIR:-/tmp}/monad-prometheus-XXXXXX")
guest=
prometheus=
control= # the guest's port for commands
api= # Prometheus's address, or that of another program that is asked as it is
cleanup()
{
	[ -z "$guest" ] || kill "$guest" 2>/dev/null
	[ -z "$prometheus" ] || kill "$prometheus" 2>/dev/null
	wait
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 1' INT TERM HUP

# Nobody listens on it now; whether that is so still, qemu will say.
free_port()
{
	local port

	while port=$((20000 + RANDOM % 12000)); do
		(: <>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || { echo $port; return; }
	done
}

# within SECONDS COMMAND...: until it succeeds
within()
{
	local until=$((SECONDS + $1))
	shift

	until "$@"; do
		[ $SECONDS -lt $until ] || return
		sleep 0.5
	done
}

#
# The guest
#

# Runs a command in the guest; prints what it does.
in_guest()
{
	curl -sS --max-time 60 -G --data-urlencode "=$*" "http://$control/cgi-bin/run"
}

#
# Prometheus
#

# It says where, once it knows.
listening()
{
	kill -0 "$prometheus" || return
	api=$(sed -n 's/.*msg="Listening on" address=\(127[0-9.:]*\).*/\1/p' "$work/prometheus.log")
	[ -n "$api" ]
}

# query EXPRESSION: the values of its result, in order, one a line
query()
{
	curl -sS --max-time 20 "http://$api/api/v1/query" --data-urlencode "query=$1" |
		jq -r '.data.result | sort_by(.metric | tostring) | .[].value[1]'
}

answers()
{
	[ "$(query "$1")" = "$2" ]
}

has_nothing()
{
	within 60 answers "$1" ""
}

# has EXPRESSION VALUE: within a minute
has()
{
	[ -n "$2" ] || { echo "there is no value to compare $1 with"; return 1; }
	within 60 answers "$1" "$2" ||
		{ echo "$1 is '$(query "$1")', not '$2'"; curl -s "http://$api/api/v1/targets"; return 1; }
}

# is_between EXPRESSION LOW HIGH
is_between()
{
	local value

	value=$(query "$1")
	echo "$1 is $value"
	awk -v value="$value" -v low="$2" -v high="$3" \
		'BEGIN { exit !(value != "" && value + 0 >= low && value + 0 <= high) }'
}
