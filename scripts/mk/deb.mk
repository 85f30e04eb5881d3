# SPDX-License-Identifier: GPL-2.0
#
# make deb: the Debian packages, built as debian/rules says in a copy of the sources, because
# dpkg-buildpackage puts what it makes beside the folder that it builds in.
# DEB_BUILD_OPTIONS= adds the packages of debug symbols.

DEB_SRC := COPYING Kbuild Makefile README.md configs cuda daemon debian docs examples include kmod \
	libgpuemu man policy-host python scripts tools workloads
DEB_COPY := $(B)/deb/src/gpuemu

.PHONY: deb
deb: $(B)/deps-build.stamp $(B)/deps-deb.stamp
	$(Q)rm -rf $(B)/deb
	$(Q)mkdir -p $(DEB_COPY)
	$(Q)cp -r $(DEB_SRC) $(DEB_COPY)
	$(Q)cd $(DEB_COPY) && env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS \
		DEB_BUILD_OPTIONS="$${DEB_BUILD_OPTIONS-noautodbgsym}" dpkg-buildpackage -b -uc -us \
		-j$$(nproc) >../build.log 2>&1 || { tail -n 30 ../build.log; exit 1; }
	$(Q)mv $(B)/deb/src/*.deb $(B)/deb/src/build.log $(B)/deb/
	$(Q)rm -rf $(B)/deb/src
	@ls $(B)/deb/*.deb
