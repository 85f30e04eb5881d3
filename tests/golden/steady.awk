# SPDX-License-Identifier: GPL-2.0
#
# What a report says of the model, without what it says of the host: the host's time,
# kernel and folders become `-`. Numbers and names stay as they were written, byte for byte.
# JSON is laid out for diffs: an object or array of plain values is one line, and so
# are a distribution's buckets; an event of a trace is a line. -v folder=F: where the run wrote.
function host(s,    at) {
	sub(/"host_seconds": *[0-9.eE+-]+/, "\"host_seconds\": \"-\"", s)
	sub(/"host": *{[^}]*}/, "\"host\": \"-\"", s)
	sub(/"ptx_sha256": *"[0-9a-f]*"/, "\"ptx_sha256\": \"-\"", s)
	sub(/"program_sha256": *"[0-9a-f]*"/, "\"program_sha256\": \"-\"", s)
	sub(/ instructions in [0-9.]+ s, [0-9.]+ million/, " instructions in - s, - million", s)
	sub(/"--details", /, "", s)
	sub(/, [0-9.]+ million thread/, ", - million thread", s)
	sub(/ took [0-9.]+ s/, " took - s", s)
	while (folder != "" && (at = index(s, folder)) > 0)
		s = substr(s, 1, at - 1) "-" substr(s, at + length(folder))
	return s
}

# How far a study is, which a slow host is told after a while.
/^gpuemu [a-z]+: [0-9]+ of [0-9]+ runs, [0-9]+%/ { next }
{
	gsub(/},{"ph"/, "},\n{\"ph\"")
	line[++n] = $0
}

# A bracket closes: join its lines if they hold no bracket, or only buckets.
/^ *[]}],?$/ {
	for (o = n - 1; o > 0 && line[o] !~ /[[{]$/; o--)
		;
	plain = o > 0
	for (i = o + 1; i < n; i++)
		if (line[i] ~ /[[{]/ && line[o] !~ /"buckets": \[$/)
			plain = 0
	if (plain) {
		joined = line[o]
		for (i = o + 1; i <= n; i++) {
			part = line[i]
			sub(/^ +/, "", part)
			joined = joined (i == o + 1 || i == n ? "" : " ") part
		}
		line[n = o] = joined
	}
}

END {
	for (i = 1; i <= n; i++)
		print host(line[i])
}
