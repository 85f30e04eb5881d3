#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Builds gpuemu.ko from nothing with gcc W=1 and sparse on every file; a
# warning is a failure. check-module.sh DIR KDIR [ROOT]: in DIR, with the
# headers in KDIR; with ROOT (root only) both gcc and KDIR are those of the
# Debian in there, and DIR gets the module and the log. FAULT_INJECTION=n: as it is installed.
set -eu
cd "$(dirname "$0")/.."
dir=$1 kdir=$2 root=${3:-}
rm -rf "$dir"
log=$dir/log

# What sparse 0.6.4 does not know of 7.x: a type-of without qualifiers, and that
# the length of a literal is a constant (MODULE_INFO() asserts it).
CF="-D__typeof_unqual__=__typeof__ '-D__builtin_strlen(s)=(sizeof(s)-1)'"
build() { # M COMMAND...
	m=$1
	shift
	"$@" make -s -C "$kdir" M="$m" W=1 C=2 GPUEMU_FAULT_INJECTION="${FAULT_INJECTION-y}" ${root:+"CF=$CF"} CONFIG_DEBUG_INFO_BTF_MODULES= modules
}

status=0
if [ -z "$root" ]; then
	scripts/link-tree.sh "$dir" Kbuild kmod include
	build "$(cd "$dir" && pwd)" >"$log" 2>&1 || status=$?
else
	[ "$(id -u)" -eq 0 ] || { echo "check-module: building in $root takes root"; exit 1; }
	mkdir -p "$dir"
	rm -rf "$root/gpuemu"
	mkdir "$root/gpuemu"
	cp -R Kbuild kmod include "$root/gpuemu"
	# objtool reads /proc; the mount goes with its namespace.
	build /gpuemu unshare -m sh -c 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"' "$root" \
		>"$log" 2>&1 || status=$?
	[ ! -e "$root/gpuemu/gpuemu.ko" ] || cp "$root/gpuemu/gpuemu.ko" "$dir"
fi
# sparse repeats what the kernel's own headers make it say; only ours counts.
if [ $status -ne 0 ] || grep -qvE '^[^ ]*/linux-headers-[^ ]*:[0-9]+:|: note: in included file' "$log"; then
	cat "$log"
	exit 1
fi
[ -e "$dir/gpuemu.ko" ] || { echo "check-module: no $dir/gpuemu.ko"; exit 1; }
