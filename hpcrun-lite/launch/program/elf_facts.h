/* Facts about an ELF file that decide how well it can be measured, and its symbols.
 *
 * Context: BATCH (the launcher).  Keeps no state; the caller owns all memory.  From a damaged file the facts
 * are incomplete; no input causes another failure.
 */
#ifndef HPCRUN_LITE_LAUNCH_PROGRAM_ELF_FACTS_H
#define HPCRUN_LITE_LAUNCH_PROGRAM_ELF_FACTS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct elf_facts {
  bool is_elf;
  bool is_native; /* 64-bit code for this machine */
  bool is_32_bit;
  bool has_code;              /* .text holds more than the C library's start-up code */
  bool has_unwind_index;      /* .eh_frame_hdr */
  bool has_symbols;           /* .symtab, or .gnu_debugdata, which has most of it */
  bool has_lines;             /* .debug_line */
  bool names_auditors;        /* libraries that the dynamic loader calls, as those of LD_AUDIT */
  char interpreter[PATH_MAX]; /* path of the dynamic loader, or "" */
  char debug_link[256];       /* name of the separate debug file, or "" */
  uint32_t build_id_size;
  uint8_t build_id[32];
};

struct elf_symbol {
  const char *name;
  const char *version; /* may be "" */
  const char *library; /* of an undefined symbol: the library that must define it; "": any */
  bool undefined;
};

/* Fills *facts; is_elf is false if the file is not ELF.  Returns 0, or -1 with errno if the file cannot be opened. */
int elf_facts_read(const char *path, struct elf_facts *facts);

/* Calls visit for every dynamic symbol that is not local; its strings are valid until visit returns.  part: nothing is
 * visited, and the symbols are not read, unless a name in the file contains it; NULL: always.  Returns 0, or -1 if no
 * dynamic symbols were read. */
int elf_symbols_visit(const char *path, const char *part, void (*visit)(void *context, const struct elf_symbol *symbol),
                      void *context);

/* Does the file define the version of symbols?  True if the file cannot be read. */
bool elf_defines_version(const char *path, const char *version);

/* Calls visit with the name of every function that the file defines, exported or not, if the name of a symbol contains
 * `part`; none if it is stripped. */
void elf_functions_visit(const char *path, const char *part, void (*visit)(void *context, const char *name),
                         void *context);

#endif
