#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# run.sh DIR SECONDS [SEED [NEW [MORE...]]]: fuzzes the parser with DIR/fuzz_parser and
# DIR/ptx.dict; FUZZER=fuzz_fatbin: the reader of fatbins. The corpus in the tree and MORE are
# read, what is new goes to NEW (DIR/corpus; DIR/corpus-fatbin), what does harm to NEW/../crash-*,
# leak-*, timeout-*, oom-*.
set -u
cd "$(dirname "$0")/../.." || exit 1
fuzzer=${FUZZER:-fuzz_parser}
case $fuzzer in
fuzz_fatbin) corpus=-fatbin ;;
*) corpus= ;;
esac
dir=$1 seconds=$2 seed=${3:-} new=${4:-$1/corpus$corpus}
shift $(($# < 4 ? $# : 4))
[ -n "$seed" ] || seed=$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')
mkdir -p "$new"
echo "fuzz: seed $seed, $seconds s"
export ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1
export UBSAN_OPTIONS=print_stacktrace=1
exec "$dir/$fuzzer" -seed="$seed" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
	-max_len=16384 -dict="$dir/ptx.dict" -artifact_prefix="$new/../" -print_final_stats=1 \
	"$new" "tests/fuzz/corpus$corpus" tests/fuzz/crashes "$@"
