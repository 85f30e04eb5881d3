# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# timeout: 1800
#
# The PTX texts that once did harm, then two minutes of new ones: no crash, no leak,
# nothing undefined, no text that takes 10 s or 2 GiB. The seed is in the output. Then fatbins,
# for half a minute.
. tests/lib/tap.sh

work=build/check/fuzz
rm -rf $work
mkdir -p $work/new
if ! make -j"$(nproc)" fuzz-parser-build isa >$work/build.log 2>&1; then
	tap_not_ok 'the fuzzer builds' "$(tail -n 30 $work/build.log)"
	tap_done
	exit 1
fi
fuzzer=$PWD/build/fuzz/fuzz_parser
mkdir -p $work/seeds
tap_check 'texts to begin with' build/tests/isa/isa seeds tests/isa/legal.txt $work/seeds

export ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1
for text in tests/fuzz/crashes/* tests/fuzz/corpus/*; do
	[ -e "$text" ] || continue
	tap_check "again: $(basename "$text")" "$fuzzer" -timeout=10 -rss_limit_mb=2048 "$text"
done

# The harness sees what it must: a text that makes it abort, leak or hang is found.
for harm in abort leak hang; do
	if FUZZ_HARM=$harm "$fuzzer" -timeout=2 tests/fuzz/corpus/tiny.ptx >$work/harm 2>&1; then
		tap_not_ok "the fuzzer finds: $harm" "$(tail -n 5 $work/harm)"
	else
		tap_ok "the fuzzer finds: $harm"
	fi
done

tests/fuzz/run.sh build/fuzz 120 "" "$PWD/$work/new" "$PWD/$work/seeds" >$work/log 2>&1
status=$?
head -n 1 $work/log | sed 's/^/# /'
runs=$(sed -n 's/^stat::number_of_executed_units: *//p' $work/log)
coverage=$(sed -n 's/.*DONE *cov: \([0-9]*\).*/\1/p' $work/log)
echo "# ${runs:-0} texts, ${coverage:-0} edges"
if [ $status -eq 0 ]; then
	tap_ok 'two minutes of texts do no harm'
else
	tap_not_ok 'two minutes of texts do no harm' "status $status: $(grep -E 'ERROR|error:|unsound|SUMMARY|Test unit|ALARM' $work/log)
$(grep -m 12 -E '^ *#[0-9]+ 0x' $work/log)"
fi
tap_check 'they were many' test "${runs:-0}" -gt 20000
tap_check 'they went deep' test "${coverage:-0}" -gt 5000

# Fatbins: what libcudart reads of a program, and the link of the texts in them.
if make fuzz-fatbin-build >$work/build-fatbin.log 2>&1; then
	tap_ok 'the fuzzer of fatbins builds'
else
	tap_not_ok 'the fuzzer of fatbins builds' "$(tail -n 30 $work/build-fatbin.log)"
fi
for file in tests/fuzz/corpus-fatbin/*; do
	tap_check "again: $(basename "$file")" "$PWD/build/fuzz/fuzz_fatbin" -timeout=10 -rss_limit_mb=2048 "$file"
done
tap_check 'the fuzzer of fatbins finds: abort' sh -c \
	"! FUZZ_HARM=abort build/fuzz/fuzz_fatbin tests/fuzz/corpus-fatbin/plain >$work/harm 2>&1 && grep -q 'deadly signal' $work/harm"
mkdir -p $work/fatbin/new
FUZZER=fuzz_fatbin tests/fuzz/run.sh build/fuzz 30 "" "$PWD/$work/fatbin/new" >$work/log-fatbin 2>&1
status=$?
head -n 1 $work/log-fatbin | sed 's/^/# /'
runs=$(sed -n 's/^stat::number_of_executed_units: *//p' $work/log-fatbin)
coverage=$(sed -n 's/.*DONE *cov: \([0-9]*\).*/\1/p' $work/log-fatbin)
echo "# ${runs:-0} fatbins, ${coverage:-0} edges"
tap_check 'half a minute of fatbins does no harm' sh -c "[ $status -eq 0 ] || { tail -n 40 $work/log-fatbin; exit 1; }"
tap_check 'they were many, and went deep' test "${runs:-0}" -gt 2000 -a "${coverage:-0}" -gt 230
tap_done
