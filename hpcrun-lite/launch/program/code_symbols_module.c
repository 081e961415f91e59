/* The module of code_symbols.h.  What the launcher has of common/symbols itself, the names of functions, it takes from
 * there: the demanglers are in static libraries that cannot be part of a module everywhere. */
#include "hpcrun-lite/launch/program/code_symbols.h"

const struct code_symbols code_symbols = {symbols_open, symbols_visit, symbols_free};
