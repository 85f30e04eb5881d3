# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# gpuemu ptx: kernels launched from the command line, on the timing model and
# without time, their outputs compared byte for byte; what --info says of PTX
# that can be counted by hand; what is refused; and the README's example.
. tests/lib/tap.sh

work=build/check/ptx
rm -rf $work
mkdir -p $work
make -j"$(nproc)" programs ptx >$work/build.log 2>&1 ||
	tap_not_ok 'the programs build' "$(tail -n 20 $work/build.log)"
gpuemu=build/bin/gpuemu
unset GPUEMU_DATADIR GPUEMU_VIRT
export GPUEMU_BACKEND=sim
. tests/lib/cli.sh

compile() {
	"${CLANG:-clang-14}" -x cuda --cuda-device-only -nocudainc -nocudalib --cuda-path=/nonexistent \
		--cuda-gpu-arch=sm_35 -O2 -S -DGPUEMU_DEVICE -Iworkloads -Wall -Werror "$1" -o "$2"
}
tap_check 'the kernels compile' compile tests/cli/device.cu $work/device.ptx
device=$work/device.ptx
count=tests/cli/count.ptx
index=(ptx "$count" --kernel index)
# words N...: little-endian 32-bit words.
words() {
	for word; do
		printf '%b' "$(printf '\\x%02x\\x%02x\\x%02x\\x%02x' $((word & 255)) $((word >> 8 & 255)) $((word >> 16 & 255)) $((word >> 24)))"
	done
}
same() { # NAME FILE EXPECTED
	tap_check "$1" cmp "$2" "$3"
}

# --- misuse and failure ----------------------------------------------------------
refused 2 'no file: one PTX file' ptx
refused 2 'b.ptx: one PTX file' ptx a.ptx b.ptx
refused 2 'no --grid X[,Y[,Z]]' ptx $count
refused 2 'no --block X[,Y[,Z]]' ptx $count --grid 1
refused 2 '--grid 0: not X[,Y[,Z]]' ptx $count --grid 0
refused 2 '--grid 1,2,3,4: not X[,Y[,Z]]' ptx $count --grid 1,2,3,4
refused 2 '--block 1,: not X[,Y[,Z]]' ptx $count --grid 1 --block 1,
refused 2 '--smem -1: not a number' ptx $count --smem -1
refused 2 '--repeat 0: not a number' ptx $count --repeat 0
refused 2 '--info=all: there is --info and --info=live' ptx $count --info=all
refused 2 'occupancy.regs' ptx $count --regs many
refused 2 'compiler.maxregs' ptx $count --maxregs 256
refused 2 'no-such-gpu' ptx $count --info --config no-such-gpu
refused 1 "cannot read $work/no.ptx" ptx $work/no.ptx --info
refused 1 "cannot read $work/no.ptx" ptx $work/no.ptx
refused 2 "has 2 kernels, --kernel NAME says which: index, nothing" ptx $count --grid 1 --block 1
refused 2 "has no kernel 'nope'; there are: index, nothing" ptx $count --kernel nope --grid 1 --block 1
refused 2 "has no kernel 'nope'; there are: index, nothing" ptx $count --kernel nope --info
refused 2 "kernel 'index' has 2 parameters of 8 and 4 bytes, and 1 --arg is given" "${index[@]}" --grid 1 --block 1 --arg zero:4
refused 2 "--arg 2 'u64:5' has 8 bytes, parameter 2 of kernel 'index' has 4" "${index[@]}" --grid 1 --block 1 --arg zero:4 --arg u64:5
refused 2 "--arg 2 'f32:5': parameter 2 of kernel 'index' is an integer" "${index[@]}" --grid 1 --block 1 --arg zero:4 --arg f32:5
refused 2 "--arg 1 'zero:lots'" "${index[@]}" --arg zero:lots
refused 2 'expected is NAME=in:FILE' "${index[@]}" --global total=$work/x
refused 2 'expected is NAME=in:FILE' "${index[@]}" --global total=inout:$work/x
refused 2 "not KIND:..., and the kinds are: u8, u16" "${index[@]}" --arg 7
refused 2 '1024' "${index[@]}" --grid 1 --block 2048 --arg zero:4 --arg u32:1
refused 1 "cannot read $work/none.bin" "${index[@]}" --grid 1 --block 1 --arg in:$work/none.bin --arg u32:1
refused 1 "cannot write $work/no/out.bin" "${index[@]}" --grid 1 --block 1 --arg out:4:$work/no/out.bin --arg u32:1
refused 1 "cannot write $work/no/r.json" "${index[@]}" --grid 1 --block 1 --arg zero:4 --arg u32:1 --json $work/no/r.json
printf '.version 6.0\n.target sm_35\n.address_size 64\n.visible .entry k()\n{\n\tfrobnicate.u32 %%r1;\n}\n' >$work/bad.ptx
refused 1 "$work/bad.ptx:6" ptx $work/bad.ptx --info
printf '.version 6.0\n.target sm_35\n.address_size 64\n' >$work/none.ptx
refused 1 'has no kernel' ptx $work/none.ptx --grid 1 --block 1

