/* What the fuzz targets share: a directory, the report run inside the process, and a mutator that repairs the checksums
 * of a mutated measurement file, so that the mutations get past them. */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Returns the path of a file in the directory of the target, which is removed at the end.  The caller frees it. */
char *fuzz_path(const char *name);

/* Writes a file there; aborts on failure, since nothing would be tested. */
void fuzz_write(const char *name, const uint8_t *data, size_t size);

/* Removes that file, if it is there. */
void fuzz_remove(const char *name);

/* Copies the measurement file that the environment names in HPCPROF_FUZZ_MEASUREMENT to a.hpcrun there; aborts on
 * failure. */
void fuzz_copy_measurement(void);

/* Runs hpcprof-lite with these arguments, which end with NULL, and discards its output. */
void fuzz_report(const char *const *arguments);

/* Returns a number that depends on all bytes: it chooses the options for an input, the same ones each time. */
uint32_t fuzz_choice(const uint8_t *data, size_t size);

/* Mutates a sequence of extents. */
size_t fuzz_mutate_extents(uint8_t *data, size_t size, size_t size_max, unsigned seed);

#endif
