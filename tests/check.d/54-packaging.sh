# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What debian/ says holds for the tree as it is now. No package is built here:
# tests/check.d/57-deb.sh builds and installs them (KERNELS=deb make check).
. tests/lib/tap.sh

root=$PWD/build/check/packaging
rm -rf "$root"
tap_check 'make install' make install DESTDIR="$root"

# As debian/rules lays it out: below /usr, with a folder of the architecture.
files=$(cd "$root" && find . ! -type d -printf '%P\n' | sed -e 's,^usr/local/lib/python[0-9.]*/,usr/lib/python3/,' \
	-e 's,^usr/local/lib/,usr/lib/x86_64-linux-gnu/,' -e 's,^usr/local/bin/gpuemud$,usr/sbin/gpuemud,' -e 's,^usr/local/,usr/,')
patterns=$(grep -h '^usr/' debian/*.install)
# of FILE: how many patterns take it, itself or a folder that it is in.
of() {
	local n=0 p
	for p in $patterns; do
		# shellcheck disable=SC2254
		case $1 in $p | $p/*) n=$((n + 1)) ;; esac
	done
	echo $n
}
wrong=
set -f
for f in $files; do
	n=$(of "$f")
	[ "$n" = 1 ] || wrong="$wrong
$f: $n packages"
done
set +f
if [ -n "$files" ] && [ -z "$wrong" ]; then
	tap_ok 'each installed file goes to one package'
else
	tap_not_ok 'each installed file goes to one package' "$wrong"
fi
for p in $(sed -n 's/^Package: //p' debian/control); do
	tap_check "$p has files" test -s "debian/$p.install"
done

for f in debian/*.postinst debian/*.prerm debian/*.postrm; do
	tap_check "shellcheck ${f#debian/}" shellcheck "$f"
done
version=$(sed -n '1s/.*(\(.*\)).*/\1/p' debian/changelog)
tap_check 'the version is the program'"'"'s' test "gpuemud $version" = "$(build/bin/gpuemud --version)"
tap_check 'and that of gpuemu.pc' grep -qx "Version: $version" libgpuemu/gpuemu.pc.in
for o in $(grep -o -e '--[a-z-]*' debian/gpuemu.gpuemud.default); do
	tap_check "gpuemud knows $o" sh -c "build/bin/gpuemud --help | grep -q -e '$o'"
done
for p in $(sed -n 's/^#options gpuemu //p' debian/modprobe.d/gpuemu.conf); do
	tap_check "the module has ${p%=*}" grep -qw "${p%=*}" kmod/params.def
done
# Calls that the daemon makes and systemd's group does not have are named in the unit.
for c in io_uring_setup io_uring_enter io_uring_register seccomp; do
	tap_check "the unit allows $c" grep -q "^SystemCallFilter=.* $c\b" debian/gpuemu.gpuemud.service
done
# A daemon that lost the device ends with status 1 (libgpuemu_engine_death.c, stopped_loses_the_device).
tap_check 'systemd starts a daemon again that lost the device' \
	grep -qx 'Restart=on-failure' debian/gpuemu.gpuemud.service
tap_done
