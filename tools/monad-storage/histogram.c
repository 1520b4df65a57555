// SPDX-License-Identifier: GPL-2.0
#include "histogram.h"

void histogram_add(struct histogram *histogram, uint64_t ns)
{
	unsigned int power, fine;

	histogram->samples++;
	histogram->sum += ns;
	if (ns > histogram->max)
		histogram->max = ns;
	if (ns >> HISTOGRAM_POWERS)
		ns = (1ULL << HISTOGRAM_POWERS) - 1;
	power = ns ? 63 - __builtin_clzll(ns) : 0;
	if (power >= HISTOGRAM_FINE_SHIFT)
		fine = ns >> (power - HISTOGRAM_FINE_SHIFT);
	else
		fine = ns << (HISTOGRAM_FINE_SHIFT - power);
	histogram->bucket[power][fine % HISTOGRAM_FINE]++;
}

/* The largest time that goes into a bucket. */
static uint64_t upper_bound(unsigned int power, unsigned int fine)
{
	uint64_t end = HISTOGRAM_FINE + fine + 1;

	if (power >= HISTOGRAM_FINE_SHIFT)
		return (end << (power - HISTOGRAM_FINE_SHIFT)) - 1;
	return end >> (HISTOGRAM_FINE_SHIFT - power);
}

uint64_t histogram_percentile(const struct histogram *histogram, double percent)
{
	double want = (double)histogram->samples * percent / 100;
	uint64_t seen = 0;

	for (unsigned int power = 0; power < HISTOGRAM_POWERS; power++) {
		for (unsigned int fine = 0; fine < HISTOGRAM_FINE; fine++) {
			seen += histogram->bucket[power][fine];
			if (seen && (double)seen >= want) {
				uint64_t bound = upper_bound(power, fine);

				return bound < histogram->max ? bound : histogram->max;
			}
		}
	}
	return 0;
}

uint64_t histogram_power(const struct histogram *histogram, unsigned int power)
{
	uint64_t sum = 0;

	for (unsigned int fine = 0; fine < HISTOGRAM_FINE; fine++)
		sum += histogram->bucket[power][fine];
	return sum;
}
