# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# For tests in the VM of what one user can do to others through gpuemud: a user without rights,
# and a text that takes long to load. Sourced after tap.sh and daemon.sh.

user() { /usr/bin/setpriv --reuid 65534 --regid 65534 --clear-groups timeout 200 "$@"; }
loaders() { ps -o pid,args | awk '$2 == "gpuemud-load" || $3 == "gpuemud-load" { print $1 }'; }
# until_loading SECONDS yes|no: waits until a text is being parsed, or none.
until_loading() {
	n=$(($1 * 20))
	while [ $n -gt 0 ]; do
		[ -n "$(loaders)" ] && is=yes || is=no
		[ $is != "$2" ] || return 0
		n=$((n - 1))
		usleep 50000
	done
	return 1
}
# soon COMMAND...: waits until it succeeds, 10 s at most.
soon() {
	n=200
	until "$@"; do
		n=$((n - 1))
		[ $n -gt 0 ] || return 1
		usleep 50000
	done
}
ptx_head() { printf '.version 7.0\n.target sm_70\n.address_size 64\n'; }

# A text that takes long: few values that live through many blocks.
{
	ptx_head
	awk 'BEGIN {
	print ".entry k(.param .u64 p) { .reg .pred %p<2>; .reg .b32 %r<60>; .reg .b64 %d<2>; ld.param.u64 %d1, [p];"
	for (i = 0; i < 60; i++) print "mov.u32 %r" i ", " i ";"
	for (i = 0; i < 60000; i++)
		print "@%p1 bra L" i "; add.s32 %r" i % 60 ", %r" (7 * i + 3) % 60 ", 1; L" i ":"
	for (i = 0; i < 60; i++) print "st.global.u32 [%d1], %r" i ";"
	print "ret; }" }'
} >/tmp/long.ptx
load() { exec /usr/bin/setpriv --reuid 65534 --regid 65534 --clear-groups gpuemu ptx /tmp/long.ptx --grid 1 --block 32 \
	--backend kmod --arg zero:4K; }
