// SPDX-License-Identifier: GPL-2.0
/*
 * bh: bodies that attract each other, by an octree whose far cells act as one (Barnes and Hut,
 * Nature 324, 1986; on GPUs Burtscher and Pingali, GPU Computing Gems, 2011; LonestarGPU). A step
 * is a launch each to insert the bodies with locks, to sum the cells up from the leaves, to walk
 * the tree for each body with a stack, and to move the bodies.
 */
#define BH_DEEP		32	/* levels of the tree at most */
#define BH_HALF		1.0f	/* of the root's edge: bodies stay within */
#define BH_THETA2	0.25f	/* a cell this far, in its own size, acts as one; squared */
#define BH_SOFT		0.0025f	/* squared distance that is added */
#define BH_EMPTY	0xffffffffu
#define BH_LOCKED	0xfffffffeu

#include "both.h"

struct body {
	float x, y, z, mass;
};

/* The body's part of the cell around (x, y, z): one of eight. */
BOTH uint32_t bh_part(const struct body *b, float x, float y, float z)
{
	return (b->x >= x) | (uint32_t)(b->y >= y) << 1 | (uint32_t)(b->z >= z) << 2;
}

/* The middle of that part, where half is half the edge of the part. */
BOTH float bh_middle(float x, uint32_t upper, float half)
{
	return upper ? x + half : x - half;
}

/* Adds the pull of a mass at `at` on b to the acceleration. */
BOTH void bh_pull(struct body *a, const struct body *b, const struct body *at, float squared)
{
	float d2 = squared + BH_SOFT, inverse = 1 / both_sqrt(d2);
	float pull = at->mass * inverse * inverse * inverse;

	a->x = fmaf(pull, at->x - b->x, a->x);
	a->y = fmaf(pull, at->y - b->y, a->y);
	a->z = fmaf(pull, at->z - b->z, a->z);
}

BOTH float bh_squared(const struct body *a, const struct body *b)
{
	float x = a->x - b->x, y = a->y - b->y, z = a->z - b->z;

	return fmaf(x, x, fmaf(y, y, z * z));
}

/* Adds a child to a cell's sum of mass and of mass times place. */
BOTH void bh_add(struct body *sum, const struct body *child)
{
	sum->x = fmaf(child->mass, child->x, sum->x);
	sum->y = fmaf(child->mass, child->y, sum->y);
	sum->z = fmaf(child->mass, child->z, sum->z);
	sum->mass += child->mass;
}

BOTH struct body bh_centre(struct body sum)
{
	return (struct body){ sum.x / sum.mass, sum.y / sum.mass, sum.z / sum.mass, sum.mass };
}

/* A step of time, which keeps a body in the root's cell: it turns round at its sides. */
BOTH void bh_move(float *x, float *v, float a, float dt)
{
	float speed = fmaf(a, dt, *v), to = fmaf(speed, dt, *x);

	if (to > 0.99f || to < -0.99f) {
		speed = -speed;
		to = *x;
	}
	*v = speed;
	*x = to;
}

#ifdef GPUEMU_DEVICE

INLINE uint32_t atomicCAS(uint32_t *p, uint32_t from, uint32_t to)
{
	__atomic_compare_exchange_n(p, &from, to, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	return from;
}

INLINE void fence(void)
{
	asm volatile("membar.gl;" ::: "memory");
}

/* Nodes below n are bodies, the others cells; cells[0], the root, is node n. */
KERNEL bh_clear(uint32_t *children, float *masses, uint32_t *used, uint32_t cells)
{
	uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < 8 * cells)
		children[i] = BH_EMPTY;
	if (i < cells)
		masses[i] = -1;
	if (i == 0)
		*used = 1;
}

/*
 * A thread a body. It goes down to where the body belongs, locks that place, and puts the body
 * there, or, where another one is, cells until the two part. A thread that finds a lock tries
 * again.
 */
