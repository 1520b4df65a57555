#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Install the Debian packages that building and testing need:
#
#	tools/setup.sh [GROUP]...
#
#	build	library, tools, BPF objects, module
#	check	static checks
#	vm	guests under QEMU, and what the tests run in them
#	debug	what the debug kernels are built with, besides build and vm
#	bench	what make bench compares with, besides build and vm
#	all	the first three, as without a GROUP
#
# Asks apt for nothing if all is there.  The apt sources are not touched, and
# no kernel is installed: tools/testing/vm/fetch unpacks those it needs.

set -euo pipefail

# pahole, lz4, zstd, xz: kmod/btf.sh.  binutils: objcopy, readelf.
build=(
	make gcc g++ libc6-dev binutils pkg-config
	clang llvm bpftool libbpf-dev libelf-dev zlib1g-dev libzstd-dev libmicrohttpd-dev libinih-dev libdw-dev
	protobuf-c-compiler libprotobuf-c-dev libcurl4-openssl-dev
	pahole kmod lz4 zstd xz-utils
)

# perl: checkpatch of the kernel.  mandoc, docutils: man pages and documents.
# libclang-rt: the fuzzer.
check=(
	shellcheck sparse clang-tidy perl mandoc python3-docutils valgrind
	libclang-rt-dev
)

# gcc-12, libelf, libssl: what the headers of the kernels for Debian 12 ask for.
vm=(
	qemu-system-x86 busybox-static cpio kmod lz4 zstd xz-utils procps
	gcc-12 libelf-dev libssl-dev pahole
	fio e2fsprogs xfsprogs dmsetup jq gojq blktrace curl bpftool
	protobuf-compiler
)

debug=(
	flex bison bc libelf-dev libssl-dev pahole lz4 kmod cpio
)

# biosnoop, biolatency.
bench=(
	libbpf-tools
)

die()
{
	echo "setup.sh: $*" >&2
	exit 1
}

wanted=()
[ $# -gt 0 ] || set -- all
for group; do
	case $group in
	-h | --help) sed -n '4,/^set /s/^#[ \t]\{0,1\}//p' "$0"; exit 0 ;;
	build) wanted+=("${build[@]}") ;;
	check) wanted+=("${check[@]}") ;;
	vm) wanted+=("${vm[@]}") ;;
	debug) wanted+=("${debug[@]}") ;;
	bench) wanted+=("${bench[@]}") ;;
	all) wanted+=("${build[@]}" "${check[@]}" "${vm[@]}") ;;
	*) sed -n 's/^#\t\{0,1\}//p' "$0" | sed -n '3,/^$/p; /^build/,/^all/p' >&2
	   die "unknown group '$group'" ;;
	esac
done

command -v dpkg-query >/dev/null ||
	die "this is not Debian; it would want the like of: ${wanted[*]}"

# Prints those of its arguments that are not installed.
missing()
{
	local installed

	installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "$@" 2>/dev/null |
		sed -n 's/^installed //p') || true
	printf '%s\n' "$@" | sort -u | grep -vxF -- "$installed" || true
}

mapfile -t packages < <(missing "${wanted[@]}")
[ ${#packages[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
	command -v sudo >/dev/null ||
		die "run this as root, or install: ${packages[*]}"
	as_root=(sudo)
fi

apt()
{
	"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q "$@"
}

install()
{
	apt install -y --no-install-recommends "${packages[@]}"
}

# The lists may never have been read, or be older than the archive.
known=true
for package in "${packages[@]}"; do
	[ -n "$(apt-cache show --no-all-versions "$package" 2>/dev/null)" ] || known=false
done
if ! $known || ! install; then
	apt update || die "apt-get update failed"
	for package in "${packages[@]}"; do
		[ -n "$(apt-cache show --no-all-versions "$package" 2>/dev/null)" ] ||
			die "the apt sources of this machine have no package $package"
	done
	install || die "apt-get could not install: ${packages[*]}"
fi

mapfile -t packages < <(missing "${wanted[@]}")
[ ${#packages[@]} -eq 0 ] || die "still missing: ${packages[*]}"
