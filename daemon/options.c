// SPDX-License-Identifier: GPL-2.0
/*
 * gpuemud's command line. --set and --config apply in the order of: file
 * first, then the settings as they stand on the line.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/datadir.h"
#include "gpu/gpu.h"
#include "gpuemu.h"
#include "options.h"

enum {
	OPT_DEVICE = 1, OPT_CONFIG, OPT_SET, OPT_SLICE, OPT_LOAD_TIME, OPT_CLIENT_MEMORY,
	OPT_LOG_LEVEL, OPT_POLICY, OPT_VERSION,
	OPT_HELP,
};

#define SLICE_MS	10u	/* long against taking up a work, short against what people notice */
#define SLICE_MS_MAX	10000u
#define LOAD_S		30u	/* some hundred MiB of PTX */
#define LOAD_S_MAX	86400u
#define CLIENT_MEMORY_MIN	(16ull << 20)	/* a session alone takes a few MiB */

static const struct option long_options[] = {
	{ "device", required_argument, NULL, OPT_DEVICE },
	{ "config", required_argument, NULL, OPT_CONFIG },
	{ "set", required_argument, NULL, OPT_SET },
	{ "slice", required_argument, NULL, OPT_SLICE },
	{ "load-time", required_argument, NULL, OPT_LOAD_TIME },
	{ "client-memory", required_argument, NULL, OPT_CLIENT_MEMORY },
	{ "log-level", required_argument, NULL, OPT_LOG_LEVEL },
	{ "policy", required_argument, NULL, OPT_POLICY },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ "help", no_argument, NULL, OPT_HELP },
	{ 0 },
};

static void help(void)
{
	puts("Usage: gpuemud [OPTION]...\n"
	     "The GPU behind a gpuemu device: runs clients' kernels and serves their far\n"
	     "faults. Stays in the foreground; SIGTERM or SIGINT end it.\n"
	     "\n"
	     "  --device PATH       the module's device (default /dev/gpuemu)\n"
	     "  --config GPU        a configuration by name or path (default: built in, GTX 480)\n"
	     "  --set KEY=VALUE     one option over it; may be repeated\n"
	     "  --slice MS          what runs is set aside for other clients after MS\n"
	     "                      milliseconds (default 10); 0: never\n"
	     "  --load-time S       CPU time that loading a client's PTX may take, in seconds\n"
	     "                      (default 30)\n"
	     "  --client-memory SIZE  memory that the daemon holds for one client, as 256M\n"
	     "                      (default: a quarter of the machine's)\n"
	     "  --log-level LEVEL   error, warning, info or debug, on stderr (default info)\n"
	     "  --policy FILE.so    clients may load this paging policy; may be repeated\n"
	     "  --version           print the version and exit\n"
	     "  --help              print this and exit\n"
	     "\n"
	     "Device memory is all of the module's (vram_mb) unless paging.vram is set; a\n"
	     "client may set options of its own. Exit status: 0 ended by a signal, 1 could\n"
	     "not start or the device was lost, 2 misused. See gpuemud(8).");
}

static int misused(const char *text)
{
	fprintf(stderr, "gpuemud: %s\n", text);
	return -EINVAL;
}

static int load_config(struct gpu_spec *spec, const char *name)
{
	const char *const dirs[] = { getenv("GPUEMU_DATADIR"), GPUEMU_DATADIR };
	struct err err = { "" };
	char *path;
	int ret;

	ret = datadir_find_config(dirs, ARRAY_SIZE(dirs), name, &path, &err);
	if (!ret) {
		ret = spec_load_file(spec, path, &err);
		free(path);
	}
	return ret ? misused(err.text) : 0;
}

static int set_option(struct gpu_spec *spec, char *text)
{
	struct err err = { "" };
	char *value = strchr(text, '=');

	if (!value) {
		err_set(&err, 0, "--set '%s': not KEY=VALUE", text);
		return misused(err.text);
	}
	*value++ = '\0';
	return spec_set(spec, text, value, &err) ? misused(err.text) : 0;
}

/* The list is never freed: the daemon loads from it until it ends. */
static int allow_policy(struct options *options, const char *path)
{
	const char **policies;
	struct err err;
	unsigned int n = 0;

	while (options->policies && options->policies[n])
		n++;
	if (array_resize(options->policies, n + 2))
		return misused("no memory for --policy");
	policies = options->policies;
	policies[n] = realpath(path, NULL);
	policies[n + 1] = NULL;
	if (policies[n])
		return 0;
	err_set(&err, 0, "--policy '%s': %s", path, strerror(errno));
	return misused(err.text);
}

