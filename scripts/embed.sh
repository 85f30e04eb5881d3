#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Writes an assembler file that embeds FILE as SYMBOL .. SYMBOL_end, with a NUL
# after it so that it can be read as a string. Called by scripts/mk/client.mk.
set -eu
[ $# -eq 2 ] || { echo "usage: embed.sh SYMBOL FILE" >&2; exit 2; }
cat <<EOF
	.section .rodata, "a", @progbits
	.global $1
	.global $1_end
	.balign 16
$1:
	.incbin "$2"
$1_end:
	.byte 0
	.section .note.GNU-stack, "", @progbits
EOF
