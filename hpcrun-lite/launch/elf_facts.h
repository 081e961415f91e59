/* What an ELF file says about itself: can it be preloaded into, unwound, named; which symbols does it ask for
 * and offer.
 *
 * Context: BATCH (the launcher's helper).  Keeps no state.  A file that cannot be read or is damaged gives what was
 * sound; no input makes it fail otherwise.
 */
#ifndef HPCRUN_LITE_LAUNCH_ELF_FACTS_H
#define HPCRUN_LITE_LAUNCH_ELF_FACTS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct elf_facts {
  bool is_elf;
  bool is_x86_64; /* 64-bit code for this machine                                 */
  bool is_32_bit;
  bool is_dynamic;            /* has a dynamic section                                        */
  bool has_sections;          /* section headers were not stripped: symbols can be looked at  */
  bool has_code;              /* a .text of its own, not only the C library's start-up code  */
  bool has_unwind_index;      /* .eh_frame_hdr                                                */
  bool has_symbols;           /* .symtab                                                      */
  bool has_lines;             /* .debug_line                                                  */
  char interpreter[PATH_MAX]; /* the dynamic loader asked for; "" without                   */
  char debug_link[256];       /* name of the separate debug file; "" without                  */
  uint32_t build_id_size;
  uint8_t build_id[32];
};

struct elf_symbol {
  const char *name;
  const char *version; /* "" without                                                  */
  const char *library; /* undefined ones: the library that is to define it, "" if any */
  bool undefined;
};

/* Fills *facts from the file; a file that is not ELF leaves is_elf false.  Returns 0, or -1 with errno where the file
 * cannot be opened. */
int elf_facts_read(const char *path, struct elf_facts *facts);

/* Calls visit for every dynamic symbol that is undefined or defined and not local; its strings live until visit
 * returns.  Returns 0, or -1 where the file has no readable dynamic symbols. */
int elf_symbols_visit(const char *path, void (*visit)(void *context, const struct elf_symbol *symbol), void *context);

#endif
