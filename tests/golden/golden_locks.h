/* Measurements with locks.  See make_golden.c. */
#ifndef TESTS_GOLDEN_GOLDEN_LOCKS_H
#define TESTS_GOLDEN_GOLDEN_LOCKS_H

void golden_locks(void);

#endif
