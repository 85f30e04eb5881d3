# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What `make install` puts down is enough for a stranger: every example compiles
# against the installed header with the installed pkg-config file, shared and
# static, as C and (the header) as C++, and runs; nothing but the library's
# published symbols is visible.
. tests/lib/tap.sh

root=$PWD/build/check/install
rm -rf "$root"
tap_check 'make install' make install DESTDIR="$root"
# A newcomer's first command: nothing a file in a log, unless V=0 asks for it; the end says what to type.
rm -rf build/check/quiet
make B=build/check/quiet room-base >build/check/quiet.log 2>/dev/null
tap_check 'make is quiet' sh -c "test -e build/check/quiet/lib/rooms/base.a && grep -q '^building in' build/check/quiet.log && ! grep -q '^  CC' build/check/quiet.log"
rm -f build/check/quiet/lib/rooms/base.a
tap_check 'V=0 is not' sh -c 'make V=0 B=build/check/quiet room-base | grep -q "^  AR .*base.a$"'
tap_check 'and its end says what to type' sh -c 'make | tail -n 1 | grep -q "gpuemu run vecadd --backend uffd"'
export PKG_CONFIG_PATH=$root/usr/local/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root
export GPUEMU_BACKEND=sim
tap_check 'pkg-config finds it' pkg-config --exists --print-errors gpuemu

# The static library alone, as on a system without the shared one.
mkdir -p "$root/static"
cp "$root/usr/local/lib/libgpuemu.a" "$root/static/" || tap_not_ok 'a static library is installed'

cflags=$(pkg-config --cflags gpuemu)
libs=$(pkg-config --libs gpuemu)
static_libs=$(pkg-config --static --libs gpuemu)
for src in examples/*.c; do
	[ -e "$src" ] || { tap_not_ok 'there are examples'; break; }
	name=$(basename "$src" .c)
	# shellcheck disable=SC2086
	tap_check "$name: compiles, shared" gcc -Wall -Wextra -Werror $cflags -o "$root/$name" "$src" $libs
	tap_check "$name: runs, shared" timeout 120 env LD_LIBRARY_PATH="$root/usr/local/lib" "$root/$name"
	# shellcheck disable=SC2086
	tap_check "$name: compiles, static" gcc -Wall -Wextra -Werror $cflags -o "$root/$name-static" "$src" \
		-L"$root/static" ${static_libs//"-L$root/usr/local/lib"/}
	tap_check "$name: runs, static" timeout 120 "$root/$name-static"
	tap_check "$name: the static one needs no libgpuemu.so" \
		sh -c "! readelf -d '$root/$name-static' | grep libgpuemu.so"
done

printf '#include <gpuemu.h>\nint main() { return gpuemu_version() == 0; }\n' >"$root/header.cc"
# shellcheck disable=SC2086
tap_check 'the header is C++ too' clang-14 -x c++ -Wall -Werror -fsyntax-only $cflags "$root/header.cc"

published=$(sed -n '/global:/,/local:/s/^[ \t]*\([a-z_][a-z0-9_]*\);.*/\1/p' libgpuemu/libgpuemu.map | sort)
shared=$(nm -D --defined-only "$root/usr/local/lib/libgpuemu.so.0" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort -u)
archive=$(nm -g --defined-only "$root/usr/local/lib/libgpuemu.a" | awk 'NF == 3 { print $3 }' | sort -u)
same() { # NAME GOT
	if [ -n "$published" ] && [ "$published" = "$2" ]; then
		tap_ok "$1"
	else
		tap_not_ok "$1" "$(diff <(echo "$published") <(echo "$2"))"
	fi
}
same 'the shared library shows what it publishes' "$shared"
same 'the static library shows what it publishes' "$archive"
declared=$(grep -v inline include/gpuemu.h | sed -n 's/^[a-z].*[ *]\(gpuemu_[a-z0-9_]*\)(.*/\1/p' | sort -u)
same 'the header declares what is published' "$declared"
tap_check 'the soname' sh -c "readelf -d '$root/usr/local/lib/libgpuemu.so.0' | grep 'SONAME.*libgpuemu.so.0'"
tap_check 'the installed tool finds its files' timeout 60 "$root/usr/local/bin/gpuemu" list configs
tap_done
