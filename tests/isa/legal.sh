#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# legal.sh ISA: writes tests/isa/legal.txt anew with the program ISA and NVIDIA's
# ptxas (PTXAS, or the one in the path), which is not needed for anything else. A
# form is PTX when ptxas takes it for one of the targets below.
set -eu
cd "$(dirname "$0")/../.."
isa=$1 ptxas=${PTXAS:-$(command -v ptxas || echo /usr/local/cuda/bin/ptxas)}
work=build/tests/legal
mkdir -p $work
"$isa" ptx >$work/forms.ptx

# Reads VERSION TARGET ARCH; writes the numbers of the forms that are taken. What
# has an error is blanked and the rest tried again, until nothing has one.
taken() {
	printf '.version %s\n.target %s\n.address_size 64\n' "$1" "$2" | cat - $work/forms.ptx >$work/now.ptx
	first=$(($(grep -n '^// forms$' $work/now.ptx | cut -d: -f1) + 1))
	: >$work/bad
	while :; do
		"$ptxas" -arch "$3" $work/now.ptx -o /dev/null >$work/log 2>&1 || :
		sed -n 's/.*line \([0-9]*\); \(error\|fatal\).*/\1/p' $work/log | sort -un >$work/lines
		[ -s $work/lines ] || break
		cat $work/lines >>$work/bad
		awk 'NR == FNR { bad[$1]; next } { print FNR in bad ? "" : $0 }' $work/lines $work/now.ptx >$work/next.ptx
		mv $work/next.ptx $work/now.ptx
	done
	awk -v first="$first" 'NR == FNR { bad[$1]; next } /^\/\/ end/ { exit }
		FNR >= first && !(FNR in bad) { print FNR - first }' $work/bad $work/now.ptx
}

version=$("$ptxas" --version | sed -n 's/.*release \([0-9.]*\),.*/\1/p')
{
	taken 6.3 sm_60 sm_75
	for target in sm_75 sm_90a sm_100a sm_103a sm_120a; do
		taken 9.0 $target $target
	done
} | sort -un | "$isa" legal >$work/legal
{
	echo '# SPDX-License-Identifier: GPL-2.0'
	echo '#'
	echo "# The forms of forms.def that are PTX: what ptxas $version takes for one of sm_60 (PTX 6.3),"
	echo '# sm_75, sm_90a, sm_100a, sm_103a and sm_120a (PTX 9.0). Written by `make isa-legal`.'
	cat $work/legal
} >tests/isa/legal.txt
