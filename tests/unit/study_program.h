/* SPDX-License-Identifier: GPL-2.0 */
/* A shell script in the place of gpuemu, for tests of a study's numbers: each run is a report that it makes. */
#ifndef _GPUEMU_TESTS_STUDY_PROGRAM_H
#define _GPUEMU_TESTS_STUDY_PROGRAM_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The study's folder, and the script in it. */
static char dir[64], program[128];

static int make_script(const char *script)
{
	FILE *out;

	strcpy(dir, "/tmp/gpuemu-study-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(program, sizeof(program), "%s/program", dir);
	out = fopen(program, "w");
	if (!out)
		return -1;
	fputs(script, out);
	fclose(out);
	setenv("GPUEMU_DATADIR", ".", 1);
	return chmod(program, 0700);
}

static int remove_program(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

#endif
