#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Installs the Debian packages that are missing, and only those. Groups:
#   build  compilers, libraries and kernel headers: what `make` needs
#   vm     QEMU, busybox and the Debian kernel that the VM boots; the kernel's
#          .deb is unpacked into build/vm/kernel/, never installed
#   check  what `make check` needs on top
#   kernels  what scripts/kernels.sh needs on top for Linux 7
#   debug  what scripts/kernels.sh needs on top for the debug kernel
#   deb    what `make deb` needs on top
#   slurm  what tests/check.d/49-slurm.sh needs: a Slurm of one node
# Quiet when there is nothing to do. Called by the Makefile, scripts/demo.sh and
# tests/run.sh; DEPS_DRY=1 prints what is missing and installs nothing.
set -eu
cd "$(dirname "$0")/.."

BUILD='gcc make libc6-dev binutils clang-14 pkg-config libconfig-dev
libjson-c-dev libyajl-dev libseccomp-dev libssl-dev liburing-dev libnl-3-dev libnl-genl-3-dev
liblz4-dev libzstd-dev linux-headers-amd64'
VM='qemu-system-x86 busybox-static cpio kmod xz-utils'
CHECK='clang-16 cmake python3 python3-matplotlib libcmocka-dev libclang-rt-14-dev linux-source-6.1 xz-utils sparse shellcheck groff-base git valgrind gnuplot-nox linux-perf trace-cmd'
KERNELS='debootstrap'
DEB='debhelper dh-dkms dpkg-dev python3'
SLURM='slurmctld slurmd slurm-client munge'
DEBUG='linux-source-6.1 xz-utils flex bison bc libelf-dev libssl-dev'

say() { echo "deps: $*" >&2; }
die() { say "$*"; exit 1; }

newest_headers() {
	for d in /usr/src/linux-headers-6.1*-amd64; do
		[ -d "$d" ] && echo "${d#/usr/src/linux-headers-}"
	done | sort -V | tail -n 1
}

installed() {
	case $1 in
	linux-headers-amd64) [ -n "$(newest_headers)" ] && return ;;
	pkg-config) command -v pkg-config >/dev/null && return ;;
	esac
	case $status in *"
$1 installed"*) return 0 ;; esac
	return 1
}

apt() {
	DEBIAN_FRONTEND=noninteractive apt-get -qq -y \
		-o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=300 "$@" >>"$log" 2>&1
}

# Without package lists nothing is found; with old ones, what is found may have
# left the archive. So: try, refresh once, try again.
refreshed=
refresh() {
	[ -z "$refreshed" ] || return 1
	say 'refreshing the package lists'
	apt update || die "apt-get update failed: $(grep -m 1 '^[EW]:' "$log" || tail -n 1 "$log")"
	refreshed=1
}

install_missing() {
	missing=
	# shellcheck disable=SC2086
	status="
$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "$@" 2>/dev/null || :)"
	for p in "$@"; do
		installed "$p" || missing="$missing $p"
	done
	[ -n "$missing" ] || return 0
	if [ -n "${DEPS_DRY:-}" ]; then
		echo "missing:$missing"
		return 0
	fi
	command -v apt-get >/dev/null ||
		die "this is not Debian; please install the equivalent of:$missing"
	[ "$(id -u)" -eq 0 ] ||
		die "missing packages; as root: apt-get install --no-install-recommends$missing"
	say "installing$missing"
	# shellcheck disable=SC2086
	apt install --no-install-recommends $missing ||
		{ refresh && apt install --no-install-recommends $missing; } ||
		die "apt-get install failed: $(grep -m 1 '^E:' "$log" || tail -n 1 "$log") (log: $log)"
}

# The kernel that the VM boots is the one the headers belong to.
fetch_kernel() {
	kver=${KVER:-$(newest_headers)}
	dir=build/vm/kernel
	[ -n "$kver" ] || die 'no linux-headers-6.1*-amd64 under /usr/src'
	[ -e "$dir/boot/vmlinuz-$kver" ] && return
	if [ -n "${DEPS_DRY:-}" ]; then
		echo "missing: $dir/boot/vmlinuz-$kver"
		return 0
	fi
	command -v apt-get >/dev/null || die "no Debian kernel for the VM: unpack linux-image-$kver into $dir"
	mkdir -p "$dir"
	say "fetching linux-image-$kver for the VM (70 MB, not installed)"
	(cd "$dir" && apt_download "linux-image-$kver") || return 1
	dpkg -x "$dir"/linux-image-*.deb "$dir.new" || die "dpkg -x linux-image-$kver failed"
	rm -rf "$dir"
	mv "$dir.new" "$dir"
}

apt_download() {
	[ "$(id -u)" -ne 0 ] || opt='-o APT::Sandbox::User=root'
	# shellcheck disable=SC2086
	apt-get -qq ${opt:-} download "$1" >>"$log" 2>&1 && return
	if [ "$(id -u)" -eq 0 ]; then
		refresh
		# shellcheck disable=SC2086
		apt-get -qq ${opt:-} download "$1" >>"$log" 2>&1 && return
	fi
	return 1
}

mkdir -p build
log=$(pwd)/build/deps.log
# Not `:`, a special builtin: a redirection of it that fails ends dash, without a word.
{ true >>"$log"; } 2>/dev/null || die "cannot write $log: another user's clone? (run as root, or clone it yourself)"
[ $# -gt 0 ] || set -- build
for group; do
	# shellcheck disable=SC2086
	case $group in
	build) install_missing $BUILD ;;
	check) install_missing $CHECK ;;
	kernels) install_missing $KERNELS ;;
	debug) install_missing $DEBUG ;;
	deb) install_missing $DEB ;;
	slurm) install_missing $SLURM ;;
	vm)
		install_missing $VM
		if ! fetch_kernel; then
			# The archive has moved on: take its kernel and headers.
			say "linux-image-$kver has left the archive; installing the current headers"
			apt install --no-install-recommends linux-headers-amd64 ||
				die "apt-get install linux-headers-amd64 failed (log: $log)"
			fetch_kernel || die "cannot download linux-image-$kver (log: $log)"
		fi ;;
	*) die "unknown group '$group' (groups: build vm check kernels debug deb slurm)" ;;
	esac
done
