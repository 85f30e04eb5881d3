# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The one-way arrows between the rooms, and the checker's own test: a tree with
# each breach in it must be refused, and for that breach.
. tests/lib/tap.sh

tap_check 'the tree keeps the arrows' scripts/check-layers.sh
# The compiler's objects are the evidence: of the last build.
[ -d build/obj/daemon/gpu ] || make -s programs libs >/dev/null
tap_check 'no room has more files in circles than before' scripts/circles.sh --check

work=build/check/layers
# breach NAME FILE LINE TEXT: a small tree where FILE holds LINE; TEXT must be
# among what the checker says, or nothing if TEXT is empty.
breach() {
	rm -rf $work
	mkdir -p $work/scripts "$work/$(dirname "$2")"
	printf 'base:\nptx: base\nexec: base ptx\nservice: base\npaging: base service\ntools/: base exec\n' >$work/scripts/rooms.txt
	printf '%s\n' "$3" >"$work/$2"
	got=$(scripts/check-layers.sh $work)
	status=$?
	if [ -z "$4" ] && [ $status -eq 0 ] && [ -z "$got" ]; then
		tap_ok "$1"
	elif [ -n "$4" ] && [ $status -eq 1 ] && [ "${got#*"$4"}" != "$got" ]; then
		tap_ok "$1"
	else
		tap_not_ok "$1" "status $status: $got"
	fi
}
breach 'a known room is fine' daemon/exec/a.c '#include "ptx/ptx.h"' ''
breach 'base shows several headers' daemon/exec/a.c '#include "base/list.h"' ''
breach 'a room its own private header' daemon/exec/a.c '#include "exec/ops.h"' ''
breach 'an arrow backwards' daemon/ptx/a.c '#include "exec/exec.h"' 'ptx may not know exec'
breach 'a private header' daemon/exec/a.c '#include "ptx/cfg.h"' 'private to ptx'
breach 'the daemon and a backend' daemon/main.c '#include "service/kmod.h"' ''
breach 'a room and a backend' daemon/paging/a.c '#include "service/kmod.h"' 'private to service'
breach 'a private table' daemon/exec/a.c '#include "ptx/ops.def"' 'private to ptx'
breach 'an include that climbs' daemon/exec/a.c '#include "../ptx/ptx.h"' 'climb'
breach 'the daemon and a private header' daemon/main.c '#include "ptx/cfg.h"' 'private to ptx'
breach 'a unit test and a room too far' tests/unit/test_ptx_a.c '#include "exec/exec.h"' 'ptx may not know exec'
breach 'the tool past the library' tools/a.c '#include "ptx/ptx.h"' 'through gpuemu.h'
breach 'the tool and what it may know' tools/a.c '#include "exec/exec.h"' ''
breach 'the module and a room' kmod/a.c '#include "base/base.h"' 'know no room'
breach 'the ABI in the model' daemon/exec/a.c '#include <linux/gpuemu.h>' 'the ABI'
breach 'the ABI in the service' daemon/service/a.c '#include <linux/gpuemu.h>' ''
breach 'io_uring in the library' libgpuemu/a.c '#include <liburing.h>' 'io_uring'
breach 'netlink in a room' daemon/base/a.c '#include <netlink/netlink.h>' 'netlink'
breach 'netlink in the tool' tools/a.c '#include <netlink/netlink.h>' 'netlink'
breach 'the family in a room' daemon/base/a.c '#include <linux/gpuemu_netlink.h>' 'the netlink family'
breach 'the environment in a room' daemon/exec/a.c '	p = getenv("X");' 'getenv()'
breach 'options in a room' daemon/exec/a.c '	c = getopt(argc, argv, "x");' 'getopt()'
breach 'a file in a room' daemon/exec/a.c '	f = fopen("x", "r");' 'fopen()'
breach 'chance in a room' daemon/exec/a.c '	x = rand();' 'rand()'
breach 'a clock in a room' daemon/exec/a.c '	clock_gettime(CLOCK_MONOTONIC, &ts);' 'clock_gettime()'
breach 'a clock in the service' daemon/service/a.c '	clock_gettime(CLOCK_MONOTONIC, &ts);' ''
breach 'a call of an SM that only one build has' daemon/sm/sm.h 'int sm_new(const struct sm *sm);' 'not in build.c: sm_new'
breach 'a folder that is no room' daemon/other/a.c 'int a;' 'not a room'
breach 'a circle in the table' scripts/rooms.txt 'a: b
b: a' 'not a room listed before it'
tap_done
