#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The eight programs of Zorua's table 3 with small inputs, at each specification of the study zorua and
# under each of its mechanisms: cta, wlm, zorua. A run verifies its results, so all three have the
# same. Prints the runs that fail, then a count.
#
# specifications.sh [--quick]: the specifications of the study with --quick. GPUEMU=FILE is the tool.
gpuemu=${GPUEMU:-build/bin/gpuemu}
work=build/check/specifications
mkdir -p $work

# The study's inputs become small ones. What a specification is stays: block, registers, scratchpad.
small() {
	sed -E -e 's/ bodies=[^ ]*/ bodies=200/; s/ width=3360 height=[^ ]*/ width=3360 height=8/' \
		-e '/ mst /s/ nodes=[^ ]*/ nodes=300/; / sssp /s/ nodes=[^ ]*/ nodes=300/' \
		-e '/ reduce /s/ n=[^ ]*/ n=20K/; / reduce | scalarprod /s/ ctas=[^ ]*/ ctas=8/' \
		-e '/ nqueens /s/ n=[^ ]* rows=[^ ]*/ n=8 rows=5/; / scan /s/ n=[^ ]*/ n=9K/' \
		-e '/ scalarprod /s/ pairs=[^ ]* n=[^ ]*/ pairs=8 n=2K/' \
		-e 's/--set gpu.sms=[^ ]*/--set gpu.sms=2/' | awk '!seen[$0]++'
}

"$gpuemu" study zorua --only best,slots "$@" --dry-run >$work/commands || exit 1
small <$work/commands >$work/small
n=$(wc -l <$work/small)
xargs -d '\n' -P "$(nproc)" -I{} sh -c 'out=$("$0" ${1#gpuemu } 2>&1) || echo "$1: $out"' \
	"$gpuemu" {} <$work/small >$work/failed
cat $work/failed
echo "$n runs, $(wc -l <$work/failed) failed"
[ "$n" -gt 0 ] && [ ! -s $work/failed ]
