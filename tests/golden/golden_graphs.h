/* The golden measurements with work and span, some of them with a graph log. */
#ifndef TESTS_GOLDEN_GOLDEN_GRAPHS_H
#define TESTS_GOLDEN_GOLDEN_GRAPHS_H

/* Writes them all (golden_records). */
void golden_graphs(void);

#endif
