# SPDX-License-Identifier: GPL-2.0
#
# vm: no-module timeout=100
#
# Without the module: kmod is refused in one line, everything else works.
. tests/lib/tap.sh

gpuemu run vecadd --backend kmod >/tmp/out 2>/tmp/err
tap_check 'kmod is refused (status 1)' test $? -eq 1
tap_check 'in one line that names /dev/gpuemu' sh -c '[ "$(wc -l </tmp/err)" -eq 1 ] && grep -q /dev/gpuemu /tmp/err'
gpuemud >/tmp/out 2>/tmp/err
tap_check 'the daemon too (status 1)' test $? -eq 1
tap_check 'the daemon names /dev/gpuemu' sh -c '[ "$(wc -l </tmp/err)" -eq 1 ] && grep -q /dev/gpuemu /tmp/err'
for verb in 'stat' 'stat --watch 1' 'stat --reset' 'events'; do
	# shellcheck disable=SC2086
	timeout 20 gpuemu $verb >/tmp/out 2>/tmp/err
	tap_check "gpuemu $verb is refused (status 1)" test $? -eq 1
	tap_check "gpuemu $verb says to load the module" sh -c '[ "$(wc -l </tmp/err)" -eq 1 ] && grep -q "load the module" /tmp/err'
done
tap_check 'sim works' gpuemu run vecadd --backend sim
tap_check 'and is what is taken' sh -c 'gpuemu run vecadd --json /tmp/j && grep -q "\"backend\": *\"sim\"" /tmp/j'
tap_check 'an unprivileged user runs it' /usr/bin/setpriv --reuid 65534 --clear-groups "$(command -v gpuemu)" run vecadd --backend sim
tap_done
