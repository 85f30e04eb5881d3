#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# `make demo`: from a fresh machine to the measured far fault. Installs what is
# missing, builds, and runs scripts/demo-run.sh in the VM, or with --host on
# this machine, whose kernel then loads gpuemu.ko.
set -eu
cd "$(dirname "$0")/.."
unset MAKEFLAGS MAKELEVEL MFLAGS
host=
[ "${1:-}" != --host ] || host=1
start=$(date +%s)
took() { echo $(($(date +%s) - start)); }
step() { printf '[%3d s] %s\n' "$(took)" "$*"; }
die() { echo "demo: $*" >&2; exit 1; }

build() { # MAKE ARGUMENTS...
	mkdir -p build
	make -j"$(nproc)" "$@" >build/demo.log 2>&1 ||
		{ tail -n 20 build/demo.log >&2; die 'the build failed (build/demo.log)'; }
}

if [ -z "$host" ]; then
	step 'packages (only what is missing)'
	scripts/deps.sh build vm
	step 'programs, PTX and module'
	build all
	step "booting a VM to run them in"
	tests/vm/run.sh --timeout 420 --module-args 'vram_mb=64' -- sh scripts/demo-run.sh ||
		die "failed (status $?)"
	step 'done'
	exit
fi

[ "$(id -u)" -eq 0 ] || die 'HOST=1 loads a kernel module: run it as root'
kver=$(uname -r)
[ ! -e /sys/module/gpuemu ] || die 'gpuemu.ko is loaded already; rmmod gpuemu first'
step 'packages (only what is missing)'
scripts/deps.sh build
if [ ! -e "/lib/modules/$kver/build" ]; then
	DEBIAN_FRONTEND=noninteractive apt-get -qq -y install "linux-headers-$kver" >>build/deps.log 2>&1 ||
		die "no headers for this kernel ($kver) to build a module with; make demo runs in a VM"
fi
step "programs, PTX and module for $kver"
build all KVER="$kver"

step 'loading gpuemu.ko on this machine'
PATH=$PWD/build/bin:$PATH sh scripts/demo-host.sh "build/kmod/$kver/gpuemu.ko" || die "failed (status $?)"
step 'done'
