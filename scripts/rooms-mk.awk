# SPDX-License-Identifier: GPL-2.0
#
# Turns scripts/rooms.txt into make variables: ROOMS in the table's order,
# CLOSURE_<room> with the room and everything it may know, and CLOSURE_ALL, both
# in link order (a room stands before the rooms it uses). Called by engine.mk.

/^[ \t]*(#|$)/ { next }
{
	room = $1
	sub(/:$/, "", room)
	if (room ~ /\/$/)
		next
	order[++n] = room
	knows[room, room] = 1
	for (i = 2; i <= NF; i++)
		for (j = 1; j <= n; j++)
			if (knows[$i, order[j]])
				knows[room, order[j]] = 1
}
END {
	line = "ROOMS :="
	for (i = 1; i <= n; i++)
		line = line " " order[i]
	print line
	line = "CLOSURE_ALL :="
	for (i = n; i >= 1; i--)
		line = line " " order[i]
	print line
	for (i = 1; i <= n; i++) {
		line = "CLOSURE_" order[i] " :="
		for (j = i; j >= 1; j--)
			if (knows[order[i], order[j]])
				line = line " " order[j]
		print line
	}
}
