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
# What the rows have: good and bad are functions with a row of such a result, own those whose row has the test's own `error`.
declare -A good bad own called
while read -r result f; do
	case $result in
	cudaSuccess) good[$f]=y ;;
	error) own[$f]=y ;;
	*) bad[$f]=y ;;
	esac
done < <(grep -oE 'GIVES\((cudaSuccess|error|cudaError[A-Z][A-Za-z]+), [A-Za-z0-9_]+\(' <<<"$rows" | sed 's/GIVES(//; s/,//; s/($//')
while read -r f; do
	called[${f%(}]=y
done < <(grep -oE 'cuda[A-Za-z0-9_]+\(' <<<"$rows" | sort -u)
declare -A always
while read -r f kind _; do
	[ "$f" = '#' ] || [ -z "$f" ] || always[$f]=$kind
done <"$here/always.txt"
status=0
for f in $offered; do
	kind=${always[$f]:-}
	case $kind in
	ANSWER) [ -n "${called[$f]:-}" ] || kind=none ;;
	SUCCESS) [ -n "${good[$f]:-}" ] || kind=none ;;
	ERROR) [ -n "${bad[$f]:-}" ] || kind=none ;;
	*)
		[ -n "${good[$f]:-}" ] || kind='no row of success'
		[ -n "${own[$f]:-}${bad[$f]:-}" ] || kind='no row of an error'
		;;
	esac
	case $kind in no*) echo "$f: $kind"; status=1 ;; esac
done
while read -r f _; do
	case $f in '#') ;; *) grep -qx "$f" <<<"$offered" || { echo "$f: always.txt has it, the library not"; status=1; } ;; esac
done <"$here/always.txt"
exit $status
