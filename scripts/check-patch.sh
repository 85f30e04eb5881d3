#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The kernel's own style checker on the module and its ABI; prints a line for
# each warning and exits 1 if there is one. The checker is that of Debian's
# linux-source, taken out once, into build/checkpatch/.
set -eu
cd "$(dirname "$0")/.."
tar=/usr/src/linux-source-6.1.tar.xz
dir=build/checkpatch
if [ ! -e $dir/done ]; then
	[ -e $tar ] || { echo "check-patch: no $tar; run scripts/deps.sh check"; exit 1; }
	rm -rf $dir
	mkdir -p $dir
	sub=linux-source-6.1/scripts
	tar -C $dir --strip-components=2 --occurrence=1 -xf $tar \
		$sub/checkpatch.pl $sub/spelling.txt $sub/const_structs.checkpatch
	touch $dir/done
fi

# COMPLEX_MACRO, TRAILING_SEMICOLON: rows of .def tables are no expressions.
# NEW_TYPEDEFS: an array of bits has no other name.
ignore=COMPLEX_MACRO,TRAILING_SEMICOLON,NEW_TYPEDEFS
run() { # IGNORED FILE...
	types=$1
	shift
	perl $dir/checkpatch.pl --no-tree --terse --no-summary --quiet --show-types --ignore "$types" -f "$@" || failed=1
}

failed=
# shellcheck disable=SC2046
run $ignore $(find kmod include/uapi -name '*.[ch]' ! -path 'kmod/compat/*' | sort)
# The one place where kernels may differ.
# shellcheck disable=SC2046
run $ignore,LINUX_VERSION_CODE,CONSTANT_COMPARISON $(find kmod/compat -name '*.h' | sort)
[ -z "$failed" ]
