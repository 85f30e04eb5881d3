# SPDX-License-Identifier: GPL-2.0
#
# make install: programs, libraries, headers, pkg-config file, configurations, examples with
# their PTX, docs, the Python module, man pages, and the module where `depmod` finds it
# (modules_install).

# Where this machine's Python looks below the prefix; without one, where Debian 12's will look.
pythondir ?= $(libdir)/python$(shell python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null || echo 3.11)/dist-packages
docdir ?= $(datadir)/doc/gpuemu

# pkg-config takes it in place of gpuemu.pc: PKG_CONFIG_PATH=build/lib finds this tree.
$(B)/lib/gpuemu-uninstalled.pc: libgpuemu/gpuemu.pc.in
	@mkdir -p $(@D)
	@sed -e 's|@prefix@|$(abspath .)|g' -e 's|@libdir@|$(abspath $(B)/lib)|g' \
		-e 's|@includedir@|$(abspath include)|g' -e 's|@datadir@|$(abspath .)|g' $< >$@

.PHONY: install install-libs modules_install
$(B)/lib/gpuemu.pc: libgpuemu/gpuemu.pc.in FORCE
	@mkdir -p $(@D)
	@sed -e 's|@prefix@|$(prefix)|g' -e 's|@libdir@|$(libdir)|g' \
		-e 's|@includedir@|$(includedir)|g' -e 's|@datadir@|$(datadir)|g' $< >$@

install: programs ptx install-libs
	$(Q)install -d $(DESTDIR)$(bindir) $(DESTDIR)$(datadir)/gpuemu/configs
	$(Q)install -m 755 $(PROGRAMS) $(DESTDIR)$(bindir)
	$(Q)find configs -type f -exec install -D -m 644 {} $(DESTDIR)$(datadir)/gpuemu/{} ';'
	$(Q)for f in $(wildcard examples/*.c examples/*.cu examples/*/*.c examples/*/*.py examples/*/*.conf); do \
		install -D -m 644 $$f $(DESTDIR)$(datadir)/gpuemu/$$f; done
	$(Q)for f in vecadd saxpy collatz; do \
		install -D -m 644 $(B)/ptx/$$f.ptx $(DESTDIR)$(datadir)/gpuemu/examples/$$f.ptx; done
	$(Q)for f in README.md $(wildcard docs/*.md docs/*.svg); do \
		install -D -m 644 $$f $(DESTDIR)$(docdir)/$$f; done
	$(Q)install -D -m 644 python/gpuemu.py $(DESTDIR)$(pythondir)/gpuemu.py
	$(Q)install -m 755 $(PYTHON_POLICY) $(DESTDIR)$(pythondir)
	$(Q)for f in $(wildcard man/*.[1-8]); do \
		install -D -m 644 $$f $(DESTDIR)$(mandir)/man$${f##*.}/$${f##*/}; done

install-libs: libs $(B)/lib/gpuemu.pc
	$(Q)install -d $(DESTDIR)$(libdir)/pkgconfig $(DESTDIR)$(includedir)
	$(Q)install -m 755 $(B)/lib/$(LIB_SONAME) $(DESTDIR)$(libdir)
	$(Q)ln -sf $(LIB_SONAME) $(DESTDIR)$(libdir)/libgpuemu.so
	$(Q)install -m 644 $(B)/lib/libgpuemu.a $(DESTDIR)$(libdir)
	$(Q)install -m 644 $(B)/lib/gpuemu.pc $(DESTDIR)$(libdir)/pkgconfig
	$(Q)install -d $(DESTDIR)$(libdir)/gpuemu
	$(Q)install -m 755 $(CUDART) $(DESTDIR)$(libdir)/gpuemu
	$(Q)ln -sf libcudart.so.12 $(DESTDIR)$(libdir)/gpuemu/libcudart.so
	$(Q)find cuda/include cuda/cmake -type f -exec install -D -m 644 {} $(DESTDIR)$(datadir)/gpuemu/{} ';'
	$(Q)install -m 644 include/gpuemu.h include/gpuemu_policy.h $(DESTDIR)$(includedir)
	$(Q)install -m 644 workloads/device.h $(DESTDIR)$(includedir)/gpuemu_device.h
	$(Q)[ -n "$(DESTDIR)" ] || [ "$$(id -u)" != 0 ] || ldconfig

modules_install: modules
	$(Q)$(MAKE) -C $(KDIR) M=$(abspath $(dir $(KO))) INSTALL_MOD_PATH=$(DESTDIR) modules_install