KERNEL bh_build(const struct body *bodies, uint32_t n, volatile uint32_t *children, uint32_t *used,
		uint32_t cells)
{
	uint32_t i = blockIdx.x * blockDim.x + threadIdx.x, cell = 0, part, child;
	float x = 0, y = 0, z = 0, half = BH_HALF;
	bool waits = i < n;
	struct body b;

	if (waits)
		b = bodies[i];
	while (waits) {
		part = bh_part(&b, x, y, z);
		child = children[8 * cell + part];
		while (child >= n && child < BH_LOCKED) {
			cell = child - n;
			half *= 0.5f;
			x = bh_middle(x, part & 1, half);
			y = bh_middle(y, part & 2, half);
			z = bh_middle(z, part & 4, half);
			part = bh_part(&b, x, y, z);
			child = children[8 * cell + part];
		}
		if (child != BH_LOCKED &&
		    atomicCAS((uint32_t *)&children[8 * cell + part], child, BH_LOCKED) == child) {
			uint32_t place = 8 * cell + part, first = i;

			if (child != BH_EMPTY) {
				struct body other = bodies[child];
				uint32_t at = place;

				while (bh_part(&other, x, y, z) == part || at == place) {
					uint32_t fresh = atomicAdd(used, 1);

					if (fresh >= cells)
						break;
					if (at == place)
						first = n + fresh;
					else
						children[at] = n + fresh;
					half *= 0.5f;
					x = bh_middle(x, part & 1, half);
					y = bh_middle(y, part & 2, half);
					z = bh_middle(z, part & 4, half);
					part = bh_part(&b, x, y, z);
					at = 8 * fresh + part;
					cell = fresh;
				}
				children[8 * cell + bh_part(&other, x, y, z)] = child;
				children[8 * cell + part] = i;
			}
			fence();
			children[place] = first;
			waits = false;
		}
	}
}

/*
 * Each thread's cells from the last one on: a cell's children are behind it, so a thread that
 * waits for a child waits for one that has had its turn.
 */
KERNEL bh_sum(const struct body *bodies, uint32_t n, const uint32_t *children, const uint32_t *used,
	      volatile struct body *centres, volatile float *masses)
{
	int step = (int)(gridDim.x * blockDim.x);
	int i = (int)*used - 1 - (int)(blockIdx.x * blockDim.x + threadIdx.x);

	while (i >= 0) {
		struct body sum = { 0, 0, 0, 0 };
		bool ready = true;

		for (uint32_t k = 0; k < 8; k++) {
			uint32_t child = children[8 * (uint32_t)i + k];

			if (child == BH_EMPTY)
				continue;
			if (child < n) {
				struct body b = bodies[child];

				bh_add(&sum, &b);
			} else if (masses[child - n] < 0) {
				ready = false;
				break;
			} else {
				volatile struct body *c = &centres[child - n];
				struct body b = { c->x, c->y, c->z, c->mass };

				bh_add(&sum, &b);
			}
		}
		if (ready) {
			struct body c = bh_centre(sum);

			centres[i].x = c.x;
			centres[i].y = c.y;
			centres[i].z = c.z;
			centres[i].mass = c.mass;
			fence();
			masses[i] = c.mass;
			i -= step;
		}
	}
}

/* stack: on each level a cell and which of its children is next. */
KERNEL bh_force(const struct body *bodies, uint32_t n, const uint32_t *children,
		const struct body *centres, struct body *forces)
{
	uint32_t i = blockIdx.x * blockDim.x + threadIdx.x, stack[BH_DEEP];
	struct body b, a = { 0, 0, 0, 0 };
	float size2 = 4 * BH_HALF * BH_HALF;
	int level = 0;

	if (i >= n)
		return;
	b = bodies[i];
	stack[0] = 0;
	/* size2 is the squared edge of the children of the level's cell. */
	size2 *= 0.25f;
	while (level >= 0) {
		uint32_t top = stack[level], child;

		if (top % 16 == 8) {
			level--;
			size2 *= 4;
			continue;
		}
		stack[level] = top + 1;
		child = children[8 * (top / 16) + top % 16];
		if (child == BH_EMPTY || child == i)
			continue;
		if (child < n) {
			struct body other = bodies[child];

			bh_pull(&a, &b, &other, bh_squared(&b, &other));
		} else {
			struct body cell = centres[child - n];
			float d2 = bh_squared(&b, &cell);

			if (size2 < BH_THETA2 * d2) {
				bh_pull(&a, &b, &cell, d2);
			} else {
				stack[++level] = (child - n) * 16;
				size2 *= 0.25f;
			}
		}
	}
	forces[i] = a;
}

KERNEL bh_step(struct body *bodies, struct body *speeds, const struct body *forces, uint32_t n,
	       float dt)
{
	uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i >= n)
		return;
	bh_move(&bodies[i].x, &speeds[i].x, forces[i].x, dt);
	bh_move(&bodies[i].y, &speeds[i].y, forces[i].y, dt);
	bh_move(&bodies[i].z, &speeds[i].z, forces[i].z, dt);
}

#else

enum { BODIES, STEPS, BLOCK };

#define BH_DT		0.01f

struct bh {
	struct body *bodies, *speeds, *forces, *centres;
	float *masses;
	uint32_t *children, *used;
};

/* Two bodies that are near make a row of cells: three times as many cells as bodies are enough. */
static uint32_t cells(const struct workload *w)
{
	return 3 * (uint32_t)w->option[BODIES] + BH_DEEP;
}

