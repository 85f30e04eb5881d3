# SPDX-License-Identifier: GPL-2.0
#
# vm: daemon timeout=600 vram_mb=16
#
# Backend uffd beside kmod and sim: five workloads verify on all three and touch the
# same pages, the same bytes come out of them; as root, as nobody, and as nobody
# with what an administrator can allow. Then the two measured backends in one run.
# The five fault in different ways. 52-uffd.sh runs every workload, and workloads.sh
# runs every workload on kmod: an emulated CPU takes ten times as long for each.
. tests/lib/tap.sh

nobody() { /usr/bin/setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
gpuemu=$(command -v gpuemu)
# The pages of a record, each once.
pages() { sed -n 's/^\([0-9][0-9]*\)$/\1+0/; s/^\([0-9]*\)+\([0-9]*\)$/\1 \2/p' "$1" | awk '{ for (i = 0; i <= $2; i++) print $1 + i }' | sort -n | uniq; }
same_pages() { [ -s /tmp/sim.pages ] && cmp /tmp/sim.pages /tmp/uffd.pages && cmp /tmp/sim.pages /tmp/kmod.pages; }

for w in vecadd gather bfs histo mergesort; do
	for b in sim uffd kmod; do
		tap_check "$w on $b: verifies" timeout 100 gpuemu run "$w" size=tiny --backend $b --record /tmp/$b.record
		pages /tmp/$b.record >/tmp/$b.pages
	done
	tap_check "$w: three backends touch the same pages" same_pages
	tap_check "$w as nobody, VRAM 64K: verifies" nobody timeout $((100 * GPUEMU_SLOW)) "$gpuemu" run "$w" size=tiny --backend uffd --vram 64K
done

head -c 300000 /dev/urandom >/tmp/in
count() { # BACKEND [COMMAND...]
	b=$1
	shift
	rm -f /tmp/$b.out
	: >/tmp/$b.out
	chmod 666 /tmp/$b.out
	"$@" env timeout $((100 * GPUEMU_SLOW)) "$gpuemu" ptx tests/cli/count.ptx --backend "$b" --kernel index --grid 20 --block 256 \
		--arg "inout:/tmp/in:/tmp/$b.out" --arg u32:5000 --vram 32K
}
for b in sim kmod uffd; do
	tap_check "a kernel between files on $b" count $b
done
tap_check 'the same bytes on sim and kmod' cmp /tmp/sim.out /tmp/kmod.out
tap_check 'the same bytes on sim and uffd' cmp /tmp/sim.out /tmp/uffd.out
tap_check 'not what went in' sh -c '! cmp -s /tmp/in /tmp/uffd.out'
tap_check 'nobody: a kernel between files' count uffd nobody
tap_check 'nobody: the same bytes' cmp /tmp/sim.out /tmp/uffd.out
tap_check 'here nobody may have no more of userfaultfd' grep -qx 0 /proc/sys/vm/unprivileged_userfaultfd
echo 1 >/proc/sys/vm/unprivileged_userfaultfd
tap_check 'nobody, vm.unprivileged_userfaultfd=1' count uffd nobody
tap_check 'vm.unprivileged_userfaultfd=1: the same bytes' cmp /tmp/sim.out /tmp/uffd.out
echo 0 >/proc/sys/vm/unprivileged_userfaultfd
tap_check '/dev/userfaultfd is there' test -c /dev/userfaultfd
chmod 666 /dev/userfaultfd
tap_check 'nobody, who may open /dev/userfaultfd' count uffd nobody
tap_check '/dev/userfaultfd: the same bytes' cmp /tmp/sim.out /tmp/uffd.out

figure() { # FILE OBJECT KEY
	tr -d ' \n\t' <"$1" | sed -n "s/.*\"$2\":{\([^}]*\)}.*/\1/p" | tr ',' '\n' | sed -n "s/^\"$3\":\([0-9.e+]*\)\$/\1/p" | head -n 1
}
for b in kmod uffd; do
	tap_check "bench fault on $b" sh -c "timeout $((100 * GPUEMU_SLOW)) gpuemu bench fault --backend $b --count 500 --json >/tmp/$b.one"
	tap_check "bench fault on $b, 256 at a time" sh -c "timeout $((100 * GPUEMU_SLOW)) gpuemu bench fault --backend $b --count 2048 --batch 256 --json >/tmp/$b.batch"
	tap_check "bench throughput on $b" sh -c "timeout $((100 * GPUEMU_SLOW)) gpuemu bench throughput --backend $b --count 2048 --json | grep -q faults_per_second"
	for key in unmap copy; do
		tap_check "$b: stages_ns.$key" test "$(figure /tmp/$b.one stages_ns $key)" -gt 0
	done
	echo "# $b on $GPUEMU_VIRT: far fault p50 $(figure /tmp/$b.one far_fault_ns p50) ns, of which" \
		"unmap $(figure /tmp/$b.one stages_ns unmap), copy $(figure /tmp/$b.one stages_ns copy);" \
		"a batch of 256 p50 $(figure /tmp/$b.batch far_fault_ns p50) ns," \
		"unmap $(figure /tmp/$b.batch stages_ns unmap), copy $(figure /tmp/$b.batch stages_ns copy);" \
		"2 MiB $(figure /tmp/$b.one migrate h2d_mbps) MB/s, memcpy $(figure /tmp/$b.one migrate memcpy_mbps) MB/s;" \
		"uffd resolve $(figure /tmp/$b.one yardsticks_ns uffd_resolve) ns"
done
tap_done
