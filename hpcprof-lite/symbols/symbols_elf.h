/* One ELF file (64-bit, little-endian): sections, function symbols, build id.  The only file that knows libelf.
 *
 * Context: BATCH.  Not locked.  The file is read, not mapped: a file that shrinks meanwhile gives short reads, no
 * SIGBUS.  Bytes handed out live until symbols_elf_close(). */
#ifndef HPCPROF_LITE_SYMBOLS_SYMBOLS_ELF_H
#define HPCPROF_LITE_SYMBOLS_SYMBOLS_ELF_H

#include <stdbool.h>
#include <stdint.h>

#include "hpcprof-lite/symbols/symbols_cursor.h"
#include "hpcprof-lite/symbols/symbols_names.h"
#include "hpcprof-lite/symbols/symbols_ranges.h"

struct symbols_elf;

struct symbols_symbol {
  uint64_t low, high; /* high = low: size not known */
  uint64_t limit;     /* end of the section         */
  const char *raw;
  const char *readable; /* NULL until asked for       */
  uint64_t start;       /* of the function: differs from low in a part that was split off (.cold) */
  uint32_t length;      /* of raw                                                                 */
  uint8_t rank;         /* of names for one address, the smallest is shown                        */
};

struct symbols_symbols {
  struct symbols_symbol *symbols;
  size_t count, room;
};

/* Opens a regular file; NULL with the reason in message. */
struct symbols_elf *symbols_elf_open(const char *path, char *message, size_t size);
void symbols_elf_close(struct symbols_elf *elf);

/* Closes the file; sections read so far stay, no others can be read. */
void symbols_elf_detach(struct symbols_elf *elf);

/* A section's bytes, decompressed; none if it is absent, empty or unreadable.  In the last case fault (which may be
 * NULL) is set to the reason. */
struct symbols_bytes symbols_elf_section(struct symbols_elf *elf, const char *name, const char **fault);

/* The GNU build id, no bytes without. */
struct symbols_bytes symbols_elf_build_id(struct symbols_elf *elf);

/* Adds where executable code lies. */
bool symbols_elf_code(struct symbols_elf *elf, struct symbols_ranges *code);

enum symbols_elf_table { SYMBOLS_ELF_FULL, SYMBOLS_ELF_DYNAMIC };

/* Adds the functions of .symtab or .dynsym; returns their number, negative without memory. */
long symbols_elf_functions(struct symbols_elf *elf, enum symbols_elf_table table, struct symbols_symbols *out);

/* Adds the stubs through which functions of other modules are called, named NAME@plt.  False: no memory. */
bool symbols_elf_stubs(struct symbols_elf *elf, struct symbols_pool *pool, struct symbols_symbols *out);

/* CRC-32 of the whole file, as .gnu_debuglink has it. */
bool symbols_elf_crc(const struct symbols_elf *elf, uint32_t *crc);

#endif
