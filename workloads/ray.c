// SPDX-License-Identifier: GPL-2.0
/*
 * ray: a picture of mirroring spheres above a chequered floor by ray tracing (Whitted, CACM 23,
 * 1980; RAY in GPGPU-Sim's suite): a thread follows a pixel's ray from mirror to mirror, and asks
 * at each hit whether the light is hidden. Threads of a warp part ways.
 */
#define RAY_X		16	/* threads of a CTA's edges, as the original has them */
#define RAY_Y		8
#define RAY_BOUNCES	5	/* rays of a pixel at most, the eye's counted */
#define RAY_FAR		1e20f

#include "both.h"

struct vec {
	float x, y, z;
};

struct sphere {
	struct vec at;
	float radius;
	float r, g, b;
	float mirror;		/* share of the light that is reflected */
};

BOTH float dot(struct vec a, struct vec b)
{
	return fmaf(a.x, b.x, fmaf(a.y, b.y, a.z * b.z));
}

/* a + s b */
BOTH struct vec along(struct vec a, float s, struct vec b)
{
	return (struct vec){ fmaf(s, b.x, a.x), fmaf(s, b.y, a.y), fmaf(s, b.z, a.z) };
}

BOTH struct vec unit(struct vec a)
{
	float s = 1 / both_sqrt(dot(a, a));

	return (struct vec){ a.x * s, a.y * s, a.z * s };
}

/* How far along the ray the sphere is, RAY_FAR: it is missed. The direction's length is 1. */
BOTH float hit(const struct sphere *s, struct vec from, struct vec way)
{
	struct vec to = { s->at.x - from.x, s->at.y - from.y, s->at.z - from.z };
	float middle = dot(to, way);
	float inside = fmaf(s->radius, s->radius, fmaf(middle, middle, -dot(to, to)));
	float root, near;

	if (inside < 0)
		return RAY_FAR;
	root = both_sqrt(inside);
	near = middle - root;
	if (near > 1e-3f)
		return near;
	return middle + root > 1e-3f ? middle + root : RAY_FAR;
}

/* The floor is the plane y = 0. */
BOTH float floor_hit(struct vec from, struct vec way)
{
	float t = -from.y / way.y;

	return way.y < 0 && t > 1e-3f ? t : RAY_FAR;
}

BOTH struct vec eye_way(uint32_t x, uint32_t y, uint32_t width, uint32_t height)
{
	struct vec way = { ((float)x + 0.5f) / (float)width - 0.5f,
			   0.3f - ((float)y + 0.5f) / (float)height, 1 };

	return unit(way);
}

BOTH uint32_t channel(float light)
{
	float high = light < 1 ? light : 1, both = high > 0 ? high : 0;

	return (uint32_t)(both * 255);
}

#define RAY_EYE		((struct vec){ 0, 2, -6 })
#define RAY_SUN		((struct vec){ 0.48f, 0.8f, -0.36f })	/* towards it; of length 1 */

#ifdef GPUEMU_DEVICE

/* The nearest sphere; n: none is nearer than *t. */
INLINE uint32_t nearest(const struct sphere *s, uint32_t n, struct vec from, struct vec way,
			float *t)
{
	uint32_t found = n;

	for (uint32_t i = 0; i < n; i++) {
		float d = hit(&s[i], from, way);

		if (d < *t) {
			*t = d;
			found = i;
		}
	}
	return found;
}

