#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Extracts the kselftest headers from Debian's kernel source into DIR. The tar
# is long: it takes some twenty seconds, once.
set -eu
dir=$1
tar=/usr/src/linux-source-6.1.tar.xz
[ -e "$tar" ] || { echo "kselftest-headers: no $tar; run scripts/deps.sh check" >&2; exit 1; }
tmp=$dir.tmp
rm -rf "$tmp"
mkdir -p "$tmp" "$dir"
sub=linux-source-6.1/tools/testing/selftests
# Both files are near each other; --occurrence lets tar stop after the last.
tar -C "$tmp" --strip-components=4 --occurrence=1 -xf "$tar" \
	$sub/kselftest.h $sub/kselftest_harness.h
mv "$tmp"/kselftest.h "$tmp"/kselftest_harness.h "$dir"
rm -rf "$tmp"
touch "$dir"/*.h
