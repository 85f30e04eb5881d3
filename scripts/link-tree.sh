#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Makes DIR a tree of links to the given files and folders of the source, so
# that kbuild can build there and the source stays clean. Every link is made anew:
# in a source that was copied or moved, those that are there lead to the old place.
# Called by scripts/mk/module.mk and scripts/check-module.sh.
set -eu
dir=$1
shift
src=$(pwd)
mkdir -p "$dir"
find "$dir" -type l -delete
find "$@" -type f ! -name '*.o' ! -name '.*.cmd' | while read -r f; do
	mkdir -p "$dir/$(dirname "$f")"
	ln -sf "$src/$f" "$dir/$f"
done