KERNEL ray(const struct sphere *spheres, uint32_t n, uint32_t *image, uint32_t width,
	   uint32_t height)
{
	uint32_t px = blockIdx.x * RAY_X + threadIdx.x, py = blockIdx.y * RAY_Y + threadIdx.y;
	struct vec from = RAY_EYE, way = eye_way(px, py, width, height);
	float share = 1, r = 0, g = 0, b = 0;

	if (px >= width || py >= height)
		return;
	for (int bounce = 0; bounce < RAY_BOUNCES && share > 0.01f; bounce++) {
		float t = floor_hit(from, way), shadow = RAY_FAR, light, mirror = 0.2f;
		uint32_t which = nearest(spheres, n, from, way, &t);
		struct vec normal = { 0, 1, 0 }, at = along(from, t, way);
		float cr, cg, cb;

		if (t >= RAY_FAR) {
			/* The sky. */
			r = fmaf(share, 0.3f, r);
			g = fmaf(share, 0.5f, g);
			b = fmaf(share, 0.8f, b);
			break;
		}
		if (which < n) {
			const struct sphere *s = &spheres[which];

			normal = (struct vec){ at.x - s->at.x, at.y - s->at.y, at.z - s->at.z };
			normal = unit(normal);
			mirror = s->mirror;
			cr = s->r;
			cg = s->g;
			cb = s->b;
		} else {
			int dark = ((int)(at.x + 1000) ^ (int)(at.z + 1000)) & 1;

			cr = cg = cb = dark ? 0.1f : 0.9f;
		}
		light = dot(normal, RAY_SUN);
		if (light < 0 || nearest(spheres, n, at, RAY_SUN, &shadow) < n)
			light = 0;
		light = share * (1 - mirror) * fmaf(0.8f, light, 0.2f);
		r = fmaf(light, cr, r);
		g = fmaf(light, cg, g);
		b = fmaf(light, cb, b);
		share *= mirror;
		way = along(way, -2 * dot(way, normal), normal);
		from = at;
	}
	image[py * width + px] = channel(r) | channel(g) << 8 | channel(b) << 16;
}

#else

enum { WIDTH, HEIGHT, SPHERES };

struct ray {
	struct sphere *spheres;
	uint32_t *image;
};

static void place(struct workload *w, struct sphere *to)
{
	struct rng rng;

	rng_seed(&rng, fill_seed(w, 0));
	for (uint64_t i = 0; i < w->option[SPHERES]; i++) {
		float v[8];

		for (unsigned int k = 0; k < 8; k++)
			v[k] = (float)rng_below(&rng, 1 << 16) / (1 << 16);
		to[i].radius = 0.2f + 0.6f * v[0];
		to[i].at.x = 8 * v[1] - 4;
		to[i].at.y = to[i].radius + 2 * v[2];
		to[i].at.z = 8 * v[3] - 2;
		to[i].r = v[4];
		to[i].g = v[5];
		to[i].b = v[6];
		to[i].mirror = v[7] < 0.3f ? 0 : 0.8f * v[7];
	}
}

static int ray_setup(struct workload *w)
{
	struct ray *r = w->state;
	int ret = workload_alloc(w, (void **)&r->spheres,
				 w->option[SPHERES] * sizeof(*r->spheres), WORKLOAD_IN, "spheres");

	if (!ret)
		ret = workload_alloc(w, (void **)&r->image,
				     w->option[WIDTH] * w->option[HEIGHT] * sizeof(uint32_t),
				     WORKLOAD_OUT, "image");
	if (!ret)
		place(w, r->spheres);
	return ret;
}

static int ray_run(struct workload *w)
{
	struct ray *r = w->state;
	uint32_t width = (uint32_t)w->option[WIDTH], height = (uint32_t)w->option[HEIGHT];
	int ret;

	ret = WORKLOAD_LAUNCH_GRID(w, "ray", ((struct gpuemu_dim3){ DIV_ROUND_UP(width, RAY_X),
							     DIV_ROUND_UP(height, RAY_Y), 1 }),
				   ((struct gpuemu_dim3){ RAY_X, RAY_Y, 1 }),
				   gpuemu_arg_ptr(r->spheres),
				   gpuemu_arg_u32((uint32_t)w->option[SPHERES]),
				   gpuemu_arg_ptr(r->image), gpuemu_arg_u32(width),
				   gpuemu_arg_u32(height));
	return ret ? ret : workload_synchronize(w);
}

struct scene {
	const struct sphere *spheres;
	uint64_t n;
};

