// SPDX-License-Identifier: GPL-2.0
/*
 * Lanes of one warp that wait for each other, as sm_70 and newer lets them (independent thread
 * scheduling): `while (atomicCAS(...));` ends. When a warp's running lanes come back to the same
 * branch with the same registers, they wait for something. Then other lanes of the function go
 * on: those that wait where the running ones would meet them, or a part of the warp beside them.
 * Until then, and for kernels that do not spin, the stack is what stack.c says. warp.c and pack.c
 * call it.
 *
 * On the stack, chains of entries with one reconvergence point are beside each other: the lowest
 * entry of each has that point, and the entry below them waits there. When the waiting entry goes
 * on, it becomes the topmost chain, and the others' point moves to where it would meet the rest of
 * the warp. chains.c moves them. Lanes that come to a barrier or to an
 * instruction of the whole warp wait there for those that can come (sync.c).
 *
 * A function that some lanes have left lets these wait until all have: they are in the caller.
 */
#include "exec/chains.h"

/* Times round a loop until its registers are looked at; then twice as many each time. */
#define FIRST_LOOK	32u
#define LAST_LOOK	(1u << 20)
/* The most that another way back begins with: what was watched before may have been no waiting. */
#define NEXT_LOOK	(1u << 6)
/*
 * The watch goes to another loop after so many other ways back without the one that it watches. A
 * loop that may be around one whose registers change gets LAST_PATIENCE. Any other loop begins with
 * FIRST_PATIENCE, gets four times the other ways back that were between two of its own, and
 * twice as many when that was too few. pack.c does not tell of all ways back, so their number
 * varies.
 */
#define FIRST_PATIENCE	32u
#define LAST_PATIENCE	4096u

/*
 * Waits at an instruction of the warp for lanes that it names and that are not at such an
 * instruction either. A lane that may come from where others stand gets its turn when these do.
 */
static bool waits(const struct exec_warp *warp, const struct exec_stack_entry *entry)
{
	const struct exec_stack_entry *s = warp->stack;
	uint32_t missing, i;

	if (!sync_stands(warp, entry))
		return false;
	missing = sync_members(warp, entry->pc, entry->mask) & ~entry->mask & spin_alive(warp);
	for (i = spin_first_entry(warp); i < warp->depth; i++) {
		if (sync_stands(warp, &s[i]))
			missing &= ~s[i].mask;
	}
	return missing;
}

bool spin_yield(struct exec_warp *warp)
{
	struct exec_stack_entry *s = warp->stack;
	uint32_t base = spin_first_entry(warp), i = warp->depth - 1, lowest, lanes, waiting;

	spin_keep(warp);
	for (;;) {
		lowest = spin_lowest(warp, i, &lanes);
		if (lowest > base) {
			waiting = s[lowest - 1].mask & ~lanes & spin_alive(warp);
			if (waiting && !sync_stands(warp, &s[lowest - 1])) {
				spin_release(warp, lowest, waiting);
				return true;
			}
		}
		if (lowest < i && !waits(warp, &s[i - 1])) {
			spin_rotate(warp, lowest, i);
			return true;
		}
		if (lowest == base)
			return false;
		i = lowest - 1;
	}
}

static uint64_t registers(const struct exec_warp *warp)
{
	const uint64_t *word = (const uint64_t *)warp->arena;
	uint64_t hash = 0x9e3779b97f4a7c15ull;

	for (uint32_t i = 0; i < program_of(warp)->clear_bytes / sizeof(*word); i++)
		hash = (hash ^ word[i]) * 0xff51afd7ed558ccdull;
	return hash ^ hash >> 32;
}

static void watch(struct exec_spin *spin, uint32_t branch, uint32_t mask, uint32_t look,
		  uint32_t patience)
{
	*spin = (struct exec_spin){
		.branch = branch, .mask = mask, .look = look, .patience = patience,
	};
}

/*
 * One way back is watched at a time. Lanes may wait in a loop around another one: then the inner
 * loop's registers change and the outer loop's do not. So the watch goes from a way back whose
 * registers have changed to the next one that is met, and from one that is not met any more to
 * another.
 */
static void met_other(struct exec_spin *spin, uint32_t branch, uint32_t mask)
{
	if (spin->changes)
		watch(spin, branch, mask, MIN(spin->look, NEXT_LOOK), LAST_PATIENCE);
	else if (!spin->mask)
		watch(spin, branch, mask, FIRST_LOOK, FIRST_PATIENCE);
	else if (++spin->others > spin->patience)
		watch(spin, branch, mask, FIRST_LOOK,
		      spin->patience < LAST_PATIENCE ? 2 * spin->patience : FIRST_PATIENCE);
}

bool spin_watch(struct exec_warp *warp, uint32_t branch)
{
	struct exec_spin *spin = &warp->spin;
	uint64_t hash;

	if (spin->branch != branch || spin->mask != warp->mask) {
		met_other(spin, branch, warp->mask);
		return false;
	}
	if (spin->patience < LAST_PATIENCE)
		spin->patience = MAX(FIRST_PATIENCE, MAX(spin->patience / 2, 4 * spin->others));
	spin->others = 0;
	if (++spin->rounds < spin->look)
		return false;
	hash = registers(warp);
	if (spin->rounds == spin->look) {
		spin->hash = hash;
		return false;
	}
	spin->rounds = 0;
	spin->changes = hash != spin->hash;
	if (spin->changes) {
		spin->look = MIN(2 * spin->look, LAST_LOOK);
		return false;
	}
	spin->look = FIRST_LOOK;
	return spin_yield(warp);
}
