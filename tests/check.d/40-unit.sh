# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# timeout: 3600
#
# The unit tests of the rooms, the library and the tool, under ASan and UBSan.
. tests/lib/tap.sh

make -k -j"$(nproc)" unit ptx >build/check/unit.log 2>&1 || tail -n 40 build/check/unit.log >&2
export ASAN_OPTIONS=detect_leaks=1:abort_on_error=0 UBSAN_OPTIONS=print_stacktrace=1
export GPUEMU_BACKEND=sim
for src in tests/unit/test_*.c; do
	name=$(basename "$src" .c)
	if [ ! -e "$src" ]; then
		continue
	elif [ ! -x "build/tests/unit/$name" ] || [ "$src" -nt "build/tests/unit/$name" ]; then
		tap_not_ok "$name: builds" "see build/check/unit.log"
	else
		tap_program "$name" 300 "build/tests/unit/$name"
	fi
done
# Those that are built with the release's flags as well.
for name in $(make -s release-unit-names); do
	if [ "tests/unit/${name%-release}.c" -nt "build/tests/unit/$name" ]; then
		tap_not_ok "$name: builds" "see build/check/unit.log"
	else
		tap_program "$name" 300 "build/tests/unit/$name"
	fi
done
tap_done
