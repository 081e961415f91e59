/* What the tests of symbols share: a directory with the sources of programs, which they compile in different ways. */
#ifndef TESTS_SUPPORT_SYMBOLS_SOURCES_H
#define TESTS_SUPPORT_SYMBOLS_SOURCES_H

#include "common/symbols/symbols.h"
#include "tests/support/unit.h"

enum { LOCATIONS = 32 };

extern char directory[64];

/* Setup and teardown of a group of tests. */
int make_directory(void **state);
int remove_directory(void **state);

/* Runs a shell command in the directory; its errors go to the file `errors` there. */
__attribute__((format(printf, 1, 2))) bool run(const char *format, ...);
void must_run(const char *command);

/* Whether gcc makes code of x86-64; need_x86_64() skips a case otherwise. */
bool makes_x86_64(void);
void need_x86_64(void);

/* One of four buffers, taken in turn. */
const char *path_of(const char *name);
void write_file(const char *name, const void *bytes, size_t size);
uint8_t *read_file(const char *name, size_t *size); /* free() */

/* Returns the address and size of a symbol, by nm, which reads the file independently. */
bool find_symbol(const char *name, const char *symbol, uint64_t *address, uint64_t *size);
uint64_t symbol_address(const char *name, const char *symbol);

struct symbols *open_fine(const char *name);

/* Returns the first address of a function that has count locations; fails if there is none. */
void find_chain(const struct symbols *symbols, const char *name, const char *symbol, int count,
                struct symbols_location *locations);

#endif
