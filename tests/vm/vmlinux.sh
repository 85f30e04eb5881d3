#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Prints the kernel image to boot: the ELF file inside VMLINUZ, unpacked once.
# Letting the emulated machine unpack it costs over half of the boot. Where the
# compression is not known, VMLINUZ itself. Called by run.sh: vmlinux.sh VMLINUZ.
set -u
in=$1
out=build/vm/vmlinux-${in##*/vmlinuz-}
elf() { [ "$(head -c 4 "$1" | tr -d '\0')" = $'\177ELF' ]; }
if elf "$in"; then
	echo "$in"
	exit
fi
if [ "$out" -nt "$in" ]; then
	echo "$out"
	exit
fi

try() { # MAGIC (a PCRE) COMMAND...: unpacks from the magic's first place
	local at
	at=$(LC_ALL=C grep -m 1 -obUaP "$1" "$in" | head -n 1 | cut -d : -f 1)
	[ -n "$at" ] || return 1
	shift
	# What follows the stream makes the command complain; the result is judged.
	tail -c +$((at + 1)) "$in" | "$@" >"$out.$$" 2>/dev/null
	elf "$out.$$"
}

if try '\xfd7zXZ\x00' xz -dc || try '\x28\xb5\x2f\xfd' zstd -dc || try '\x1f\x8b\x08' gzip -dc; then
	touch "$out.$$"
	mv "$out.$$" "$out"
	echo "$out"
else
	rm -f "$out.$$"
	echo "$in"
fi
