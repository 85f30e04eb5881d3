#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# kernels.sh VERSION: fetches what building and booting gpuemu.ko on a Debian
# kernel takes, once, into build/kernels/VERSION/, and prints where it is, as
# shell variables:
#   release  its `uname -r`
#   kernel   the folder whose boot/vmlinuz-* tests/vm/run.sh --kernel boots
#   kdir     the headers that modules are built with
#   root     the folder to chroot into for that; empty: the host builds
# VERSION:
#   6.1   this machine's headers and the kernel that scripts/deps.sh fetched
#   6.12  bookworm-backports, unpacked; the host's compiler builds
#   7     trixie-backports, the newest 7.x; its headers want trixie's compiler and
#         libc, so this is a small trixie made by debootstrap, which needs root
#   debug 6.1 of Debian's source, with scripts/debug-kernel.config; a quarter of an
#         hour on two CPUs, and again when that file changes
#   kcsan the same, with scripts/kcsan-kernel.config in the place of what looks for
#         mistakes there
# From DEBIAN_MIRROR, deb.debian.org if not set; the host's own list of sources is
# neither read nor changed. What is there is not fetched again; remove
# build/kernels/VERSION to get the archive's newest. Called by tests/lib/kernel.sh.
set -eu
cd "$(dirname "$0")/.."
version=${1:-}
top=$(pwd)/build/kernels
mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
log=$top/log

say() { echo "kernels: $*" >&2; }
die() { say "$*"; exit 1; }
offline() { die "Linux $version: cannot fetch $1 from $mirror (log: build/kernels/log)"; }
logged() { "$@" >>"$log" 2>&1; }

# newest SUITE: of the packages on stdin, the newest release that has headers and an
# image (signing one takes the archive a day). Flavours have one more dash.
newest() {
	release=$(sed -n "s/^linux-\(headers\|image\)-\($version\.[^-]*-amd64\)\$/\2/p" |
		sort -V | uniq -d | tail -n 1)
	[ -n "$release" ] || die "Linux $version: $1 has no kernel with headers"
}

show() { # KERNEL KDIR ROOT
	release=$(basename "$(find "$1/boot" -name 'vmlinuz-*' | sort -V | tail -n 1)")
	release=${release#vmlinuz-}
	case $release in
	"$version".* | *-"$version") ;;
	*) die "Linux $version: $1/boot has '$release'" ;;
	esac
	echo "release='$release' kernel='$1' kdir='$(echo "$2" | sed "s/@/$release/")' root='$3'"
}

# --- 6.12: packages of another suite, with apt's state in a folder of our own -----
apt=$top/apt
private() { # COMMAND ARG...
	command=$1
	shift
	set -- -o Dir::Etc::sourcelist="$apt/sources.list" -o Dir::Etc::sourceparts=/dev/null \
		-o Dir::Etc::preferencesparts=/dev/null -o Dir::State::lists="$apt/lists" \
		-o Dir::Cache="$apt/cache" -o Acquire::Languages=none "$@"
	[ "$(id -u)" -ne 0 ] || set -- -o APT::Sandbox::User=root "$@"
	"$command" -q "$@"
}

fetch_6_12() {
	command -v apt-get >/dev/null || die "this is not Debian: no apt-get to fetch Linux $version with"
	mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$new/debs"
	echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror bookworm-backports main" \
		>"$apt/sources.list"
	logged private apt-get -o APT::Update::Error-Mode=any update || offline 'the package lists of bookworm-backports'
	private apt-cache pkgnames linux- >"$new/names"
	newest bookworm-backports <"$new/names"
	common=${release%-amd64}
	say "fetching Linux $release: image and headers (120 MB, not installed)"
	(cd "$new/debs" && logged private apt-get download "linux-image-$release" "linux-headers-$release" \
		"linux-headers-$common-common" "linux-kbuild-$common") || offline "linux-image-$release and its headers"
	for deb in "$new"/debs/*.deb; do
		case $deb in
		*/linux-image-*) dpkg --fsys-tarfile "$deb" | tar -x -C "$new" ./boot ;;
		*) dpkg -x "$deb" "$new" ;;
		esac || die "cannot unpack $deb"
	done
	rm -rf "$new/debs"
	# The headers say where they would be if they were installed.
	sed -i 's|^include /usr/src/|include $(realpath $(dir $(lastword $(MAKEFILE_LIST)))..)/|' \
		"$new/usr/src/linux-headers-$release/Makefile"
}

# --- 7: a trixie of its own ---------------------------------------------------------
inside() { chroot "$new" env DEBIAN_FRONTEND=noninteractive LC_ALL=C "$@"; }

