/* What is known of an address.  Context: BATCH.  The strings belong to the module's symbols (symbols.h). */
#ifndef COMMON_SYMBOLS_SYMBOLS_LOCATION_H
#define COMMON_SYMBOLS_SYMBOLS_LOCATION_H

#include <stdbool.h>
#include <stdint.h>

/* One instance of a function that covers an address, possibly inlined.  Unknown strings are NULL, unknown lines 0. */
struct symbols_location {
  const char *function;  /* readable name: demangled, without the compiler's clone suffixes                  */
  const char *raw;       /* linkage name as in the file; NULL if it is the same                              */
  const char *file;      /* source position in this function: for the innermost location that of the address,   */
  uint32_t line;         /*   for the others that of the call that was inlined                               */
  const char *decl_file; /* where the function is declared; for a function that the compiler made (such as   */
  uint32_t decl_line;    /*   gcc's outlined ones) its first line of code, which is that of the construct    */
  uint64_t low;          /* start of the out-of-line function that contains the code; equal for all locations   */
  bool inlined;          /* inlined into the location before it                                                 */
  bool near;             /* the address itself has no line: the line is that of near code of this function   */
};

/* What debug data tell of a function's tail calls: jumps into another function, which takes over the frame. */
enum symbols_tail_kind {
  SYMBOLS_TAIL_ALL,   /* all of the function are listed; `address` is 0 */
  SYMBOLS_TAIL_AT,    /* `address` is that of a jump                    */
  SYMBOLS_TAIL_BEHIND /* `address` is behind a jump                     */
};

struct symbols_tail_call {
  uint64_t function; /* where it begins */
  uint64_t address;
  uint64_t kind; /* enum symbols_tail_kind */
};

#endif
