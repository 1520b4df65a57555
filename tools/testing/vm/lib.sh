# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What the programs of this directory share.

# shellcheck disable=SC2034 # used by those who include this
EXIT_WARNING=99 EXIT_TIMEOUT=124 EXIT_HARNESS=125

vm_source=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(cd "$vm_source/../../.." && pwd)
build_dir=$top/build
vm_dir=$build_dir/vm

say()
{
	echo "${0##*/}: $*" >&2
}

die()
{
	say "$*"
	exit "$EXIT_HARNESS"
}

# need PROGRAM...
need()
{
	local program

	for program; do
		command -v "$program" >/dev/null ||
			die "$program is missing; tools/setup.sh installs it"
	done
}

kernel_names()
{
	awk '!/^#/ && NF { printf "%s%s", sep, $1; sep = " " }' "$vm_source/kernels"
}

# kernel_row NAME: sets row_release, row_image, row_source, row_btfids
kernel_row()
{
	local row

	row=$(awk -v name="$1" '!/^#/ && $1 == name' "$vm_source/kernels")
	[ -n "$row" ] ||
		die "unknown kernel '$1'; those known are: $(kernel_names)"
	# shellcheck disable=SC2034 # used by those who include this
	read -r _ row_release row_image row_source row_btfids <<<"$row"
}

# resolve_btfids_of KDIR: the newest one installed or unpacked beside it
resolve_btfids_of()
{
	local kdir file

	kdir=$(realpath "$1")
	for file in "$kdir"/tools/bpf/resolve_btfids/resolve_btfids \
		    "$kdir"/../../lib/linux-kbuild-*/tools/bpf/resolve_btfids/resolve_btfids; do
		[ ! -x "$file" ] || echo "$file"
	done | sort -V | tail -n 1
}