fetch_7() {
	scripts/deps.sh kernels || exit 1
	say "making a trixie to build for Linux $version in (debootstrap, 800 MB, two minutes)"
	logged debootstrap --variant=minbase --include=make,sparse,gcc-14 trixie "$new" "$mirror" ||
		offline 'a trixie (debootstrap)'
	echo "deb $mirror trixie-backports main" >"$new/etc/apt/sources.list.d/backports.list"
	logged inside apt-get -q -o APT::Update::Error-Mode=any update ||
		offline 'the package lists of trixie-backports'
	inside apt-cache pkgnames linux- >"$new/names"
	newest trixie-backports <"$new/names"
	say "fetching Linux $release: headers and image"
	logged inside apt-get -q -y --no-install-recommends install "linux-headers-$release" ||
		offline "linux-headers-$release"
	# From 7.2 on the image is in a package that linux-image-* only names.
	for package in linux-binary linux-image; do
		! inside apt-cache show "$package-$release" >/dev/null 2>&1 || break
	done
	logged inside sh -c "cd /tmp && apt-get -q -o APT::Sandbox::User=root download $package-$release" ||
		offline "$package-$release"
	mkdir -p "$new/tmp/image" "$new/boot"
	dpkg --fsys-tarfile "$new/tmp/$package"-*.deb |
		tar -x -C "$new/tmp/image" --wildcards './boot/vmlinuz-*' './usr/lib/modules/*/vmlinuz' 2>>"$log" || :
	image=$(find "$new/tmp/image" -type f)
	[ -n "$image" ] || die "Linux $version: $package-$release has no vmlinuz (log: build/kernels/log)"
	mv "$image" "$new/boot/vmlinuz-$release"
	rm -rf "$new/tmp/image" "$new/tmp/$package"-*.deb
	# For the tests that swap: a disk in memory.
	logged inside sh -c "cd /tmp && apt-get -q -o APT::Sandbox::User=root download linux-modules-$release" ||
		offline "linux-modules-$release"
	dpkg --fsys-tarfile "$new/tmp/linux-modules"-*.deb |
		tar -xO --wildcards './usr/lib/modules/*/kernel/drivers/block/brd.ko.xz' 2>>"$log" |
		xz -d >"$new/boot/brd.ko" || die "Linux $version: linux-modules-$release has no brd.ko.xz (log: build/kernels/log)"
	rm -f "$new/tmp/linux-modules"-*.deb
	logged inside apt-get clean
	# Debian leaves out the script that asks whether sparse works.
	checker=$new/usr/lib/linux-kbuild-${release%-amd64}/scripts/checker-valid.sh
	if [ ! -e "$checker" ]; then
		printf '#!/bin/sh\necho 1\n' >"$checker"
		chmod 755 "$checker"
	fi
}

# --- debug, kcsan: built here -----------------------------------------------------------
tar=/usr/src/linux-source-6.1.tar.xz

config() { # the configuration that goes on top of nothing
	if [ "$version" = kcsan ]; then
		sed '/^CONFIG_LOCALVERSION=/d; /^# --- what looks for mistakes/,$d' scripts/debug-kernel.config
	fi
	cat "scripts/$version-kernel.config"
}

# build_kernel NAME=VALUE...: what of the kernel is not instrumented.
build_kernel() {
	scripts/deps.sh debug || exit 1
	tree=$new/usr/src/tree
	mkdir -p "$tree" "$new/boot"
	config >"$new/config"
	say "unpacking $tar"
	tar -C "$tree" --strip-components=1 -xf "$tar" || die "cannot unpack $tar"
	# allnoconfig leaves out what another option forbids, without a word.
	logged make -C "$tree" KCONFIG_ALLCONFIG="$new/config" allnoconfig ||
		die "the $version kernel: its configuration failed (log: build/kernels/log)"
	left=$(grep '^CONFIG_' "$new/config" | grep -vxF -f "$tree/.config" | tr '\n' ' ')
	[ -z "$left" ] || die "the $version kernel: these lines of its configuration have no effect: $left"
	say "building the $version kernel (a quarter of an hour)"
	logged nice make -C "$tree" -j"$(nproc)" "$@" vmlinux modules ||
		die "the $version kernel does not build (log: build/kernels/log)"
	release=$(make -s -C "$tree" kernelrelease)
	strip -o "$new/boot/vmlinuz-$release" "$tree/vmlinux"
	# What building a module takes stays, of two gigabytes a tenth.
	(cd "$tree" && rm -rf Documentation LICENSES block certs crypto drivers fs init io_uring \
		ipc kernel lib mm net rust samples security sound usr virt vmlinux* .tmp* tools/testing)
	find "$tree" '(' -name '*.o' -o -name '*.a' -o -name '.*.cmd' ')' ! -path '*/scripts/*' -delete
	mv "$tree" "$new/usr/src/linux-headers-$release"
}

# The way in from QEMU runs before KASAN has its shadow memory.
fetch_debug() { build_kernel KASAN_SANITIZE_enlighten.o=n KASAN_SANITIZE_string.o=n; }
fetch_kcsan() { build_kernel KCSAN_SANITIZE=n; }

case $version in
6.1)
	KVER='' scripts/deps.sh build vm || exit 1
	show build/vm/kernel /lib/modules/@/build ''
	exit ;;
6.12 | 7 | debug | kcsan) ;;
*)
	echo 'usage: scripts/kernels.sh 6.1|6.12|7|debug|kcsan' >&2
	exit 2 ;;
esac

[ "$version" != 7 ] || [ "$(id -u)" -eq 0 ] ||
	die "Linux $version is built in a chroot, which debootstrap makes: run this as root"
mkdir -p "$top"
exec 8>"$top/lock"
flock 8
new=$top/$version.new
case $version in
debug | kcsan) config | cmp -s - "$top/$version/config" || rm -rf "${top:?}/$version" ;;
esac
if [ ! -d "$top/$version" ]; then
	: >"$log"
	rm -rf "$new"
	mkdir "$new"
	"fetch_$(echo "$version" | tr . _)"
	rm -f "$new/names"
	mv "$new" "$top/$version"
fi
case $version in
6.12 | debug | kcsan) show "build/kernels/$version" "$top/$version/usr/src/linux-headers-@" '' ;;
7) show "build/kernels/$version" /usr/src/linux-headers-@ "$top/$version" ;;
esac
