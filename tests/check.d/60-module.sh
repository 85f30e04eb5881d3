# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# gpuemu.ko builds without a word from gcc W=1 and sparse; checkpatch has none either. Where
# kbuild works is a tree of links to the source, wherever the source has gone.
. tests/lib/tap.sh

# links TREE: where the links of its build lead, after scripts/link-tree.sh has run there.
links() {
	(cd "$1" && "$script" build Kbuild kmod && find build -type l -printf '%l\n' | sort)
}
script=$PWD/scripts/link-tree.sh
work=$PWD/build/check/links
rm -rf "$work"
mkdir -p "$work/old/kmod/cmd"
touch "$work/old/Kbuild" "$work/old/kmod/cmd/"{a,b}.c
tap_check 'links: to each file' test "$(links "$work/old")" = \
	"$(printf '%s\n' "$work/old/Kbuild" "$work/old/kmod/cmd/"{a,b}.c)"
cp -R "$work/old" "$work/copy"
rm "$work/copy/kmod/cmd/b.c"
tap_check 'links: a copy leads to its own files, and to no other' test "$(links "$work/copy")" = \
	"$(printf '%s\n' "$work/copy/Kbuild" "$work/copy/kmod/cmd/a.c")"
mv "$work/old" "$work/moved"
tap_check 'links: a moved tree, too' test "$(links "$work/moved")" = \
	"$(printf '%s\n' "$work/moved/Kbuild" "$work/moved/kmod/cmd/"{a,b}.c)"
rm "$work/moved/kmod/cmd/b.c"
tap_check 'links: not to what has gone' test "$(links "$work/moved")" = \
	"$(printf '%s\n' "$work/moved/Kbuild" "$work/moved/kmod/cmd/a.c")"

kver=$(basename build/vm/kernel/boot/vmlinuz-* | sed 's/^vmlinuz-//')
tap_check 'gcc W=1 and sparse are silent' scripts/check-module.sh "build/check/kmod/$kver" "/lib/modules/$kver/build"
hooks() { nm "$1" | grep -c 'gpuemu_inject'; }
tap_check 'the module that tests load has the hooks for failures' test "$(hooks "build/check/kmod/$kver/gpuemu.ko")" -gt 0
tap_check 'it builds as it is installed, too' env FAULT_INJECTION=n scripts/check-module.sh "build/check/kmod-installed/$kver" \
	"/lib/modules/$kver/build"
tap_check 'and has no hook for failures then' test "$(hooks "build/check/kmod-installed/$kver/gpuemu.ko")" -eq 0
tap_check 'checkpatch is silent' scripts/check-patch.sh
tap_done
