#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Prints a C file that defines the schema hash of a content type's events, which
# are called monad_CONTENT_*: the SHA-256 of their types as bpftool prints them from BTF. Only the types
# themselves go in, each on one line, without comments or attributes, sorted by
# name: neither the compiler nor the order or spelling of the sources matter,
# but every change of a field, an offset or an enumerator does.
#
# usage: schema_hash.sh BPFTOOL OBJECT CONTENT

set -eu

[ $# -eq 3 ] || { echo "usage: ${0##*/} BPFTOOL OBJECT CONTENT" >&2; exit 2; }
content=$3

types=$("$1" btf dump file "$2" format c | awk -v content="$content" '
	$0 ~ "^(struct|enum) monad_" content "_[a-z_]+ [{]$" { inside = 1; type = "" }
	inside {
		gsub(/[ \t]+/, " ")
		sub(/^ /, "")
		type = type $0 " "
	}
	inside && /^\}/ {
		inside = 0
		gsub(/ __attribute__\(\([^)]*\)\)\)?/, "", type)
		print type
	}' | LC_ALL=C sort)

if ! echo "$types" | grep -q "^struct monad_${content}_"; then
	echo "${0##*/}: no $content event types in the BTF of $2" >&2
	exit 1
fi

hash=$(echo "$types" | sha256sum)
hash=${hash%% *}

cat <<EOT
/*
 * Made by bpf/${0##*/}. The SHA-256 of these lines:
 *
$(echo "$types" | sed 's/^/ * /; s/ *$//')
 */
#include <stdint.h>

extern uint8_t const g_monad_${content}_event_schema_hash[32];

uint8_t const g_monad_${content}_event_schema_hash[32] = {
$(echo "$hash" | sed 's/../0x&, /g; s/\(\(0x.., \)\{8\}\)/	\1\n/g' | sed 's/ *$//; /^$/d')
};
EOT
