#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Give a freshly built module its BTF and the BTF ids of its kfuncs, where
# kbuild could not.  Without these the module loads and BPF programs cannot
# call it: the kernel says only "missing module BTF".
#
# Debian's headers of 6.1 come without a vmlinux to take the types of the
# kernel from and without resolve_btfids; those of 6.12.16 and later have
# both, and then there is nothing left to do here but to check.
#
# Run it before the module is signed.  It works on a copy and replaces the
# module at the end, so that one that was half done is never mistaken for one
# that is done.

set -euo pipefail

usage()
{
	cat <<-EOF
	Usage: btf.sh KDIR MODULE.ko
	       btf.sh --check MODULE.ko

	KDIR is the kernel build directory the module was built with.

	Environment:
	  BTF_BASE        the types of the kernel: a vmlinux, or raw BTF such as
	                  /sys/kernel/btf/vmlinux of that very kernel
	  RESOLVE_BTFIDS  the program of that name, 6.1 or later
	  PAHOLE          the program of that name, 1.19 or later
	EOF
}

say()
{
	echo "btf.sh: $*" >&2
}

fail()
{
	say "$1"
	shift
	for line; do
		echo "        $line" >&2
	done
	[ ! -s "${module:-}" ] ||
		say "${module##*/} was built, but BPF programs will not be able to call its kfuncs"
	exit 1
}

has_section()
{
	readelf -SW "$1" 2>/dev/null | grep -F " $2 " >/dev/null
}

# u32_at FILE OFFSET
u32_at()
{
	od -An -tu4 -j "$2" -N 4 "$1" | tr -d ' '
}

# Each thing to be resolved has a symbol at its place in .BTF_ids: the id of a
# function or type, or the number of members of a set.  All are zero in the
# object file and none is once it has been resolved.
unresolved_ids()
{
	local value name

	has_section "$1" .BTF_ids || return 0
	objcopy -O binary --only-section=.BTF_ids \
		--set-section-flags .BTF_ids=alloc "$1" "$work/ids"
	nm "$1" | awk '$3 ~ /^__BTF_ID__/ { print $1, $3 }' |
	while read -r value name; do
		[ "$(u32_at "$work/ids" "$((0x$value))")" != 0 ] || echo "$name"
	done
}

is_complete()
{
	has_section "$1" .BTF && [ -z "$(unresolved_ids "$1")" ]
}

#
# The types of the kernel
#

# The kernel proper lies compressed in vmlinuz, at a place its header names
# (Documentation/arch/x86/boot.rst, payload_offset).  All compressors but gzip
# have the size appended, which they would take for garbage.
extract_vmlinux()
{
	local image=$1 out=$2 sectors offset length magic tool

	[ "$(od -An -c -j 514 -N 4 "$image" | tr -d ' ')" = HdrS ] ||
		fail "$image is not an x86 kernel image"
	sectors=$(od -An -tu1 -j 497 -N 1 "$image" | tr -d ' ')
	offset=$(((sectors + 1) * 512 + $(u32_at "$image" 584)))
	length=$(u32_at "$image" 588)
	magic=$(od -An -tx1 -j "$offset" -N 4 "$image" | tr -d ' ')
	case $magic in
	1f8b*) tool=gzip length=$((length + 4)) ;;
	fd377a58) tool=xz ;;
	28b52ffd) tool=zstd ;;
	02214c18) tool=lz4 ;;
	*) fail "$image is compressed in a way not known here (it begins with $magic)" ;;
	esac
	command -v "$tool" >/dev/null ||
		fail "$tool is needed to unpack $image" \
		     "install it (package $tool, or xz-utils for xz), or set BTF_BASE"
	dd if="$image" iflag=skip_bytes,count_bytes skip="$offset" \
		count=$((length - 4)) bs=1M status=none |
		"$tool" -dc >"$out" ||
		fail "$tool could not unpack the kernel in $image"
}

find_base()
{
	local kdir=$1 release=$2

	if [ -n "${BTF_BASE:-}" ]; then
		[ -r "$BTF_BASE" ] || fail "BTF_BASE=$BTF_BASE cannot be read"
		base=$BTF_BASE
		return
	fi
	if [ -f "$kdir/vmlinux" ] && has_section "$kdir/vmlinux" .BTF; then
		base=$kdir/vmlinux
		return
	fi
	if [ "$(uname -r)" = "$release" ] && [ -r /sys/kernel/btf/vmlinux ]; then
		base=/sys/kernel/btf/vmlinux
		return
	fi
	# "../../.." of headers is the root of what they were unpacked into.
	for image in {"","$kdir/../../.."}{"/boot/vmlinuz-$release","/usr/lib/modules/$release/vmlinuz"}; do
		[ -r "$image" ] || continue
		extract_vmlinux "$image" "$work/vmlinux"
		has_section "$work/vmlinux" .BTF ||
			fail "the kernel in $image has no BTF (CONFIG_DEBUG_INFO_BTF)"
		base=$work/vmlinux
		return
	done
	fail "the types of kernel $release are not to be found" \
	     "no vmlinux with BTF in $kdir, no /boot/vmlinuz-$release, and this is not it that runs" \
	     "install linux-image-$release, or set BTF_BASE to its vmlinux"
}

