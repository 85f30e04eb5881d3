# SPDX-License-Identifier: GPL-2.0
#
# The user's entry. `make help` lists the targets. How things are built lives
# in scripts/mk/, one file for each kind of thing; who may link whom comes from
# scripts/rooms.txt. Everything built goes to build/.

V       ?=
B       ?= build
PREFIX  ?= /usr/local
prefix  ?= $(PREFIX)
bindir  ?= $(prefix)/bin
sbindir ?= $(prefix)/sbin
libdir  ?= $(prefix)/lib
datadir ?= $(prefix)/share
mandir  ?= $(datadir)/man
includedir ?= $(prefix)/include
DESTDIR ?=

CC      ?= gcc
ifeq ($(origin CC),default)
CC      := gcc
endif
CLANG   ?= clang-14
CFLAGS  ?= -O2 -g
LDFLAGS ?=

MAKEFLAGS += --no-print-directory --no-builtin-rules
# Without V, what is being built is one line of the terminal, and nothing in a log.
ifeq ($(V),1)
Q :=
say :=
else
Q := @
say = @$(if $(V),printf '  %-8s%s\n',[ ! -t 1 ] || printf '\033[K  %-8s%.60s\r') '$(1)' '$(2)';
endif

comma := ,

.SUFFIXES:
.SECONDARY:
.DELETE_ON_ERROR:
.PHONY: all help deps clean FORCE
.DEFAULT_GOAL := all

all: programs libs ptx
	@if [ -e Kbuild ]; then $(MAKE) modules; fi
	@[ ! -t 1 ] || printf '\033[K'
	@echo "built: $(PROGRAMS) $(B)/lib/libgpuemu.so $$(ls $(B)/kmod/*/gpuemu.ko 2>/dev/null | tr '\n' ' ')"
	@echo 'try:   $(B)/bin/gpuemu run vecadd --backend uffd      (no root; the docs by question: docs/index.md)'

include scripts/mk/engine.mk
include scripts/mk/client.mk
include scripts/mk/cuda.mk
include scripts/mk/module.mk
include scripts/mk/install.mk
include scripts/mk/deb.mk
include scripts/mk/check.mk
include scripts/mk/bench.mk
include scripts/mk/fuzz.mk
include scripts/mk/differential.mk
include scripts/mk/silicon.mk
include scripts/mk/timing.mk
include scripts/mk/cycles.mk