/* The second pass, when the file that the settings go over is known. */
static int parse_spec(struct options *options, const char *config, int argc, char **argv)
{
	struct err err = { "" };
	int opt, ret = 0;

	spec_defaults(&options->spec);
	options->spec.vram_bytes = 0;
	if (config)
		ret = load_config(&options->spec, config);
	optind = 1;
	while (!ret && (opt = getopt_long(argc, argv, ":", long_options, NULL)) != -1)
		if (opt == OPT_SET)
			ret = set_option(&options->spec, optarg);
	if (!ret && gpu_spec_check(&options->spec, &err))
		ret = misused(err.text);
	return ret;
}

static int parse_slice(struct options *options, const char *text)
{
	struct err err = { "" };
	unsigned long ms;
	char *end;

	errno = 0;
	ms = strtoul(text, &end, 10);
	if (errno || end == text || *end || *text < '0' || *text > '9' || ms > SLICE_MS_MAX) {
		err_set(&err, 0, "--slice '%s': not a number of milliseconds from 0 to %u", text,
			SLICE_MS_MAX);
		return misused(err.text);
	}
	options->slice_ms = (unsigned int)ms;
	return 0;
}

/* A number from 1 on, all of the text but for a suffix that may be K, M or G. */
static bool parse_count(const char *text, bool suffix, uint64_t *value)
{
	static const char suffixes[] = "KMG";
	const char *unit;
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 10);
	if (errno || *text < '0' || *text > '9')
		return false;
	if (suffix && *end && (unit = strchr(suffixes, *end))) {
		unsigned int shift = 10 * (unsigned int)(unit - suffixes + 1);

		if (*value > UINT64_MAX >> shift)
			return false;
		*value <<= shift;
		end++;
	}
	return !*end && *value;
}

static int parse_load_time(struct options *options, const char *text)
{
	struct err err = { "" };
	uint64_t seconds;

	if (!parse_count(text, false, &seconds) || seconds > LOAD_S_MAX) {
		err_set(&err, 0, "--load-time '%s': not a number of seconds from 1 to %u", text,
			LOAD_S_MAX);
		return misused(err.text);
	}
	options->load_seconds = (unsigned int)seconds;
	return 0;
}

static int parse_client_memory(struct options *options, const char *text)
{
	struct err err = { "" };

	if (parse_count(text, true, &options->client_memory) &&
	    options->client_memory >= CLIENT_MEMORY_MIN)
		return 0;
	err_set(&err, 0, "--client-memory '%s': not a size of at least 16M (K, M, G)", text);
	return misused(err.text);
}

int options_parse(struct options *options, int argc, char **argv)
{
	const char *config = NULL;
	struct err err;
	int opt;

	*options = (struct options){ .device = "/dev/gpuemu", .log_level = LOG_INFO,
		.slice_ms = SLICE_MS, .load_seconds = LOAD_S };
	opterr = 0;
	while ((opt = getopt_long(argc, argv, ":", long_options, NULL)) != -1) {
		switch (opt) {
		case OPT_DEVICE:
			options->device = optarg;
			break;
		case OPT_CONFIG:
			config = optarg;
			break;
		case OPT_SET:
			break;
		case OPT_SLICE:
			if (parse_slice(options, optarg))
				return -EINVAL;
			break;
		case OPT_LOAD_TIME:
			if (parse_load_time(options, optarg))
				return -EINVAL;
			break;
		case OPT_CLIENT_MEMORY:
			if (parse_client_memory(options, optarg))
				return -EINVAL;
			break;
		case OPT_LOG_LEVEL:
			if (log_level_parse(optarg, &options->log_level))
				break;
			err_set(&err, 0, "--log-level '%s': not error, warning, info or debug",
				optarg);
			return misused(err.text);
		case OPT_POLICY:
			if (allow_policy(options, optarg))
				return -EINVAL;
			break;
		case OPT_VERSION:
			printf("gpuemud %d.%d\n", GPUEMU_VERSION_MAJOR, GPUEMU_VERSION_MINOR);
			return 1;
		case OPT_HELP:
			help();
			return 1;
		default:
			err_set(&err, 0, "%s '%s'; see gpuemud --help",
				opt == ':' ? "no value for option" : "unknown option",
				argv[optind - 1]);
			return misused(err.text);
		}
	}
	if (optind < argc) {
		err_set(&err, 0, "unexpected argument '%s'; see gpuemud --help", argv[optind]);
		return misused(err.text);
	}
	return parse_spec(options, config, argc, argv);
}
