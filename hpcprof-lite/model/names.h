/* Names of the profile's addresses: each distinct address is a chain of named functions.
 *
 * Context: BATCH.  views/symbolize fills it; later stages read it and add texts that they make.  Names and paths live
 * as long as the structure.
 */
#ifndef HPCPROF_LITE_MODEL_NAMES_H
#define HPCPROF_LITE_MODEL_NAMES_H

#include "hpcprof-lite/model/index.h"
#include "hpcprof-lite/model/model.h"

struct symbols;

/* What the compiler made out of an OpenMP construct. */
enum names_outline { OUTLINE_NONE, OUTLINE_BODY, OUTLINE_BODY_DEBUG, OUTLINE_TASK };

/* A function: by module, name and declaration; by its address where it has no name ("libx.so+0x1234", `unknown`). */
struct names_function {
  const char *name, *raw; /* raw: linkage name, the same as name where there is none of its own */
  const char *file;       /* where it is declared, "" if unknown */
  uint32_t line;
  uint32_t module;
  enum names_outline outline;
  const char *origin; /* readable name of the function in which the construct stands that this one was made out of; ""
                         where its name does not tell, and for functions that were not made out of one */
  bool unknown;
};

/* One function of an address's chain, outermost first.  file and line: where in this function, "" and 0 if unknown. */
struct names_step {
  uint32_t function;
  bool inlined;
  const char *file; /* interned: equal paths are equal pointers */
  uint32_t line;
};

struct names_address {
  uint32_t first, count; /* of `steps` */
};

/* What could be found out about a module. */
struct names_module {
  struct symbols *symbols; /* owner of names and paths; released by symbolize_release() */
  char *message;           /* why it could not be read, or NULL */
  bool looked_up;          /* some address of it is in the profile and is shown */
  bool named, lined;       /* some address has a function name, a source line */
};

struct names {
  struct names_function *functions;
  uint32_t functions_count;
  size_t functions_room;
  struct index function_index; /* function numbers + 1 */
  struct names_step *steps;
  uint32_t steps_count;
  size_t steps_room;
  struct names_address *addresses;
  uint32_t addresses_count;
  uint32_t *address_of;   /* [context] of a FRAME, else PROFILE_NONE */
  uint32_t *directive_at; /* [directive] address, PROFILE_NONE where it is not known */
  uint32_t *order;        /* all contexts but the root in canonical order: kind, module's path and build id, offset */
  uint32_t order_count;
  struct names_module *modules; /* as in the catalog */
  uint32_t modules_count;
  char **owned; /* names made here */
  size_t owned_count, owned_room;
  const char **files; /* interned paths */
  uint32_t files_count;
  size_t files_room;
  struct index file_index; /* file numbers + 1 */
};

/* Takes ownership of an allocated string; NULL without memory. */
const char *names_own(struct names *names, char *text);

/* Last part of a path. */
const char *names_base(const char *path);

/* Releases all but the modules' symbols. */
void names_release(struct names *names);

#endif
