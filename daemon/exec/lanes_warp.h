/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The lanes of what looks at other lanes: vote, match, redux, shfl,
 * activemask; and mov between registers and their pieces. Included by lanes.h
 * only, once for each instruction set.
 *
 * The lanes that are here take part: a member mask names no others that could
 * still come, because diverged lanes run one group after the other. Lanes may
 * name different members in one instruction (two halves of a warp, each with
 * its own mask); those with the same mask are one group.
 */

/* The lanes of the first group left in *rest, which it is taken from. */
static uint32_t next_group(const uint32_t *members, uint32_t *rest)
{
	uint32_t first = members[__builtin_ctz(*rest)], group = 0;

	LANES
		group |= members[i] == first ? lane_bit[i] : 0;
	group &= *rest;
	*rest &= ~group;
	return group;
}

/*
 * For the statement that follows, `group` is the lanes that write and `lanes`
 * those of their members that are here.
 */
#define FOR_GROUPS(k) \
	const uint32_t *members = row32(arena, op->src[k]); \
	uint32_t rest = mask, group, lanes; \
	while (rest && (group = next_group(members, &rest), \
			lanes = members[__builtin_ctz(group)] & mask, true))

static void activemask(uint8_t *arena, uint32_t row, uint32_t value, uint32_t mask)
{
	uint32_t *d = row32(arena, row);

	LANES
		d[i] = mask & lane_bit[i] ? value : d[i];
}

static void lanes_activemask(uint8_t *arena, const struct exec_op *op, uint32_t mask)
{
	activemask(arena, op->dst[0], mask, mask);
}

#define VOTE(name, expr) \
static void lanes_vote_##name(uint8_t *arena, const struct exec_op *op, uint32_t mask) \
{ \
	uint32_t votes = pred_src(arena, op, 0) & mask, result = 0; \
	FOR_GROUPS(1) { \
		uint32_t p = votes & lanes; \
		result |= expr ? group : 0; \
	} \
	set_pred(arena, op->dst[0], result, mask); \
}
VOTE(all, (p == lanes))
VOTE(any, (p != 0))
VOTE(uni, (p == lanes || p == 0))

static void lanes_ballot(uint8_t *arena, const struct exec_op *op, uint32_t mask)
{
	uint32_t votes = pred_src(arena, op, 0) & mask;

	FOR_GROUPS(1)
		activemask(arena, op->dst[0], votes & lanes, group);
}

/* Which lanes have the value of `lane`. */
#define MATCH(T) \
static uint32_t equal_##T(const ROW_##T *a, unsigned int lane) \
{ \
	ROW_##T value = a[lane]; \
	uint32_t equal = 0; \
	LANES \
		equal |= a[i] == value ? lane_bit[i] : 0; \
	return equal; \
} \
static void lanes_match_any_##T(uint8_t *arena, const struct exec_op *op, uint32_t mask) \
{ \
	const ROW_##T *a = ROW_OF(T, op->src[0]); \
	uint32_t result[WARP_LANES] = { 0 }, *d = row32(arena, op->dst[0]); \
	FOR_GROUPS(1) { \
		uint32_t left = group; \
		while (left) { \
			uint32_t equal = equal_##T(a, __builtin_ctz(left)); \
			uint32_t same = equal & left, value = equal & lanes; \
			LANES \
				result[i] = same & lane_bit[i] ? value : result[i]; \
			left &= ~same; \
		} \
	} \
	LANES \
		d[i] = mask & lane_bit[i] ? result[i] : d[i]; \
} \
static void lanes_match_all_##T(uint8_t *arena, const struct exec_op *op, uint32_t mask) \
{ \
	const ROW_##T *a = ROW_OF(T, op->src[0]); \
	uint32_t result[WARP_LANES] = { 0 }, *d = row32(arena, op->dst[0]), same = 0; \
	FOR_GROUPS(1) { \
		uint32_t equal = equal_##T(a, __builtin_ctz(group)); \
		uint32_t value = (equal & lanes) == lanes ? lanes : 0; \
		same |= value ? group : 0; \
		LANES \
			result[i] = group & lane_bit[i] ? value : result[i]; \
	} \
	LANES \
		d[i] = mask & lane_bit[i] ? result[i] : d[i]; \
	set_pred(arena, op->dst[1], same, mask); \
}
MATCH(u32)
MATCH(u64)

