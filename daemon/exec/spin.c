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
 * the warp. Lanes that come to a barrier or to an instruction of the whole warp wait there for
 * those that can come.
 *
 * A function that some lanes have left lets these wait until all have: they are in the caller.
 */
#include "exec/private.h"

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

static uint32_t first_entry(const struct exec_warp *warp)
{
	return warp->calls ? warp->frames[warp->calls - 1].base + 1 : 0;
}

static uint32_t alive(const struct exec_warp *warp)
{
	return ~warp->exited & (warp->calls ? warp->frames[warp->calls - 1].lanes : ALL_LANES);
}

/* Lanes that come here wait for the others, which must get their turn. */
static bool is_sync(const struct exec_warp *warp, uint32_t pc)
{
	const struct exec_program *program = program_of(warp);

	return pc < program->kernel->ninsns && program->ops[pc].sync;
}

static void keep_running(struct exec_warp *warp)
{
	struct exec_stack_entry *top = &warp->stack[warp->depth - 1];

	top->pc = warp->pc;
	top->mask = warp->mask;
}

/* The lowest entry of the chains that are beside that of entry i; *lanes: those of all of them. */
static uint32_t lowest_beside(const struct exec_warp *warp, uint32_t i, uint32_t *lanes)
{
	const struct exec_stack_entry *s = warp->stack;
	uint32_t base = first_entry(warp), reconv = s[i].reconv;

	*lanes = s[i].mask;
	while (i > base && s[i - 1].pc != reconv) {
		i--;
		if (s[i].reconv == reconv)
			*lanes |= s[i].mask;
	}
	return i;
}

static void run_top(struct exec_warp *warp)
{
	warp->split = 1;
	stack_load_top(warp);
	if (!warp->mask)
		stack_reconverge(warp);
}

/* The lanes that wait below chains [from, depth) go on at once. */
static void release_waiting(struct exec_warp *warp, uint32_t from, uint32_t lanes)
{
	struct exec_stack_entry *s = warp->stack, waiting = s[from - 1];
	uint32_t i;

	for (i = from; i < warp->depth; i++) {
		s[i - 1] = s[i];
		if (s[i - 1].reconv == waiting.pc)
			s[i - 1].reconv = waiting.reconv;
	}
	waiting.mask = lanes;
	s[warp->depth - 1] = waiting;
	run_top(warp);
}

/* The chain that begins at i goes below those from `lowest` on. */
static void rotate(struct exec_warp *warp, uint32_t lowest, uint32_t i)
{
	struct exec_stack_entry *s = warp->stack, entry;
	uint32_t n = warp->depth - i, k, at;

	for (k = 0; k < n; k++) {
		entry = s[i + k];
		for (at = i + k; at > lowest + k; at--)
			s[at] = s[at - 1];
		s[lowest + k] = entry;
	}
	run_top(warp);
}

bool spin_yield(struct exec_warp *warp)
{
	struct exec_stack_entry *s = warp->stack;
	uint32_t base = first_entry(warp), i = warp->depth - 1, lowest, lanes, waiting;

	keep_running(warp);
	for (;;) {
		lowest = lowest_beside(warp, i, &lanes);
		if (lowest > base) {
			waiting = s[lowest - 1].mask & ~lanes & alive(warp);
			if (waiting && !is_sync(warp, s[lowest - 1].pc)) {
				release_waiting(warp, lowest, waiting);
				return true;
			}
		}
		if (lowest < i && !is_sync(warp, s[i - 1].pc)) {
			rotate(warp, lowest, i);
			return true;
		}
		if (lowest == base)
			return false;
		i = lowest - 1;
	}
}

bool spin_gather(struct exec_warp *warp)
{
	struct exec_stack_entry *s = warp->stack;
	uint32_t base = first_entry(warp), i = warp->depth - 1, lowest, lanes, k;

	keep_running(warp);
	for (;;) {
		lowest = lowest_beside(warp, i, &lanes);
		/* Lanes that are here already do it with us. */
		for (k = i; k-- > lowest;) {
			bool alone = s[k].reconv == s[i].reconv &&
				     s[k + 1].reconv == s[i].reconv;

			if (i != warp->depth - 1 || !alone || s[k].pc != warp->pc)
				continue;
			s[i].mask |= s[k].mask;
			for (uint32_t at = k; at < i; at++)
				s[at] = s[at + 1];
			i--;
			warp->depth--;
		}
		stack_load_top(warp);
		if (lowest < i && !is_sync(warp, s[i - 1].pc)) {
			rotate(warp, lowest, i);
			return true;
		}
		if (lowest == base)
			break;
		i = lowest - 1;
	}
	warp->split = warp->mask != alive(warp);
	return false;
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
