/* What the loaded modules call of libgomp, by their relocations: where no call was seen, this tells whether there can
 * have been any.  Context: CTL; no state. */
#ifndef HPCRUN_LITE_PROCESS_LIBGOMP_USE_H
#define HPCRUN_LITE_PROCESS_LIBGOMP_USE_H

#include <stdbool.h>

struct libgomp_use {
  bool loaded;     /* libgomp is in the program's namespace: what is loaded by dlmopen() is not known here */
  bool constructs; /* if so: a module calls functions that are measured */
};

struct libgomp_use libgomp_use_find(void);

#endif
