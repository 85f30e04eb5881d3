/* SPDX-License-Identifier: GPL-2.0 */
/* The samples' command line: --name, -name, and the same with =VALUE behind it. */
#ifndef HELPER_STRING_H
#define HELPER_STRING_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Behind the name and its '=', NULL: it is not given. */
static inline const char *gpuemu_helper_value(int argc, const char **argv, const char *name)
{
	size_t n = strlen(name);

	for (int i = 1; i < argc; i++) {
		const char *word = argv[i] + strspn(argv[i], "-");

		if (word != argv[i] && !strncasecmp(word, name, n) && (!word[n] || word[n] == '='))
			return word + n + (word[n] == '=');
	}
	return NULL;
}

static inline bool checkCmdLineFlag(const int argc, const char **argv, const char *name)
{
	return gpuemu_helper_value(argc, argv, name) != NULL;
}

static inline int getCmdLineArgumentInt(const int argc, const char **argv, const char *name)
{
	const char *value = gpuemu_helper_value(argc, argv, name);

	return value ? atoi(value) : 0;
}

static inline float getCmdLineArgumentFloat(const int argc, const char **argv, const char *name)
{
	const char *value = gpuemu_helper_value(argc, argv, name);

	return value ? (float)atof(value) : 0;
}

static inline bool getCmdLineArgumentString(const int argc, const char **argv, const char *name,
					    char **string)
{
	const char *value = gpuemu_helper_value(argc, argv, name);

	*string = (char *)value;
	return value != NULL;
}

#endif
