/* The golden measurements with marks, user phases and counters of the program. */
#ifndef TESTS_GOLDEN_GOLDEN_MARKS_H
#define TESTS_GOLDEN_GOLDEN_MARKS_H

/* Writes them all (golden_records). */
void golden_marks(void);

#endif