#
# The tools
#

find_resolve_btfids()
{
	local kdir=$1 file

	if [ -n "${RESOLVE_BTFIDS:-}" ]; then
		[ -x "$RESOLVE_BTFIDS" ] ||
			fail "RESOLVE_BTFIDS=$RESOLVE_BTFIDS cannot be run"
		resolve=$RESOLVE_BTFIDS
		return
	fi
	resolve=$kdir/tools/bpf/resolve_btfids/resolve_btfids
	[ ! -x "$resolve" ] || return 0
	# What it does to a module has not changed: a later one will do.
	resolve=$(for file in "$kdir"/../../lib/linux-kbuild-*/tools/bpf/resolve_btfids/resolve_btfids \
			/usr/lib/linux-kbuild-*/tools/bpf/resolve_btfids/resolve_btfids \
			"${0%/*}"/../build/vm/*/root/usr/lib/linux-kbuild-*/tools/bpf/resolve_btfids/resolve_btfids; do
			[ ! -x "$file" ] || echo "$file"
		done | sort -V | tail -n 1)
	[ -z "$resolve" ] || return 0
	resolve=$(command -v resolve_btfids) ||
		fail "resolve_btfids is not to be found" \
		     "it is in Debian's packages linux-kbuild-6.12.* and later; to unpack one below build/, where it is found:" \
		     "tools/testing/vm/fetch 6.12" \
		     "or set RESOLVE_BTFIDS to one built from tools/bpf/resolve_btfids of a kernel source"
}

find_pahole()
{
	pahole=${PAHOLE:-pahole}
	command -v "$pahole" >/dev/null ||
		fail "$pahole is not to be found" "it is in the package pahole"
}

add_btf()
{
	local kdir release base image resolve pahole

	kdir=$(realpath "$1")
	grep -qs '^#define CONFIG_DEBUG_INFO_BTF_MODULES 1' \
		"$kdir/include/generated/autoconf.h" ||
		{ say "this kernel has no BTF for modules (CONFIG_DEBUG_INFO_BTF_MODULES):" \
		      "BPF programs cannot call the kfuncs of ${module##*/}"
		  return 0; }
	release=$(sed -n 's/.*UTS_RELEASE "\(.*\)"/\1/p' \
		"$kdir/include/generated/utsrelease.h" 2>/dev/null) ||
		fail "$kdir is not a configured kernel build directory"
	find_pahole
	find_resolve_btfids "$kdir"
	find_base "$kdir" "$release"

	cp "$module" "$work/module.ko"
	if ! has_section "$work/module.ko" .BTF; then
		has_section "$work/module.ko" .debug_info ||
			fail "${module##*/} has no debug information to make BTF from"
		# pahole runs llvm-objcopy unless told of another.
		LLVM_OBJCOPY=${OBJCOPY:-objcopy} "$pahole" -J --btf_gen_floats \
			--btf_base "$base" "$work/module.ko" ||
			fail "pahole could not make the BTF of ${module##*/}"
		has_section "$work/module.ko" .BTF ||
			fail "pahole made no BTF for ${module##*/}"
	fi
	"$resolve" -b "$base" "$work/module.ko" ||
		fail "$resolve failed on ${module##*/}"
	is_complete "$work/module.ko" ||
		fail "some BTF ids are still unresolved:" "$(unresolved_ids "$work/module.ko")"
	mv "$work/module.ko" "$module"
	echo "  BTF     $module, relative to $(realpath "${image:-$base}")"
}

mode=add
[ "${1:-}" != --check ] || { mode=check; shift; set -- - "$@"; }
[ $# -eq 2 ] || { usage >&2; exit 2; }
module=$2
[ -s "$module" ] || fail "there is no module $module"
for tool in readelf objcopy nm od; do
	command -v "$tool" >/dev/null ||
		fail "$tool is not to be found" "it is in the package binutils (od: coreutils)"
done

# Beside the module: the last step has to be a rename.
work=$(mktemp -d "$(dirname "$module")/.btf-XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

if ! is_complete "$module"; then
	[ $mode = add ] ||
		fail "no BTF in $module, or unresolved ids: $(unresolved_ids "$module" | tr '\n' ' ')"
	add_btf "$1"
fi
