#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The make targets that the command in $GPUEMU_VM_CMD needs in the VM: the programs, the PTX and
# the module always, a kernel test or an example's policy only if a word of the command is its name.
# Called by the Makefile for `make vm`.
set -fu
targets='programs ptx module-ko'
add() { case " $targets " in *" $1 "*) ;; *) targets="$targets $1" ;; esac; }
for word in $(printf '%s' "${GPUEMU_VM_CMD:-}" | tr ';|&()"'"'"'`' '        '); do
	name=${word##*/}
	if [ -e "tests/kernel/$name.c" ] || [ "$name" = fuzz ] || [ "$name" = soak ]; then
		add "build/tests/kernel/$name"
	elif [ "$name" = abi32 ]; then
		add build/tests/kernel/abi32/abi32
	fi
	case $word in *policy/*.so*) add policies ;; esac
done
echo "$targets"