/* No two are at one place: x tells them apart. */
static void make(struct workload *w, struct body *bodies, struct body *speeds)
{
	uint64_t n = w->option[BODIES];
	struct rng rng;

	rng_seed(&rng, fill_seed(w, 0));
	for (uint64_t i = 0; i < n; i++) {
		float v[7];

		for (unsigned int k = 0; k < 7; k++)
			v[k] = (float)rng_below(&rng, 1 << 16) / (1 << 16);
		bodies[i] = (struct body){ 1.8f * ((float)i + 0.5f * v[0]) / (float)n - 0.9f,
					   1.8f * v[1] - 0.9f, 1.8f * v[2] - 0.9f,
					   (0.5f + v[3]) / (float)n };
		speeds[i] = (struct body){ v[4] - 0.5f, v[5] - 0.5f, v[6] - 0.5f, 0 };
	}
}

static int bh_setup(struct workload *w)
{
	struct bh *b = w->state;
	uint64_t bytes = w->option[BODIES] * sizeof(struct body), n = cells(w);
	int ret;

	ret = workload_alloc(w, (void **)&b->bodies, bytes, WORKLOAD_INOUT, "bodies");
	if (!ret)
		ret = workload_alloc(w, (void **)&b->speeds, bytes, WORKLOAD_INOUT, "speeds");
	if (!ret)
		ret = workload_alloc(w, (void **)&b->forces, bytes, WORKLOAD_OUT, "forces");
	if (!ret)
		ret = workload_alloc(w, (void **)&b->centres, n * sizeof(*b->centres),
				     WORKLOAD_SCRATCH, "centres");
	if (!ret)
		ret = workload_alloc(w, (void **)&b->masses, n * sizeof(float), WORKLOAD_SCRATCH,
				     "masses");
	if (!ret)
		ret = workload_alloc(w, (void **)&b->children, 8 * n * sizeof(uint32_t),
				     WORKLOAD_SCRATCH, "children");
	if (!ret)
		ret = workload_alloc(w, (void **)&b->used, sizeof(uint32_t), WORKLOAD_SCRATCH,
				     "used");
	if (!ret)
		make(w, b->bodies, b->speeds);
	return ret;
}

static int launch_step(struct workload *w)
{
	struct bh *b = w->state;
	uint32_t n = (uint32_t)w->option[BODIES], block = (uint32_t)w->option[BLOCK];
	uint32_t ctas = DIV_ROUND_UP(n, block);
	int ret;

	ret = WORKLOAD_LAUNCH(w, "bh_clear", DIV_ROUND_UP(8 * cells(w), block), block,
			      gpuemu_arg_ptr(b->children), gpuemu_arg_ptr(b->masses),
			      gpuemu_arg_ptr(b->used), gpuemu_arg_u32(cells(w)));
	if (!ret)
		ret = WORKLOAD_LAUNCH(w, "bh_build", ctas, block, gpuemu_arg_ptr(b->bodies),
				      gpuemu_arg_u32(n), gpuemu_arg_ptr(b->children),
				      gpuemu_arg_ptr(b->used), gpuemu_arg_u32(cells(w)));
	/* One CTA, since its threads wait for each other: CTAs may not all run at a time. */
	if (!ret)
		ret = WORKLOAD_LAUNCH(w, "bh_sum", 1, block, gpuemu_arg_ptr(b->bodies),
				      gpuemu_arg_u32(n), gpuemu_arg_ptr(b->children),
				      gpuemu_arg_ptr(b->used), gpuemu_arg_ptr(b->centres),
				      gpuemu_arg_ptr(b->masses));
	if (!ret)
		ret = WORKLOAD_LAUNCH(w, "bh_force", ctas, block, gpuemu_arg_ptr(b->bodies),
				      gpuemu_arg_u32(n), gpuemu_arg_ptr(b->children),
				      gpuemu_arg_ptr(b->centres), gpuemu_arg_ptr(b->forces));
	if (!ret)
		ret = WORKLOAD_LAUNCH(w, "bh_step", ctas, block, gpuemu_arg_ptr(b->bodies),
				      gpuemu_arg_ptr(b->speeds), gpuemu_arg_ptr(b->forces),
				      gpuemu_arg_u32(n), gpuemu_arg_f32(BH_DT));
	return ret;
}

static int bh_run(struct workload *w)
{
	int ret = 0;

	for (uint64_t step = 0; step < w->option[STEPS] && !ret; step++)
		ret = launch_step(w);
	return ret ? ret : workload_synchronize(w);
}

/* A part of space: the bodies in it, in any order, and what they come to. */
struct part {
	struct part *child[8];		/* NULL: empty */
	struct body centre;
	const struct body *only;	/* it has one body alone */
};

struct tree {
	struct part *parts;
	uint64_t used, most;
};

