/* Golden measurements: the logs of the ranks of an MPI job. */
#ifndef TESTS_GOLDEN_GOLDEN_MESSAGES_H
#define TESTS_GOLDEN_GOLDEN_MESSAGES_H

void golden_messages(void);

#endif
