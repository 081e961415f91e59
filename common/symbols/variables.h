/* Finds the variables that contain given addresses, by the symbol tables of an ELF file.
 *
 * Context: BATCH.  Only the file's own tables are read, not those of a separate debug file.  The file is hostile: what
 * is damaged is left out, and nothing is reported, since an address serves as a name, too.
 */
#ifndef COMMON_SYMBOLS_VARIABLES_H
#define COMMON_SYMBOLS_VARIABLES_H

#include <stdint.h>

struct variable {
  uint64_t address; /* in the file; the caller sets it */
  uint64_t start;   /* of the variable */
  char *name;       /* as in the table, for free(); NULL: none is known */
};

/* Sets start and name of `count` variables. */
void variables_find(const char *path, struct variable *variables, uint32_t count);

#endif
