/* Symbols of one module: address in an ELF file → function, source line and the chain of functions inlined there.
 *
 * Context: BATCH.  An index belongs to whoever opened it.  symbols_lookup() may be called from several threads at once
 * on the same index (a lock inside guards what is built on demand); different indices share nothing.  Strings handed
 * out live as long as the index.  Every file read is hostile: what is damaged is left out and said in the message,
 * never followed blindly.
 *
 * The parts: symbols_elf (the only file that knows libelf), symbols_table (symbol tables), symbols_dwarf (the only file
 * that knows libdwarf; runs in a child process, since libdwarf does not survive damaged files), symbols_child (that
 * process), symbols_index (what it hands back), symbols_names (readable names), symbols_ranges (address → innermost
 * range), symbols_cursor.h (checked reads). */
#ifndef HPCPROF_LITE_SYMBOLS_SYMBOLS_H
#define HPCPROF_LITE_SYMBOLS_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbols;

struct symbols_request {
  const char *path;        /* file that was mapped; may have vanished or changed since          */
  const uint8_t *build_id; /* as measured; a file with another one is not used                  */
  uint32_t build_id_size;  /* bytes, 0 = not known: the file is taken as it is                  */
  const char *debug_root;  /* where separate debug files are kept; NULL = /usr/lib/debug        */
  const uint32_t *offsets; /* what will be looked up, ascending: only functions with one of these are read in full,
                              and lines only of their units; none = everything                  */
  uint32_t offset_count;
};

/* One function instance that covers an address, possibly inlined.  Unknown strings are NULL, unknown lines 0. */
struct symbols_place {
  const char *function;  /* readable name: demangled, without the compiler's clone suffixes                      */
  const char *raw;       /* linkage name as in the file; NULL where it is the same                               */
  const char *file;      /* source position in this frame: of the address itself for the innermost place, of the */
  uint32_t line;         /*   call that was inlined for the others                                               */
  const char *decl_file; /* where the function is declared; for a function that the compiler made (gcc's         */
  uint32_t decl_line;    /*   outlined ones) its first line of code, which is that of the construct              */
  uint64_t low;          /* start of the out-of-line function that holds the code, the same for the whole chain  */
  bool inlined;          /* inlined into the place before it                                                     */
};

enum symbols_error {
  SYMBOLS_OK = 0,
  SYMBOLS_UNREADABLE = -1, /* nothing usable: no such file, no ELF file, truncated */
  SYMBOLS_MISMATCH = -2,   /* the file is not the one that was measured            */
  SYMBOLS_DAMAGED = -3,    /* usable in part                                       */
  SYMBOLS_NOMEM = -4
};

enum symbols_flag {
  SYMBOLS_HAS_TABLE = 1,   /* a full symbol table (.symtab)                        */
  SYMBOLS_HAS_DYNAMIC = 2, /* only exported functions are named (.dynsym)          */
  SYMBOLS_HAS_LINES = 4,   /* line tables                                          */
  SYMBOLS_HAS_INLINES = 8, /* full function information (.debug_info)              */
  SYMBOLS_SEPARATE = 16    /* some of it comes from a separate debug file          */
};

/* Opens a module's file and its separate debug files.  Returns 0 or a negative enum symbols_error; *out is an index
 * that answers what it can also on failure (NULL only with SYMBOLS_NOMEM).  message receives one line, empty if all is
 * well; a file without debug information is no failure. */
int symbols_open(const struct symbols_request *request, struct symbols **out, char *message, size_t size);

/* Finds what covers offset (an address minus the load bias: the ELF file's own addresses).  Writes up to max places,
 * outermost first, and returns their number, 0 if nothing is known.  Where the chain is longer than max, its inner end
 * is left out: the last place then is at its call site. */
int symbols_lookup(const struct symbols *symbols, uint64_t offset, struct symbols_place *places, int max);

/* Bits of enum symbols_flag: what the index can tell. */
unsigned symbols_flags(const struct symbols *symbols);

void symbols_free(struct symbols *symbols);

/* What a linkage name says about a function that the compiler made out of an OpenMP construct. */
enum symbols_outline {
  SYMBOLS_ORDINARY = 0, /* not made by the compiler, or not recognised           */
  SYMBOLS_OUTLINED,     /* body of a parallel region, a task or a target region  */
  SYMBOLS_TASK_ENTRY,   /* what the runtime calls to run a task (clang)          */
  SYMBOLS_TASK_HELPER   /* copies or destroys a task's data                      */
};

/* Classifies a linkage name.  base (may be NULL) receives the readable name of the function that contains the
 * construct, "" where the name does not say. */
enum symbols_outline symbols_outlined(const char *raw, char *base, size_t size);

#endif
