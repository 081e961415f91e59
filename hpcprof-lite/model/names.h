/* Names of the code addresses of a profile.  Functions inlined at an address make it a chain of several functions.
 *
 * Context: BATCH.  views/symbolize.h fills the structure; later stages read it and add strings with
 * names_own().  Names and paths live until symbolize_release(): strings of symbol tables belong to the modules'
 * `symbols`, all others to the structure.
 */
#ifndef HPCPROF_LITE_MODEL_NAMES_H
#define HPCPROF_LITE_MODEL_NAMES_H

#include "hpcprof-lite/model/hash_map.h"
#include "hpcprof-lite/model/model.h"

struct symbols;

/* What a compiler-generated function contains: nothing special, or a part of an OpenMP construct. */
enum names_outline { OUTLINE_NONE, OUTLINE_BODY, OUTLINE_BODY_DEBUG, OUTLINE_TASK };

/* A function, identified by module, name and declaration.  A function without a name is named by its address
 * ("libx.so+0x1234") and marked as `unknown`. */
struct names_function {
  const char *name, *raw; /* raw: linkage name, equal to name where the function has no other */
  const char *file;       /* where it is declared, "" if not known */
  uint32_t line;
  uint32_t module;
  enum names_outline outline;
  uint32_t origin; /* of an outlined function: the function that contains the construct, MODEL_NONE if its name does not
                      tell; MODEL_NONE for all other functions */
  bool unknown;
  bool python; /* a function of Python, which its interpreter has named in the map of generated code */
};

/* One function of an address's chain, outermost first.  file and line: the position in this function, "" and 0 if not
 * known. */
struct names_frame {
  uint32_t function;
  bool inlined, near; /* near: the address itself has no line; the line is that of code near it */
  const char *file;   /* interned: equal paths are equal pointers */
  uint32_t line;
};

struct names_address {
  uint32_t first, count; /* of `steps` */
  uint64_t offset, low;  /* in the module: of the address, and of the function's start, 0 if not known */
  bool placed;           /* it enters the runtime, and its line is that of the directive */
};

/* How a construct is named, by views/construct_names.h. */
struct names_directive {
  const char *name, *file; /* file: "" if not known */
  uint32_t line;
  uint32_t first; /* the first directive that is a copy of the same code; itself, if it is that */
};

/* Functions that left no frame between a context and its caller: elements of `inferred_addresses`, outermost first. */
struct names_inferred {
  uint32_t first, count;
};

/* What was found out about a module. */
struct names_module {
  struct symbols *symbols; /* owns names and paths; symbolize_release() releases it, unless `kept` */
  char *file;              /* with the code that was measured: at the measured path, or another one; NULL: none */
  char *message;           /* why the module could not be read, or NULL */
  bool looked_up;          /* addresses of the module are in the profile and are shown */
  bool kept;               /* the symbols belong to common/symbols/kept_symbols.h */
  bool named, lined;       /* at least one address has a function name, a source line */
};

struct names {
  struct names_function *functions;
  uint32_t functions_count;
  size_t functions_room;
  struct hash_map function_map; /* function numbers + 1 */
  struct names_frame *frames;
  uint32_t frames_count;
  size_t frames_room;
  struct names_address *addresses;
  uint32_t addresses_count;
  size_t addresses_room;
  uint32_t *address_of;   /* [context] address of a FRAME, and of a TASK's place if it is known, else MODEL_NONE */
  uint32_t *directive_at; /* [directive] address of its place, MODEL_NONE if not known */
  struct names_inferred *inferred; /* [context], NULL if nothing is inferred (views/inferred_frames.h) */
  uint32_t *inferred_addresses;    /* addresses inside functions */
  uint32_t inferred_count;
  struct names_directive *directives; /* [directive], NULL before construct_names() */
  uint32_t *order;                    /* all contexts except the root, by kind, module's path and build ID, offset */
  uint32_t order_count;
  struct names_module *modules; /* numbered as in the catalog */
  uint32_t modules_count;
  char **owned; /* strings from names_own() */
  size_t owned_count, owned_room;
  const char **files; /* interned paths */
  uint32_t files_count;
  size_t files_room;
  struct hash_map file_map; /* file numbers + 1 */
};

/* Takes ownership of an allocated string and returns it. */
const char *names_own(struct names *names, char *text);

/* Returns the one pointer that represents a path, "" for NULL. */
const char *names_file(struct names *names, const char *file);

/* Returns the number of a function, which is added without an origin if it is new. */
uint32_t names_function(struct names *names, const struct names_function *function);

/* Whether functions of Python are known by name. */
bool names_has_python(const struct names *names);

/* Returns the innermost step of an address.  For the call by which a construct enters the runtime, it is the
 * construct's place (doc/glossary.md). */
const struct names_frame *names_innermost(const struct names *names, uint32_t address);

/* Returns an allocated "main+0x1a" for an address whose line is not known. */
char *names_spot(const struct names *names, uint32_t address);

/* Returns the last component of a path, as a pointer into it. */
const char *names_base(const char *path);

/* Releases everything except the modules' symbols, for which symbolize_release() exists. */
void names_release(struct names *names);

#endif
