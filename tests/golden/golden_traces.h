/* The golden measurements with a trace. */
#ifndef TESTS_GOLDEN_GOLDEN_TRACES_H
#define TESTS_GOLDEN_GOLDEN_TRACES_H

/* Writes them all (golden_records). */
void golden_traces(void);

#endif
