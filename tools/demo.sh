#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Shows what monad_ring is for, from a bare Debian, as root or with sudo:
#
#	tools/demo.sh [--kernel 6.12]
#
# Installs what is needed, builds everything, boots a guest, and lets things go
# wrong in it: a disk becomes slow, a sector cannot be read. Nobody is watching.
# Only then is the first reader started, and looks back. A minute or two, most
# of them for downloads; the machine itself is not touched apart from the
# packages installed.
set -eu
cd "$(dirname "$0")/.."

usage()
{
	sed -n '4,/^set /s/^#[ \t]\{0,1\}//p' "$0" >&2
	exit 2
}

kernel=6.12
case $# in
0) ;;
2)
	[ "$1" = --kernel ] || usage
	kernel=$2 ;;
*)
	usage ;;
esac

log=build/demo.log
mkdir -p build
: >$log

# step TEXT COMMAND...: its output goes to the log, and is shown if it fails
step()
{
	local text=$1 begun=$SECONDS
	shift

	printf '%-58s' "$text ..."
	if "$@" >>$log 2>&1 </dev/null; then
		printf ' %4d s\n' $((SECONDS - begun))
	else
		printf ' failed\n\n'
		tail -n 30 $log | sed 's/^/    /'
		echo
		echo "all of it is in $log"
		exit 1
	fi
}

step "installing compilers, QEMU and fio (tools/setup.sh)" tools/setup.sh
step "building the library, the BPF programs and the tools" make -j"$(nproc)" tools
step "fetching Debian's kernel $kernel and its headers" tools/testing/vm/fetch "$kernel"
step "building the module for it" make modules KDIR="build/vm/$kernel/kdir"
echo "booting the guest ..."
bold=
[ ! -t 1 ] || bold=1
exec tools/testing/vm/run --kernel "$kernel" --memory 1024 --timeout 280 \
	--modprobe 'null_blk nr_devices=0' --modprobe sd_mod --modprobe ext4 \
	--modprobe 'scsi_debug dev_size_mb=128 delay=1 opts=2 max_queue=8' \
	--with build/bin/monad-storage --with fio --with jq --with mkfs.ext4 --with dd \
	--file tools/demo/guest.sh -- sh guest.sh "$bold"
