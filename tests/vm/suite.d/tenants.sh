# SPDX-License-Identifier: GPL-2.0
#
# vm: no-daemon timeout=400 vram_mb=16
#
# What a user without rights can take of the daemon's memory: not more than --client-memory. The
# client gets one clear line, the others are served, and the daemon holds nothing when the client
# is gone. What loading takes of its time is test_daemon_works.c's.
. tests/lib/tap.sh
. tests/lib/daemon.sh
daemon='' # its process id, when daemon_start has started it

user() { /usr/bin/setpriv --reuid 65534 --regid 65534 --clear-groups timeout 200 "$@"; }
held() { awk '$1 == "VmRSS:" { print $2 }' /proc/$daemon/status; } # KiB
# refused TEXT COMMAND...: ends with status 1 and one line that holds TEXT.
refused() {
	name=$1 text=$2
	shift 2
	user "$@" >/tmp/out 2>/tmp/err
	status=$?
	if [ $status -eq 1 ] && [ "$(wc -l </tmp/err)" -eq 1 ] && grep -q -e "$text" /tmp/err; then
		tap_ok "$name"
	else
		tap_not_ok "$name" "status $status: $(cat /tmp/err)"
	fi
}
head='.version 7.0\n.target sm_70\n.address_size 64\n'
chmod 666 /dev/gpuemu

daemon_starts 'a daemon attaches' --client-memory 96M --load-time 100
tap_check 'it serves' user gpuemu run vecadd --backend kmod
gpuemu run vecadd --backend kmod >/dev/null 2>&1
before=$(held)

# 80,000 bytes a thread, for all threads that fit the GPU.
printf "$head"'.entry k(.param .u64 p) { .local .b8 l[80000]; .reg .b64 %%d<4>; .reg .b32 %%r<3>;
ld.param.u64 %%d1, [p]; mov.u32 %%r1, %%tid.x; st.local.u32 [l+79996], %%r1; ld.local.u32 %%r2, [l+79996];
st.global.u32 [%%d1], %%r2; ret; }\n' >/tmp/local.ptx
refused 'local memory beyond the limit is refused' 'no memory' gpuemu ptx /tmp/local.ptx --grid 90 --block 256 \
	--backend kmod --arg zero:4K
tap_check 'the daemon lives' kill -0 $daemon
tap_check 'it serves on' user gpuemu run vecadd --backend kmod
now=$(held)
tap_check 'it has given the memory back' test $((now - before)) -lt 16384
echo "# held before $before KiB, after $now KiB"

# A small text that is large when it is linked: each kernel has a copy of what it calls.
awk -v head="$head" 'BEGIN { printf head
	print ".func f(.param .b32 a) { .reg .b32 %r<3>; ld.param.b32 %r1, [a];"
	for (i = 0; i < 2000; i++) print "add.s32 %r1, %r1, 1;"
	print "ret; }"
	for (i = 0; i < 500; i++)
		print ".entry k" i "(.param .u64 p) { .param .b32 a; st.param.b32 [a], 1; call f, (a); ret; }" }' >/tmp/copies.ptx
refused 'a text that is large when it is linked is refused' 'client-memory' gpuemu ptx /tmp/copies.ptx \
	--kernel k0 --grid 1 --block 32 --backend kmod --arg zero:4K
tap_check 'the daemon serves on' user gpuemu run vecadd --backend kmod
now=$(held)
tap_check 'and holds no more than before' test $((now - before)) -lt 16384
echo "# held $now KiB"

kill -TERM $daemon
wait $daemon
tap_check 'the daemon ends well on SIGTERM' test $? -eq 0
tap_done