#define REDUX(name, T, start, expr) \
static void lanes_redux_##name##_##T(uint8_t *arena, const struct exec_op *op, uint32_t mask) \
{ \
	const uint32_t *a = row32(arena, op->src[0]); \
	uint32_t result[WARP_LANES] = { 0 }, *d = row32(arena, op->dst[0]); \
	FOR_GROUPS(1) { \
		C_##T r = start; \
		LANES { \
			C_##T x = lanes & lane_bit[i] ? (C_##T)a[i] : start; \
			r = expr; \
		} \
		LANES \
			result[i] = group & lane_bit[i] ? (uint32_t)r : result[i]; \
	} \
	LANES \
		d[i] = mask & lane_bit[i] ? result[i] : d[i]; \
}
REDUX(add, u32, 0, r + x)
REDUX(and, u32, UINT32_MAX, r & x)
REDUX(or, u32, 0, r | x)
REDUX(xor, u32, 0, r ^ x)
REDUX(min, u32, UINT32_MAX, x < r ? x : r)
REDUX(max, u32, 0, x > r ? x : r)
REDUX(min, s32, INT32_MAX, x < r ? x : r)
REDUX(max, s32, INT32_MIN, x > r ? x : r)

/*
 * PTX ISA, shfl: b is a lane or a distance, c holds the clamp in bits 0-4 and the
 * segment mask in bits 8-12. A lane that is no member gives 0, as on a GPU; without members
 * (before .sync) it gives what its register holds.
 */
#define SHUFFLE(name, from_, in_range) \
static void lanes_shfl_##name(uint8_t *arena, const struct exec_op *op, uint32_t mask) \
{ \
	const uint32_t *a = row32(arena, op->src[0]), *b = row32(arena, op->src[1]); \
	const uint32_t *c = row32(arena, op->src[2]); \
	uint32_t result[WARP_LANES] = { 0 }, *d = row32(arena, op->dst[0]), valid = 0; \
	const uint32_t *members = row32(arena, op->src[3]); \
	int from[WARP_LANES]; \
	LANES { \
		int lane = i, value = b[i] & 31, segment = c[i] >> 8 & 31; \
		int least = lane & segment, most = least | (c[i] & 31 & ~segment); \
		int source = from_; \
		bool ok = in_range; \
		from[i] = ok ? source : lane; \
		valid |= ok ? lane_bit[i] : 0; \
	} \
	LANES \
		result[i] = a[from[i] & 31] & (0 - (members[i] >> (from[i] & 31) & 1)); \
	if (op->dst[0] != NO_ROW) { \
		LANES \
			d[i] = mask & lane_bit[i] ? result[i] : d[i]; \
	} \
	set_pred(arena, op->dst[1], valid, mask); \
}
SHUFFLE(up, lane - value, source >= most)
SHUFFLE(down, lane + value, source <= most)
SHUFFLE(bfly, lane ^ value, source <= most)
SHUFFLE(idx, least | (value & ~segment), source <= most)

/* --- pieces of registers -------------------------------------------------------------- */

/* mov d, {a, b}: the first element is the least significant. */
#define PACK(TD, n, bits) \
static void lanes_pack##n##_##TD(uint8_t *arena, const struct exec_op *op, uint32_t mask) \
{ \
	ROW_##TD *d = ROW_OF(TD, op->dst[0]); \
	LANES { \
		ROW_##TD v = 0; \
		for (unsigned int k = 0; k < n; k++) \
			v |= (ROW_##TD)(row32(arena, op->src[k])[i] & \
					(bits < 32 ? (1u << bits % 32) - 1 : ~0u)) << k * bits; \
		d[i] = mask & lane_bit[i] ? v : d[i]; \
	} \
}
PACK(u16, 2, 8)
PACK(u32, 2, 16)
PACK(u32, 4, 8)
PACK(u64, 2, 32)
PACK(u64, 4, 16)

