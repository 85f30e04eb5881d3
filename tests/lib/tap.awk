# SPDX-License-Identifier: GPL-2.0
#
# Reads a program's TAP and prints a row for each case, tab separated: ok, fail
# or skip, the case's name, why. The program's end is judged too: no plan, a plan
# that was not kept, a bad exit status, a problem the caller saw: each is a
# failed case, so that no program passes by falling silent.
# awk -v status=N -v problem=TEXT -f tap.awk FILE. Called by tests/lib/tap.sh.

BEGIN { FS = "\n"; planned = -1 }

function clean(s) { gsub(/[\t\r]/, " ", s); return s }
function row(kind, name, why) {
	printf "%s\t%s\t%s\n", kind, clean(name), clean(why)
	seen[kind]++
}
function flush_notes(    i) {
	for (i = (notes > 120 ? notes - 120 : 0) + 1; i <= notes; i++)
		printf "diag\t%s\t\n", clean(note[i])
}

{ sub(/\r$/, "") }

/^1\.\.[0-9]+/ {
	n = $0
	sub(/^1\.\./, "", n)
	planned = (planned < 0 ? 0 : planned) + (n + 0)
	if (n + 0 == 0 && match($0, /# *[Ss][Kk][Ii][Pp]/)) {
		row("skip", "all", substr($0, RSTART + RLENGTH + 1))
		all_skipped = 1
	}
	next
}

/^(not )?ok([ \t]|$)/ {
	run++
	was_bad = bad
	bad = /^not /
	# kselftest's notes stand before a result, cmocka's and ours after it.
	if (was_bad) {
		flush_notes()
		notes = 0
	}
	name = $0
	sub(/^(not )?ok[ \t]*[0-9]*[ \t]*(- )?/, "", name)
	if (match(name, /#[ \t]*[Ss][Kk][Ii][Pp]/)) {
		why = substr(name, RSTART + RLENGTH)
		name = substr(name, 1, RSTART - 1)
		sub(/^[ \t]+/, "", why)
		sub(/[ \t]+$/, "", name)
		row("skip", name == "" ? "case " run : name, why == "" ? "no reason given" : why)
	} else if (bad) {
		row("fail", name == "" ? "case " run : name, "")
		flush_notes()
	} else {
		row("ok", name == "" ? "case " run : name, "")
	}
	notes = 0
	next
}

/^Bail out!/ { bail = $0 }
/^TAP version/ { next }
{ sub(/^# ?/, ""); note[++notes] = $0 }

END {
	if (bad) {
		flush_notes()
		notes = 0
	}
	if (problem != "")
		why = problem
	else if (bail != "")
		why = bail
	else if (planned < 0)
		why = "it printed no plan (exit status " status ")"
	else if (planned != run + 0)
		why = "planned " planned " cases, ran " (run + 0) " (exit status " status ")"
	else if (planned == 0 && !all_skipped)
		why = "it planned no case"
	else if (status != 0 && !seen["fail"] && !(status == 4 && seen["skip"]))
		why = "exit status " status
	else
		exit
	row("fail", "runs to its end", why)
	flush_notes()
}