# --- files in and out, timed and not ------------------------------------------------
words 0 1 2 3 4 5 6 7 0 0 >$work/index.want
words 7 6 5 4 3 2 1 0 11 10 9 8 >$work/rev.in
words 4 5 6 7 0 1 2 3 8 9 10 11 >$work/rev.want
words 0 1 1 2 3 5 8 13 21 34 >$work/calls.want
words 10 >$work/total.want
words 100 20 >$work/table.in
words 100 20 3 4 >$work/table.want
words 127 >$work/total2.want
words 0x0 0x1 0x2 0x10 0x11 0x12 0x10000 0x10001 0x10002 0x10010 0x10011 0x10012 >$work/where.want
words 5105 5105 5105 5105 5105 5105 >$work/told.want
# 1, 2 and -0.5, times -3
words 0x3f800000 0x40000000 0xbf000000 >$work/scale.in
words 0xc0400000 0xc0c00000 0x3fc00000 0 >$work/scale.want
for mode in '' --functional; do
	rm -f $work/*.bin
	# shellcheck disable=SC2086
	{
	does 'index of tests/cli/count.ptx: done' "${index[@]}" $mode --grid 5 --block 2 --arg out:40:$work/index.bin --arg u32:8
	same "out: index $mode" $work/index.bin $work/index.want
	does 'reverse of' ptx $device --kernel reverse $mode --grid 3 --block 4 --smem 16 --arg inout:$work/rev.in:$work/rev.bin
	same "inout: reverse $mode" $work/rev.bin $work/rev.want
	does 'where of' ptx $device --kernel where $mode --grid 1,2 --block 3,2,1 --arg out:48:$work/where.bin
	same "grid and block of three dimensions $mode" $work/where.bin $work/where.want
	does 'told of' ptx $device --kernel told $mode --grid 1 --block 6 --arg out:24:$work/told.bin
	same "shared memory is read again after a barrier $mode" $work/told.bin $work/told.want
	does 'scale of' ptx $device --kernel scale $mode --grid 1 --block 32 \
		--arg struct:u8:1,f32:3,in:$work/scale.in,u64:3 --arg out:16:$work/scale.bin
	same "struct: scale $mode" $work/scale.bin $work/scale.want
	does 'calls of' ptx $device --kernel calls $mode --grid 1 --block 10 --arg out:40:$work/calls.bin
	same "recursive calls $mode" $work/calls.bin $work/calls.want
	does 'sum of' ptx $device --kernel sum $mode --grid 1 --block 1 --global total=out:$work/total.bin
	same "global: a variable comes out $mode" $work/total.bin $work/total.want
	does 'sum of' ptx $device --kernel sum $mode --grid 1 --block 1 --global table=inout:$work/table.in:$work/table.bin --global total=out:$work/total.bin
	same "global: a variable is filled $mode" $work/total.bin $work/total2.want
	same "global: in and out $mode" $work/table.bin $work/table.want
	refused 1 "no .global variable 'tables'" ptx $device --kernel sum $mode --grid 1 --block 1 --global tables=out:$work/x
	refused 1 'has 8 bytes, the variable 4' ptx $device --kernel sum $mode --grid 1 --block 1 --global total=in:$work/table.in
	does 'thread 2 of 7 says hello' ptx $device --kernel hello $mode --grid 1 --block 3 --arg u32:7
	tap_check "printf: one line a thread $mode" test "$(grep -c '^thread [012] of 7 says hello$' $work/out)" = 3
	refused 1 'Assertion `threadIdx.x < n' ptx $device --kernel asserts $mode --grid 1 --block 8 --arg u32:5
	refused 1 "kernel 'traps'" ptx $device --kernel traps $mode --grid 1 --block 1
	refused 1 "kernel 'wild'" ptx $device --kernel wild $mode --grid 1 --block 1 --arg out:4:$work/wild.bin
	}
	tap_check "a kernel that fails writes no file $mode" test ! -e $work/wild.bin
done
does 'done' "${index[@]}" --grid 1 --block 1 --arg zero:4 --arg u32:1 --repeat 3 --details
tap_check 'repeat: three launches' test "$(grep -c '^  index ' $work/out)" = 3
$gpuemu ptx - --kernel index --grid 1 --block 1 --arg zero:4 --arg u32:1 <$count >$work/out 2>&1
tap_check 'the PTX may come from standard input' grep -q 'index of standard input: done' $work/out

# printf and JSON do not mix.
$gpuemu ptx $device --kernel hello --grid 1 --block 1 --arg u32:1 --json - >$work/hello.json 2>$work/hello.err
tap_check 'json on stdout: printf on stderr' grep -qx 'thread 0 of 1 says hello' $work/hello.err
tap_check 'json on stdout: nothing else there' sh -c "head -c 1 $work/hello.json | grep -q '{' && ! grep -q says $work/hello.json"

# --- the report ------------------------------------------------------------------------
# member FILE NAME: the first number of that name.
member() {
	sed -n "s/.*\"$2\": *\\([-0-9.]*\\),*\$/\\1/p" "$1" | head -n 1
}
$gpuemu "${index[@]}" --grid 4 --block 32 --arg zero:512 --arg u32:128 --json $work/timed.json >/dev/null 2>&1
$gpuemu "${index[@]}" --grid 4 --block 32 --arg zero:512 --arg u32:128 --json $work/functional.json --functional >/dev/null 2>&1
# 4 warps, each the 12 instructions of the kernel; the branch that no lane takes counts for
# the warp, and for threads as GPGPU-Sim counts it, not at all.
for run in timed functional; do
	tap_check "$run: warp instructions" test "$(member $work/$run.json warp_instructions)" = 48
	tap_check "$run: thread instructions" test "$(member $work/$run.json thread_instructions)" = $((4 * 32 * 11))
done
for m in file kernel args 'done' dynamic_smem footprint_bytes; do
	tap_check "timed: ptx.$m is in the JSON" grep -q "^    \"$m\":" $work/timed.json
done
tap_check 'timed: cycles' test "$(member $work/timed.json cycles)" -gt 12
tap_check 'timed: far faults' test "$(member $work/timed.json far_faults)" = 1
tap_check 'functional: no time' sh -c "! grep -qE '\"(cycles|ipc|stalls|ctas_per_sm|far_faults)\"' $work/functional.json"
tap_check 'functional: the host was timed' grep -q '"host_seconds"' $work/functional.json
does 'million thread instructions a second' "${index[@]}" --functional --grid 1K --block 256 --arg zero:1M --arg u32:256K

# Occupancy: 32768 registers an SM (SM2_GTX480), 256 threads a CTA, 8 CTA slots.
occupancy() {
	$gpuemu "${index[@]}" --grid 1 --block 256 --arg zero:1K --arg u32:256 --config gtx480 "$@" --json $work/regs.json >/dev/null 2>&1
	member $work/regs.json ctas_per_sm
}
tap_check 'regs: 6 CTAs, for their threads' test "$(occupancy)" = 6
tap_check 'regs: 2 CTAs of 64 registers a thread' test "$(occupancy --regs 64)" = 2
tap_check 'set occupancy.regs is the same' test "$(occupancy --set occupancy.regs=64)" = 2

# --- info ---------------------------------------------------------------------------------
# All lines of index, counted by hand in count.ptx.
cat >$work/info.want <<'EOF'
index, tests/cli/count.ptx:8
  6 registers, 1 predicate a thread; 6 registers live at most
  0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
  0 bytes shared, 0 bytes constant, 12 bytes parameters: u64 u32
  12 instructions
EOF
does 'index, tests/cli/count.ptx' "${index[@]}" --info --json $work/info.json
same 'info: what index takes' $work/out $work/info.want
cat >$work/live.want <<'EOF'
      14      0  ld.param.u64 %rd1, [index_param_0];
      15      2  ld.param.u32 %r1, [index_param_1];
      16      3  mov.u32 %r2, %tid.x;
      17      4  mov.u32 %r3, %ntid.x;
      18      5  mov.u32 %r4, %ctaid.x;
      19      6  mad.lo.u32 %r5, %r4, %r3, %r2;
      20      4  setp.ge.u32 %p1, %r5, %r1;
      21      3  @%p1 bra DONE;
      22      3  mul.wide.u32 %rd2, %r5, 4;
      23      5  add.u64 %rd3, %rd1, %rd2;
      24      3  st.global.u32 [%rd3], %r5;
      26      0  ret;
EOF
$gpuemu "${index[@]}" --info=live 2>&1 | sed '1,6d' >$work/live
same 'info=live: registers live before each instruction' $work/live $work/live.want
for m in regs=6 preds=1 max_live=6 spill_store_bytes=0 param_bytes=12 instructions=12; do
	tap_check "info: $m in the JSON" test "$(member $work/info.json ${m%=*})" = ${m#*=}
done
$gpuemu "${index[@]}" --info=live --json - >$work/listing.json 2>&1
tap_check 'info=live: the listing is in the JSON' test "$(grep -c '"live": ' $work/listing.json)" = 12
does 'function _Z9fibonaccij, line' ptx $device --info --kernel calls
tap_check 'info: recursion is told' grep -q 'function _Z9fibonaccij,.*, recursive' $work/out
does '100 bytes shared' ptx $count --info
tap_check 'info: every kernel of a file' sh -c "grep -q '^index,' $work/out && grep -q '^nothing,' $work/out"
tap_check 'info: a local variable is stack' grep -q '^  32 bytes stack frame' $work/out

# 24 values are live at once: with 16 registers they spill, and the result stays the same.
awk 'BEGIN { for (i = 0; i < 800; i++) printf "%d\n", i * 7919 % 65521 }' >$work/numbers
# shellcheck disable=SC2046
words $(cat $work/numbers) >$work/pressure.in
pressure=(ptx "$device" --kernel pressure)
for n in 0 16; do
	$gpuemu "${pressure[@]}" --info --maxregs $n --json $work/info$n.json >/dev/null 2>&1
	for mode in '' --functional; do
		# shellcheck disable=SC2086
		does 'pressure of' "${pressure[@]}" --maxregs $n $mode --grid 1 --block 32 --arg inout:$work/pressure.in:$work/pressure$n$mode.bin \
			--json $work/pressure$n.json
	done
done
tap_check 'maxregs: without it nothing spills' test "$(member $work/info0.json spill_store_bytes)" = 0
tap_check 'maxregs: 24 live values are seen' test "$(member $work/info0.json max_live)" -ge 24
tap_check 'maxregs 16: no more than that' test "$(member $work/info16.json regs)" -le 16
tap_check 'maxregs 16: stores of spills' test "$(member $work/info16.json spill_store_bytes)" -ge 32
tap_check 'maxregs 16: loads of spills' test "$(member $work/info16.json spill_load_bytes)" -ge 32
tap_check 'maxregs 16: the launch has it too' test "$(member $work/pressure16.json regs)" -le 16
tap_check 'maxregs 16: more instructions' test "$(member $work/pressure16.json warp_instructions)" -gt "$(member $work/pressure0.json warp_instructions)"
same 'maxregs 16: the same result' $work/pressure16.bin $work/pressure0.bin
for n in 0 16; do
	same "maxregs $n: the same result without time" $work/pressure$n--functional.bin $work/pressure0.bin
done
tap_check 'maxregs: the kernel did something' sh -c "! cmp -s $work/pressure.in $work/pressure0.bin"

# --- a load sees the store before it, in every timing ---------------------------------------
$gpuemu ptx tests/cli/order.ptx --functional --grid 4 --block 256 --arg out:32K:$work/order >$work/out 2>&1
tap_check 'order: thread 5 has 6 and 13' sh -c "od -An -tu4 -j160 -N20 -w20 $work/order | grep -qx ' *6  *7  *8  *9  *13'"
for o in '--paging off' '--paging on' '--set gmmu.walk_latency=50' '--set sm.fault_stall=1' '--set gmmu.blocking=1' \
	'--set gmmu.page=65536' '--prefetch tree' '--set collector.mem=8' '--config maxwell' '--sched lrr'; do
	# shellcheck disable=SC2086
	$gpuemu ptx tests/cli/order.ptx --grid 4 --block 256 --arg out:32K:$work/order.timed $o >$work/out 2>&1
	same "order: $o" $work/order.timed $work/order
done

# --- addresses of 32 bits, in every timing ----------------------------------------------------
# shellcheck disable=SC2046
words $(for t in $(seq 0 31); do echo $t $((31 - t)) $((100 + t)); done) >$work/narrow.want
for o in --functional '--paging off' '--paging on' '--set collector.mem=8' '--config maxwell' '--sched lrr'; do
	# shellcheck disable=SC2086
	$gpuemu ptx tests/cli/narrow.ptx --grid 1 --block 32 --arg out:384:$work/narrow $o >$work/out 2>&1
	same "narrow: $o" $work/narrow $work/narrow.want
done

# --- the README's example -----------------------------------------------------------------------
# Its commands run; each line it shows is printed, whatever the numbers of blank-separated columns.
mkdir $work/readme
ln -s "$PWD/examples" "$PWD/workloads" $work/readme/
awk '/^```console$/ { show = 1; next } /^```$/ { show = 0 } show' README.md >$work/readme/text
awk '/^\$ / { sub(/^\$ /, ""); print; more = /\\$/; next } more { print; more = /\\$/ }' $work/readme/text >$work/readme/run.sh
awk '/^\$ / { more = /\\$/; next } more { more = /\\$/; next } { print }' $work/readme/text >$work/readme/shown
tap_check 'readme: there are commands and what they print' test -s $work/readme/run.sh -a -s $work/readme/shown
PATH=$PWD/build/bin:$PATH sh -ec "cd $work/readme; . ./run.sh" >$work/readme/out 2>&1
tap_check 'readme: the example runs' test $? -eq 0
plain() { # FILE: numbers and columns made alike
	sed -e 's/[0-9][0-9.]*/N/g' -e 's/  */ /g' "$1"
}
plain $work/readme/out >$work/readme/out.plain
plain $work/readme/shown >$work/readme/shown.plain
tap_check 'readme: it prints what it shows' sh -c "! grep -vxF -f $work/readme/out.plain $work/readme/shown.plain"
tap_check 'readme: 27 takes 111 steps' grep -qx ' *111' $work/readme/out
tap_done
