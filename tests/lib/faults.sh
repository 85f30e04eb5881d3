# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# What a file of --faults says, for checks here and in the VM.

# adds_up FILE: its far faults; how many whose stages are not their latency; the latency of all, ns.
adds_up() {
	awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) { if ($i == "queued_ns") a = i; if ($i == "replay_ns") b = i; if ($i == "latency_ns") l = i } }
		NR > 1 { s = 0; for (i = a; i <= b; i++) s += $i; if (!l || s != $l) bad++; all += $l } END { printf "%d %d %.0f\n", NR - 1, bad, all }' "$1"
}