/* A destination may be the source's row: all of it is read before. */
#define UNPACK(TA, n, bits) \
static void lanes_unpack##n##_##TA(uint8_t *arena, const struct exec_op *op, uint32_t mask) \
{ \
	const ROW_##TA *a = ROW_OF(TA, op->src[0]); \
	ROW_##TA copy[WARP_LANES]; \
	__builtin_memcpy(copy, a, sizeof(copy)); \
	for (unsigned int k = 0; k < n; k++) { \
		uint32_t *d = row32(arena, op->dst[k]); \
		if (op->dst[k] == NO_ROW) \
			continue; \
		LANES { \
			uint32_t v = (uint32_t)(copy[i] >> k * bits); \
			if (bits < 32) \
				v &= (1u << bits % 32) - 1; \
			d[i] = mask & lane_bit[i] ? v : d[i]; \
		} \
	} \
}
UNPACK(u16, 2, 8)
UNPACK(u32, 2, 16)
UNPACK(u32, 4, 8)
UNPACK(u64, 2, 32)
UNPACK(u64, 4, 16)

/* Rows of the table. */
#define WARP_ROWS \
	ROW(mov, SEL_PACK2, b16, NONE, lanes_pack2_u16) \
	ROW(mov, SEL_PACK2, b32, NONE, lanes_pack2_u32) \
	ROW(mov, SEL_PACK4, b32, NONE, lanes_pack4_u32) \
	ROW(mov, SEL_PACK2, b64, NONE, lanes_pack2_u64) \
	ROW(mov, SEL_PACK4, b64, NONE, lanes_pack4_u64) \
	ROW(mov, SEL_UNPACK2, b16, NONE, lanes_unpack2_u16) \
	ROW(mov, SEL_UNPACK2, b32, NONE, lanes_unpack2_u32) \
	ROW(mov, SEL_UNPACK4, b32, NONE, lanes_unpack4_u32) \
	ROW(mov, SEL_UNPACK2, b64, NONE, lanes_unpack2_u64) \
	ROW(mov, SEL_UNPACK4, b64, NONE, lanes_unpack4_u64) \
	ROW(activemask, SEL_NONE, b32, NONE, lanes_activemask) \
	ROW(vote, PTX_VOTE_ALL, pred, NONE, lanes_vote_all) \
	ROW(vote, PTX_VOTE_ANY, pred, NONE, lanes_vote_any) \
	ROW(vote, PTX_VOTE_UNI, pred, NONE, lanes_vote_uni) \
	ROW(vote, PTX_VOTE_BALLOT, b32, NONE, lanes_ballot) \
	ROW(match, PTX_MATCH_ANY, b32, NONE, lanes_match_any_u32) \
	ROW(match, PTX_MATCH_ANY, b64, NONE, lanes_match_any_u64) \
	ROW(match, PTX_MATCH_ALL, b32, NONE, lanes_match_all_u32) \
	ROW(match, PTX_MATCH_ALL, b64, NONE, lanes_match_all_u64) \
	ROW(redux, PTX_ATOM_ADD, u32, NONE, lanes_redux_add_u32) \
	ROW(redux, PTX_ATOM_ADD, s32, NONE, lanes_redux_add_u32) \
	ROW(redux, PTX_ATOM_MIN, u32, NONE, lanes_redux_min_u32) \
	ROW(redux, PTX_ATOM_MIN, s32, NONE, lanes_redux_min_s32) \
	ROW(redux, PTX_ATOM_MAX, u32, NONE, lanes_redux_max_u32) \
	ROW(redux, PTX_ATOM_MAX, s32, NONE, lanes_redux_max_s32) \
	ROW(redux, PTX_ATOM_AND, b32, NONE, lanes_redux_and_u32) \
	ROW(redux, PTX_ATOM_OR, b32, NONE, lanes_redux_or_u32) \
	ROW(redux, PTX_ATOM_XOR, b32, NONE, lanes_redux_xor_u32) \
	ROW(shfl, PTX_SHFL_UP, b32, NONE, lanes_shfl_up) \
	ROW(shfl, PTX_SHFL_DOWN, b32, NONE, lanes_shfl_down) \
	ROW(shfl, PTX_SHFL_BFLY, b32, NONE, lanes_shfl_bfly) \
	ROW(shfl, PTX_SHFL_IDX, b32, NONE, lanes_shfl_idx)
