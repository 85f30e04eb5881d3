# SPDX-License-Identifier: GPL-2.0
#
# make install: programs, libraries, headers, pkg-config file, configurations,
# examples of policies, man pages, and the module where `depmod` finds it (modules_install).

.PHONY: install install-libs modules_install
$(B)/lib/gpuemu.pc: libgpuemu/gpuemu.pc.in FORCE
	@mkdir -p $(@D)
	@sed -e 's|@prefix@|$(prefix)|g' -e 's|@libdir@|$(libdir)|g' \
		-e 's|@includedir@|$(includedir)|g' -e 's|@datadir@|$(datadir)|g' $< >$@

install: programs install-libs
	$(Q)install -d $(DESTDIR)$(bindir) $(DESTDIR)$(datadir)/gpuemu/configs
	$(Q)install -m 755 $(PROGRAMS) $(DESTDIR)$(bindir)
	$(Q)find configs -type f -exec install -D -m 644 {} $(DESTDIR)$(datadir)/gpuemu/{} ';'
	$(Q)for f in $(wildcard examples/policy/*.c); do \
		install -D -m 644 $$f $(DESTDIR)$(datadir)/gpuemu/$$f; done
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
	$(Q)find cuda/include -type f -exec install -D -m 644 {} $(DESTDIR)$(datadir)/gpuemu/{} ';'
	$(Q)install -m 644 include/gpuemu.h include/gpuemu_policy.h $(DESTDIR)$(includedir)

modules_install: modules
	$(Q)$(MAKE) -C $(KDIR) M=$(abspath $(dir $(KO))) INSTALL_MOD_PATH=$(DESTDIR) modules_install
