# SPDX-License-Identifier: GPL-2.0
#
# gpuemu.ko, built in $(B)/kmod/$(KVER)/, a tree of links to Kbuild, kmod/ and
# include/, so that kbuild leaves nothing in the source.

KVER ?= $(shell ls -d /usr/src/linux-headers-6.1*-amd64 2>/dev/null | sed 's/.*linux-headers-//' | sort -V | tail -n 1)
KDIR ?= /lib/modules/$(KVER)/build
KO    = $(B)/kmod/$(KVER)/gpuemu.ko
# The module that tests load. An installed one is built without (debian/, DKMS).
GPUEMU_FAULT_INJECTION ?= y
KMOD_SRC := Kbuild $(sort $(shell find kmod include -type f 2>/dev/null))
KBUILD_ARGS = -C $(KDIR) $(if $(filter 1,$(V)),,-s) CC=$(CC) GPUEMU_FAULT_INJECTION=$(GPUEMU_FAULT_INJECTION) CONFIG_DEBUG_INFO_BTF_MODULES=

.PHONY: modules modules-check
# KVER is asked for again after the packages are there.
modules: $(B)/deps-build.stamp
	@$(MAKE) module-ko

.PHONY: module-ko
module-ko: $(KO)
	$(if $(V),@echo "  module  $(KO)")

$(B)/kmod/%/gpuemu.ko: $(KMOD_SRC) scripts/link-tree.sh
	@scripts/link-tree.sh $(@D) Kbuild kmod include
	$(call say,KBUILD,$@) $(MAKE) $(KBUILD_ARGS) M=$(abspath $(@D)) modules

# A second build that complains: gcc W=1 and sparse on every file; then checkpatch.
modules-check:
	@scripts/check-module.sh $(B)/check/kmod/$(KVER) $(KDIR)
	@scripts/check-patch.sh