static const struct sphere *first_hit(const struct scene *s, struct vec from, struct vec way,
				      float *t)
{
	const struct sphere *found = NULL;

	for (uint64_t i = s->n; i--;) {
		float d = hit(&s->spheres[i], from, way);

		/* From the last to the first: of equal ones the first. */
		if (d < *t || (found && d <= *t)) {
			*t = d;
			found = &s->spheres[i];
		}
	}
	return found;
}

/* By recursion: what this ray sees, times its share, added to rgb. */
static void trace(const struct scene *s, struct vec from, struct vec way, float share,
		  int bounces, float rgb[3])
{
	static const float sky[3] = { 0.3f, 0.5f, 0.8f };
	float t = floor_hit(from, way), away = RAY_FAR, light, mirror = 0.2f;
	const struct sphere *o = first_hit(s, from, way, &t);
	struct vec at = along(from, t, way), normal = { 0, 1, 0 };
	float colour[3];

	if (t >= RAY_FAR) {
		for (int i = 0; i < 3; i++)
			rgb[i] = fmaf(share, sky[i], rgb[i]);
		return;
	}
	colour[0] = ((int)(at.x + 1000) ^ (int)(at.z + 1000)) & 1 ? 0.1f : 0.9f;
	colour[1] = colour[2] = colour[0];
	if (o) {
		normal = unit((struct vec){ at.x - o->at.x, at.y - o->at.y, at.z - o->at.z });
		memcpy(colour, &o->r, sizeof(colour));
		mirror = o->mirror;
	}
	light = dot(normal, RAY_SUN);
	if (light < 0 || first_hit(s, at, RAY_SUN, &away))
		light = 0;
	light = share * (1 - mirror) * fmaf(0.8f, light, 0.2f);
	for (int i = 0; i < 3; i++)
		rgb[i] = fmaf(light, colour[i], rgb[i]);
	share *= mirror;
	if (share > 0.01f && bounces > 1)
		trace(s, at, along(way, -2 * dot(way, normal), normal), share, bounces - 1, rgb);
}

static int ray_verify(struct workload *w)
{
	struct ray *r = w->state;
	uint32_t width = (uint32_t)w->option[WIDTH], height = (uint32_t)w->option[HEIGHT];
	uint64_t n = w->option[SPHERES], floats = n * sizeof(struct sphere) / sizeof(float);
	struct sphere *spheres = check_memory(w, n, sizeof(*spheres));
	uint32_t *want = check_memory(w, (uint64_t)width * height, sizeof(*want));
	struct scene scene = { spheres, n };
	int ret = spheres && want ? 0 : -ENOMEM;

	if (!ret) {
		place(w, spheres);
		ret = check_floats(w, "spheres", 0, &r->spheres->at.x, &spheres->at.x, floats);
	}
	for (uint32_t y = 0; y < height && !ret; y++) {
		for (uint32_t x = 0; x < width; x++) {
			float rgb[3] = { 0 };

			trace(&scene, RAY_EYE, eye_way(x, y, width, height), 1, RAY_BOUNCES, rgb);
			want[y * width + x] = channel(rgb[0]) | channel(rgb[1]) << 8 |
					      channel(rgb[2]) << 16;
		}
	}
	if (!ret)
		ret = check_words(w, "image", 0, r->image, want, (uint64_t)width * height);
	free(spheres);
	free(want);
	return ret;
}

const struct workload_ops workload_ray = {
	.name = "ray",
	.help = "mirroring spheres by ray tracing (RAY of GPGPU-Sim)",
	.exercises = "divergence, square roots and divisions, many registers, little memory",
	.options = {
		[WIDTH] = { "width", 256, 1, 1u << 14, "of the image; 4 bytes a pixel",
			    .quick = 128, .tiny = 125 },
		[HEIGHT] = { "height", 256, 1, 1u << 14, "of the image",
			     .quick = 128, .tiny = 67 },
		[SPHERES] = { "spheres", 12, 1, 1u << 10, "in it", .tiny = 3 },
	},
	.state_bytes = sizeof(struct ray),
	.setup = ray_setup,
	.run = ray_run,
	.verify = ray_verify,
};
#endif
