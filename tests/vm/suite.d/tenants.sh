# SPDX-License-Identifier: GPL-2.0
#
# vm: no-daemon timeout=580 vram_mb=16
#
# What one client can do to the others through the daemon, as a user without rights: take
# its memory, or its time by texts that take long to load. The client gets one clear line, the
# others are served, and the daemon holds nothing when the client is gone. What a load takes of
# others' time is tenants_alone.sh's.
. tests/lib/tap.sh
. tests/lib/daemon.sh
. tests/lib/tenants.sh
daemon='' # its process id, when daemon_start has started it

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
chmod 666 /dev/gpuemu

daemon_starts 'a daemon attaches' --client-memory 96M --load-time 100
tap_check 'it serves' user gpuemu run vecadd --backend kmod
gpuemu run vecadd --backend kmod >/dev/null 2>&1
before=$(held)

# 80,000 bytes a thread, for all threads that fit the GPU.
{
	ptx_head
	printf '.entry k(.param .u64 p) { .local .b8 l[80000]; .reg .b64 %%d<4>; .reg .b32 %%r<3>;
ld.param.u64 %%d1, [p]; mov.u32 %%r1, %%tid.x; st.local.u32 [l+79996], %%r1; ld.local.u32 %%r2, [l+79996];
st.global.u32 [%%d1], %%r2; ret; }\n'
} >/tmp/local.ptx
refused 'local memory beyond the limit is refused' 'no memory' gpuemu ptx /tmp/local.ptx --grid 90 --block 256 \
	--backend kmod --arg zero:4K
tap_check 'the daemon lives' kill -0 $daemon
tap_check 'it serves on' user gpuemu run vecadd --backend kmod
now=$(held)
tap_check 'it has given the memory back' test $((now - before)) -lt 16384
echo "# held before $before KiB, after $now KiB"

# A small text that is large when it is linked: each kernel has a copy of what it calls.
{
	ptx_head
	awk 'BEGIN {
	print ".func f(.param .b32 a) { .reg .b32 %r<3>; ld.param.b32 %r1, [a];"
	for (i = 0; i < 2000; i++) print "add.s32 %r1, %r1, 1;"
	print "ret; }"
	for (i = 0; i < 500; i++)
		print ".entry k" i "(.param .u64 p) { .param .b32 a; st.param.b32 [a], 1; call f, (a); ret; }" }'
} >/tmp/copies.ptx
refused 'a text that is large when it is linked is refused' 'client-memory' gpuemu ptx /tmp/copies.ptx \
	--kernel k0 --grid 1 --block 32 --backend kmod --arg zero:4K
tap_check 'the daemon serves on' user gpuemu run vecadd --backend kmod
now=$(held)
tap_check 'and holds no more than before' test $((now - before)) -lt 16384
echo "# held $now KiB"

load >/dev/null 2>&1 &
client=$!
tap_check 'a text is being parsed' until_loading 60 yes
pid=$(loaders | head -n 1)
# It has just been started: it gives up its rights before it reads the text.
tap_check 'by nobody' soon grep -q '^Uid:.65534.65534.65534.65534' "/proc/$pid/status"
tap_check 'without capabilities' soon grep -q '^CapEff:.0000000000000000' "/proc/$pid/status"
tap_check 'with a filter' soon grep -q '^Seccomp:.2' "/proc/$pid/status"
tap_check 'others are served meanwhile' user gpuemu run vecadd --backend kmod
tap_check 'it is still being parsed' until_loading 1 yes
kill -KILL $client
wait $client 2>/dev/null
tap_check 'a client that is killed takes its load with it' until_loading 2 no

load >/dev/null 2>&1 &
client=$!
until_loading 60 yes
kill -TERM $daemon
n=0
while kill -0 $daemon 2>/dev/null && [ $n -lt 20 ]; do
	n=$((n + 1))
	usleep 100000
done
tap_check 'SIGTERM ends the daemon within 2 s while a text is parsed' test $n -lt 20
wait $daemon
tap_check 'with status 0' test $? -eq 0
tap_check 'and nothing of the load is left' test -z "$(loaders)"
wait $client

daemon_starts 'a daemon with a short time for loading' --load-time 1
refused 'a load that takes longer is refused' 'load-time' gpuemu ptx /tmp/long.ptx --grid 1 --block 32 --backend kmod --arg zero:4K
tap_check 'and the daemon serves on' user gpuemu run vecadd --backend kmod
kill -TERM $daemon
wait $daemon
tap_done