help:
	@echo 'make                 programs, libraries, PTX and the kernel module, under $(B)/'
	@echo 'make demo            the whole path in a VM: packages, build, boot, run, measure'
	@echo 'make demo HOST=1     the same on this machine (it loads gpuemu.ko)'
	@echo 'make check           every test and check; the last line is the count'
	@echo 'make check-quick     whether it works here, in five minutes: no module, no unit tests'
	@echo 'make golden          the checked-in reports anew (tests/golden/): git diff shows what a change did'
	@echo 'make check-kernels   the module and its tests on Debian 6.1, 6.12 and 7.x (KERNELS="6.12 7")'
	@echo 'make check-debug     the same on a kernel with KASAN, lockdep, kmemleak, failing allocations'
	@echo 'make check-kcsan     the same on a kernel that looks for data races (KCSAN)'
	@echo 'make vm CMD="..."    run a command as root in the VM, module and daemon ready'
	@echo '                     (FILES="PATH..." puts more files there, MODULE_ARGS="vram_mb=8",'
	@echo '                     DAEMON_ARGS="--policy ./mine.so" are gpuemud'\''s; what the command leaves in'
	@echo '                     $$$$OUT comes back to the folder of OUT=DIR; TIMEOUT=S, 300 if not given;'
	@echo '                     ICOUNT=1 counts instructions instead of time)'
	@echo 'make modules         gpuemu.ko for KVER ($(KVER))'
	@echo 'make install         to $$(DESTDIR)$$(prefix), prefix=$(prefix)'
	@echo 'make deb             Debian packages in $(B)/deb/: gpuemu-dkms gpuemu libgpuemu0 libgpuemu-dev'
	@echo 'make deps            install the Debian packages that are missing (root)'
	@echo 'make clean           remove what was built (distclean: the fetched kernels too)'
	@echo
	@echo 'make room-ROOM       one room of the engine alone: $(ROOMS)'
	@echo 'make test-ROOM       the unit tests of one room (also: daemon, libgpuemu, tools, workloads)'
	@echo 'make programs|libs|ptx|tests-kernel'
	@echo 'make bench-exec      kernels without time against the same source on the CPU'
	@echo 'make validate        the cycle model against reference numbers (KERNELS="vecadd lrr/scan")'
	@echo 'make bench-paging    CPU time of the fault handler itself, a page'
	@echo 'make bench-sim       how fast the cycle model is (KERNELS=..., BENCH_RUNS=n)'
	@echo 'make bench-vt        host instructions that Virtual Thread costs'
	@echo 'make fuzz-ptx        generated kernels against the CPU, until stopped (SECONDS=n SEED=n KERNELS=n)'
	@echo 'make fuzz-parser     fuzz what reads PTX (SECONDS=600 SEED=n); make check does 2 minutes'
	@echo 'make fuzz-fatbin     fuzz what reads the device code of CUDA programs'
	@echo 'make fuzz-kernel     random operations on the module in the VM (SECONDS=3600 SEED=n CLIENTS=n)'
	@echo 'make soak            oversubscribed programs in the VM, the daemon killed every second (DURATION=600 SEED=n)'
	@echo 'make mutants         plants small faults in a copy, one at a time: each must be noticed (WHAT="sm test_mem")'
	@echo 'make isa-table       docs/instructions.md anew: which instructions are supported'
	@echo 'make check-style | check-unit | check-vm   parts of check'
	@echo
	@echo 'V=0 prints a line a file, V=1 the commands. CC, CLANG, CFLAGS, LDFLAGS, KVER, B as usual.'

# Packages are asked for once; the stamp makes it free afterwards.
$(B)/deps-%.stamp: scripts/deps.sh
	$(Q)mkdir -p $(@D)
	@$(if $(filter build,$*),echo 'building in $(B)/: packages that are missing$(comma) then some 600 files (a minute or two; V=0 prints each)')
	$(Q)scripts/deps.sh $* >&2
	$(Q)touch $@

deps:
	$(Q)scripts/deps.sh build vm check

.PHONY: demo vm
demo:
	@scripts/demo.sh $(if $(filter 1 y yes,$(HOST)),--host)

# The command's text reaches the shell of the VM as it was typed.
vm: export GPUEMU_VM_CMD := $(value CMD)
vm:
	@$(MAKE) $(B)/deps-build.stamp $(B)/deps-vm.stamp >&2
	@$(MAKE) $$(tests/vm/needs.sh) >&2
	@tests/vm/run.sh $(foreach f,$(FILES),--file '$(f)') $(if $(MODULE_ARGS),--module-args '$(MODULE_ARGS)') \
		$(if $(DAEMON_ARGS),--daemon-args '$(DAEMON_ARGS)') $(if $(OUT),--out '$(OUT)') $(if $(TIMEOUT),--timeout '$(TIMEOUT)') \
		$(if $(filter 1 y yes,$(ICOUNT)),--icount) --shell

# The kernels that the VM boots are not built here but fetched; clean keeps them.
.PHONY: distclean
clean:
	$(Q)[ ! -d $(B) ] || find $(B) -mindepth 1 -maxdepth 1 ! -name vm ! -name kernels -exec rm -rf {} +
	$(Q)[ ! -d $(B)/vm ] || find $(B)/vm -mindepth 1 -maxdepth 1 ! -name kernel -exec rm -rf {} +
distclean:
	$(Q)rm -rf $(B)
