#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The program that the README shows is the one that is compiled and run by
# tests/check.d/55-install.sh.
cd "$(dirname "$0")/.." || exit 1
awk '/^```c$/ { show = 1; next } /^```$/ { show = 0 } show' README.md | diff - examples/vecadd.c
