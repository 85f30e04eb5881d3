/* SPDX-License-Identifier: GPL-2.0 */
/* The samples' stop watch: milliseconds of the host's clock, summed, and their average. */
#ifndef HELPER_TIMER_H
#define HELPER_TIMER_H

#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

typedef struct StopWatchInterface {
	double began, sum, last;
	unsigned int times;
	bool runs;
} StopWatchInterface;

static inline double gpuemu_helper_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static inline bool sdkCreateTimer(StopWatchInterface **timer)
{
	*timer = (StopWatchInterface *)calloc(1, sizeof(**timer));
	return *timer != NULL;
}

static inline bool sdkDeleteTimer(StopWatchInterface **timer)
{
	free(*timer);
	*timer = NULL;
	return true;
}

static inline bool sdkStartTimer(StopWatchInterface **timer)
{
	(*timer)->began = gpuemu_helper_now();
	(*timer)->runs = true;
	return true;
}

static inline bool sdkStopTimer(StopWatchInterface **timer)
{
	StopWatchInterface *t = *timer;

	t->last = gpuemu_helper_now() - t->began;
	t->sum += t->last;
	t->times++;
	t->runs = false;
	return true;
}

static inline bool sdkResetTimer(StopWatchInterface **timer)
{
	StopWatchInterface *t = *timer;

	t->sum = t->last = 0;
	t->times = 0;
	if (t->runs)
		t->began = gpuemu_helper_now();
	return true;
}

static inline float sdkGetTimerValue(StopWatchInterface **timer)
{
	const StopWatchInterface *t = *timer;

	return (float)(t->sum + (t->runs ? gpuemu_helper_now() - t->began : 0));
}

static inline float sdkGetAverageTimerValue(StopWatchInterface **timer)
{
	const StopWatchInterface *t = *timer;

	return t->times ? (float)(t->sum / t->times) : 0;
}

#endif
