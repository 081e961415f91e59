/* Reads one ELF file (64-bit, little-endian): sections, function symbols, build id.
 *
 * Context: BATCH, one thread at a time.  Reads ELF with libelf, which otherwise only launch/program/elf_facts uses. The
 * file is read, not mapped: if it is truncated meanwhile, reads are short, and there is no SIGBUS.  The bytes and names
 * that are returned belong to struct symbols_elf.  All input is hostile: a damaged part counts as missing.
 */
#ifndef COMMON_SYMBOLS_SYMBOLS_ELF_H
#define COMMON_SYMBOLS_SYMBOLS_ELF_H

#include <stdbool.h>
#include <stdint.h>

#include "common/symbols/symbols_cursor.h"
#include "common/symbols/symbols_names.h"
#include "common/symbols/symbols_ranges.h"

struct symbols_elf;

struct symbols_symbol {
  uint64_t low, high;   /* high = low: the size is unknown */
  uint64_t limit;       /* end of the section              */
  const char *raw;      /* linkage name                    */
  const char *readable; /* NULL until it is looked up                                                   */
  uint64_t start;       /* of the function: differs from low in a part that was split off (.cold)       */
  uint32_t length;      /* of raw                                                                       */
  uint8_t rank;         /* of the names for one address, the one with the smallest rank is shown        */
};

/* The caller initialises it to zero and frees `symbols`. */
struct symbols_symbols {
  struct symbols_symbol *symbols;
  size_t count, room;
};

/* Opens a regular file.  Returns NULL with the reason in message if it cannot be used. */
struct symbols_elf *symbols_elf_open(const char *path, char *message, size_t size);
void symbols_elf_close(struct symbols_elf *elf); /* NULL is allowed */

/* Opens a file that is in memory from malloc(), which it takes over.  Returns NULL if it cannot be used. */
struct symbols_elf *symbols_elf_open_image(uint8_t *image, size_t size);

/* Returns the bytes of a regular file without its holes; 0 if there is no such file. */
uint64_t symbols_elf_stored_bytes(const char *path);

/* Returns the path by which the file was opened, NULL for one in memory. */
const char *symbols_elf_path(const struct symbols_elf *elf);

/* What the system told of the file when it was opened; zeros of an image in memory. */
const struct stat *symbols_elf_status(const struct symbols_elf *elf);

/* Closes the descriptor of the file.  Sections that have been read remain valid; no others can be read.  elf may be
 * NULL. */
void symbols_elf_detach(struct symbols_elf *elf);

/* Returns a section's bytes, decompressed if it is one of debug data; no bytes if it is missing, empty or unreadable.
 * In the last case fault (which may be NULL) is set to the reason. */
struct symbols_bytes symbols_elf_section(struct symbols_elf *elf, const char *name, const char **fault);

/* Returns the GNU build id, no bytes if the file has none. */
struct symbols_bytes symbols_elf_build_id(struct symbols_elf *elf);

/* Adds the address ranges of executable code. */
void symbols_elf_code(struct symbols_elf *elf, struct symbols_ranges *code);

/* Whether the file has code: a separate debug file has none. */
bool symbols_elf_has_code(struct symbols_elf *elf);

enum symbols_elf_table { SYMBOLS_ELF_FULL, SYMBOLS_ELF_DYNAMIC };

/* Adds the functions of .symtab or .dynsym.  Returns their number. */
size_t symbols_elf_functions(struct symbols_elf *elf, enum symbols_elf_table table, struct symbols_symbols *out);

/* Adds the stubs through which functions of other modules are called, as NAME@plt; the names are copied to pool. */
void symbols_elf_stubs(struct symbols_elf *elf, struct symbols_pool *pool, struct symbols_symbols *out);

/* Computes the CRC-32 of the whole file as .gnu_debuglink uses it.  Returns false if the file is too large or
 * unreadable. */
bool symbols_elf_crc(const struct symbols_elf *elf, uint32_t *crc);

/* Whether something was not read because memory was missing, which a damaged file may claim; elf may be NULL. */
bool symbols_elf_lacks_memory(const struct symbols_elf *elf);

#endif
