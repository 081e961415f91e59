/* The code of modules, where it enters the OpenMP runtime.
 *
 * Context: BATCH, one thread.  Files are opened when needed.  What cannot be read is not known.
 */
#ifndef HPCPROF_LITE_VIEWS_CODE_H
#define HPCPROF_LITE_VIEWS_CODE_H

#include "hpcprof-lite/model/names.h"
#include "hpcprof-lite/model/profile.h"
#include "common/symbols/bounds.h"
#include "common/symbols/callees.h"
#include "common/symbols/symbols_location.h"

struct code;

/* Returns the code of the profile's modules, whose symbols are those of `names`. */
struct code *code_open(const struct profile *profile, const struct names *names);
void code_close(struct code *code);

/* Return the functions of a module, and where functions without symbols begin; NULL if they cannot be read. */
const struct callees *code_callees(struct code *code, uint32_t module);
const struct bounds *code_bounds(struct code *code, uint32_t module);

/* Returns the number of an address, which is added to `names` if it is new; they are those of code_open(). */
uint32_t code_add_address(struct code *code, struct names *names, uint32_t module, uint64_t offset);

/* Returns where the function at an address begins, 0 if it is not known. */
uint64_t code_function(struct code *code, uint32_t module, uint64_t offset);

/* Returns the name of the function that begins at an address, NULL if none begins there or it has no name. */
const char *code_name(struct code *code, uint32_t module, uint64_t offset);

/* Returns whether a function of that name belongs to the OpenMP runtime's interface; whether constructs of that kind
 * (enum construct_kind) enter the runtime by it. */
bool code_is_runtime(const char *name);
bool code_enters(const char *name, uint32_t kind);

/* Return whether the call or jump that ends at an address is one of clang's entry points of the runtime; whether it is
 * a call that leads elsewhere than to the runtime. */
bool code_calls_clang(struct code *code, uint32_t module, uint64_t end);
bool code_calls_other(struct code *code, uint32_t module, uint64_t end);

/* Finds the outlined function that a call or jump, which ends at `end` in the function that begins at `low`, passes to
 * GCC's entry points of the runtime: the one that is loaded for it, or the only one that the function loads. */
bool code_passed(struct code *code, uint32_t module, uint64_t low, uint64_t end, struct symbols_location *found,
                 char *readable);

#endif
