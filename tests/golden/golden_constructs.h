/* Golden measurements of constructs.  Writes them below the directory that was given to golden_into(). */
#ifndef TESTS_GOLDEN_GOLDEN_CONSTRUCTS_H
#define TESTS_GOLDEN_GOLDEN_CONSTRUCTS_H

void golden_constructs(void);

#endif
