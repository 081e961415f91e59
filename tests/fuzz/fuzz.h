/* What the fuzz targets share: a directory of their own, the report run within the process, and a mutator that mends
 * what the mutations broke in a measurement file, so that they get past its checksums.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* The path of a file in the target's own directory, which is removed at the end.  The caller frees it. */
char *fuzz_path(const char *name);

/* Writes a file there, or ends the target: without it nothing is tested. */
void fuzz_write(const char *name, const uint8_t *data, size_t size);

/* Runs hpcprof-lite with these arguments (NULL behind the last), its output thrown away. */
void fuzz_report(const char *const *arguments);

/* A number that depends on all bytes: chooses what an input is tried with, the same each time. */
uint32_t fuzz_choice(const uint8_t *data, size_t size);

/* Mutates a sequence of chunks. */
size_t fuzz_mutate_chunks(uint8_t *data, size_t size, size_t size_max, unsigned seed);

#endif