/* By recursion: the bodies are dealt to eight parts until each has one. NULL: no memory left. */
static struct part *plant(struct tree *t, const struct body **bodies, uint64_t n,
			  const float at[3], float half)
{
	struct part *p = t->used < t->most ? &t->parts[t->used++] : NULL;
	struct body sum = { 0 };
	uint64_t from = 0;

	if (!p || !n)
		return NULL;
	*p = (struct part){ .centre = *bodies[0], .only = bodies[0] };
	if (n == 1 && half < BH_HALF)
		return p;
	p->only = NULL;
	for (uint32_t k = 0; k < 8; k++) {
		uint64_t to = from;
		float middle[3];

		for (uint64_t i = from; i < n; i++) {
			const struct body *b = bodies[i];

			if (bh_part(b, at[0], at[1], at[2]) != k)
				continue;
			bodies[i] = bodies[to];
			bodies[to++] = b;
		}
		if (to == from)
			continue;
		for (unsigned int axis = 0; axis < 3; axis++)
			middle[axis] = bh_middle(at[axis], k & 1u << axis, half / 2);
		p->child[k] = plant(t, bodies + from, to - from, middle, half / 2);
		if (!p->child[k])
			return NULL;
		bh_add(&sum, &p->child[k]->centre);
		from = to;
	}
	p->centre = bh_centre(sum);
	return p;
}

static void pull(const struct part *p, const struct body *b, float size2, struct body *a)
{
	float d2;

	if (p->only == b)
		return;
	d2 = bh_squared(b, &p->centre);
	if (p->only || size2 < BH_THETA2 * d2) {
		bh_pull(a, b, &p->centre, d2);
		return;
	}
	for (unsigned int k = 0; k < 8; k++)
		if (p->child[k])
			pull(p->child[k], b, size2 * 0.25f, a);
}

/* A step of all bodies. -ENOMEM */
static int simulate(struct workload *w, struct tree *t, struct body *bodies, struct body *speeds,
		    struct body *forces, const struct body **order)
{
	static const float middle[3] = { 0, 0, 0 };
	uint64_t n = w->option[BODIES];
	struct part *root;

	t->used = 0;
	for (uint64_t i = 0; i < n; i++)
		order[i] = &bodies[i];
	root = plant(t, order, n, middle, BH_HALF);
	if (!root)
		return err_set(&w->err, -ENOMEM, "the reference's tree is full");
	for (uint64_t i = 0; i < n; i++) {
		forces[i] = (struct body){ 0 };
		for (unsigned int k = 0; k < 8; k++)
			if (root->child[k])
				pull(root->child[k], &bodies[i], BH_HALF * BH_HALF, &forces[i]);
	}
	for (uint64_t i = 0; i < n; i++) {
		bh_move(&bodies[i].x, &speeds[i].x, forces[i].x, BH_DT);
		bh_move(&bodies[i].y, &speeds[i].y, forces[i].y, BH_DT);
		bh_move(&bodies[i].z, &speeds[i].z, forces[i].z, BH_DT);
	}
	return 0;
}

static int bh_verify(struct workload *w)
{
	struct bh *b = w->state;
	uint64_t n = w->option[BODIES];
	struct body *bodies = check_memory(w, 3 * n, sizeof(*bodies));
	struct body *speeds = bodies + n, *forces = speeds + n;
	struct tree tree = { check_memory(w, 4 * n + BH_DEEP, sizeof(*tree.parts)), 0,
			     4 * n + BH_DEEP };
	const struct body **order = check_memory(w, n, sizeof(*order));
	int ret = bodies && tree.parts && order ? 0 : -ENOMEM;

	if (!ret)
		make(w, bodies, speeds);
	for (uint64_t step = 0; step < w->option[STEPS] && !ret; step++)
		ret = simulate(w, &tree, bodies, speeds, forces, order);
	if (!ret)
		ret = check_floats(w, "bodies", 0, &b->bodies->x, &bodies->x, 4 * n);
	if (!ret)
		ret = check_floats(w, "speeds", 0, &b->speeds->x, &speeds->x, 4 * n);
	if (!ret)
		ret = check_floats(w, "forces", 0, &b->forces->x, &forces->x, 4 * n);
	free(bodies);
	free(tree.parts);
	free(order);
	return ret;
}

const struct workload_ops workload_bh = {
	.name = "bh",
	.help = "bodies that attract each other, by an octree (Barnes-Hut; LonestarGPU)",
	.exercises = "pointer chasing with a stack, divergence, locks, waits for other threads",
	.options = {
		[BODIES] = { "bodies", 8 << 10, 1, 1 << 18, "188 bytes each", .quick = 2 << 10,
			     .tiny = 200 },
		[STEPS] = { "steps", 1, 1, 100, "of time" },
		[BLOCK] = { "block", 256, 32, 1024, "threads of a CTA" },
	},
	.state_bytes = sizeof(struct bh),
	.setup = bh_setup,
	.run = bh_run,
	.verify = bh_verify,
};
#endif
