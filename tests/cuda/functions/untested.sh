#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# untested.sh LIBRARY: the functions that LIBRARY offers for which the files of this folder have no row of success or none
# of an error, one a line. Fails where there is one, and where always.txt names a function that the library does not have.
here=$(dirname "$0")
cuda=$here/../../../cuda/cudart
rows=$(cat "$here"/*.cu "$here"/*.cpp | tr -s '\n\t ' '   ')
# NAME_ptsz and NAME_ptds are other names; __cuda.. are called by compilers, in each program.
offered=$(nm -D --defined-only "$1" | sed -n 's/.* T \(cuda[A-Za-z0-9_]*\)@.*/\1/p' | sed '/_pt[sd][sz]$/d; s/^cudaGetDeviceProperties_v2$/cudaGetDeviceProperties/' |
	sort -u | grep -vxFf <(sed -n 's/^X(\(.*\))/\1/p' "$cuda/missing.def"))
status=0
for f in $offered; do
	kind=$(awk -v f="$f" '$1 == f { print $2 }' "$here/always.txt")
	case $kind in
	ANSWER) grep -qF "$f(" <<<"$rows" || kind=none ;;
	SUCCESS) grep -qE "GIVES\(cudaSuccess, $f\(" <<<"$rows" || kind=none ;;
	ERROR) grep -qE "GIVES\(cudaError[A-Z][A-Za-z]+, $f\(" <<<"$rows" || kind=none ;;
	*)
		grep -qE "GIVES\(cudaSuccess, $f\(" <<<"$rows" || kind='no row of success'
		grep -qE "GIVES\((error|cudaError[A-Z][A-Za-z]+), $f\(" <<<"$rows" || kind='no row of an error'
		;;
	esac
	case $kind in no*) echo "$f: $kind"; status=1 ;; esac
done
while read -r f _; do
	case $f in '#') ;; *) grep -qx "$f" <<<"$offered" || { echo "$f: always.txt has it, the library not"; status=1; } ;; esac
done <"$here/always.txt"
exit $status
