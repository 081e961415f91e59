#include "common/symbols/symbols_elf.h"

#include "common/order.h"
#include "common/plt_stub.h"
#include "common/xalloc.h"

#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libdeflate.h>
#include <libelf.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

static const off_t checksum_bytes_max = (off_t)4 << 30; /* of a file whose checksum is computed */

enum {
  COMPRESSED_ZSTD = 2, /* ELFCOMPRESS_ZSTD, which older versions of libelf do not define   */
  RATIO_MAX = 64,      /* a section with a higher compression ratio counts as damaged      */
  READ_FACTOR = 8,     /* a file's sections are read a few times each                      */
  SEGMENTS_MAX = 256,
  STUB_STEP = 8,       /* stubs begin at multiples of it                                      */
  STUB_FIRST_MAX = 32, /* bytes of code before the first stub, which has the loader find targets */
  STUB_RANK = 4        /* after all names of the file's own functions                         */
};

/* A decompressed section, which is kept because it may be read again. */
struct decompressed {
  struct decompressed *next;
  Elf_Scn *section;
  struct symbols_bytes bytes;
  uint8_t own[]; /* the memory of `bytes` */
};

struct symbols_elf {
  Elf *elf;
  char *path;
  int fd;
  struct stat status;
  uint64_t budget_bytes; /* that may still be read: in a damaged file every section may claim the whole file */
  struct decompressed *decompressed;
  uint8_t *image;    /* the whole file, if it was opened in memory: no descriptor, no path */
  bool lacks_memory; /* something was not read because memory was missing */
};

static pthread_once_t version_once = PTHREAD_ONCE_INIT;

/* Notes whether a function of libelf, before which errno was 0, lacked memory: a damaged file can claim any. */
static void note_memory(struct symbols_elf *file)
{
  file->lacks_memory |= errno == ENOMEM;
}

static void set_version(void)
{
  elf_version(EV_CURRENT);
}

/* Opens a regular file for reading, without waiting for a FIFO or device. */
static int open_regular(const char *path, char *message, size_t size)
{
  struct stat status;
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) {
    snprintf(message, size, "cannot open '%s': %s", path, strerror(errno));
    return -1;
  }
  if (fstat(fd, &status) || !S_ISREG(status.st_mode)) {
    snprintf(message, size, "cannot read '%s': not a regular file", path);
    close(fd);
    return -1;
  }
  return fd;
}

/* Bytes of a file without its holes, as a sparse file may have any size.  Some file systems do not report them. */
static uint64_t allocated_bytes(const struct stat *status)
{
  uint64_t size = (uint64_t)status->st_size, blocks = (uint64_t)status->st_blocks * 512;
  return blocks && blocks < size ? blocks : size;
}

/* Why an open ELF file cannot be used; NULL if it can. */
static const char *unusable(Elf *elf)
{
  GElf_Ehdr header;
  size_t count;
  if (elf_kind(elf) != ELF_K_ELF)
    return "not an ELF file";
  if (gelf_getclass(elf) != ELFCLASS64)
    return "a 32-bit file; only 64-bit ones are supported";
  if (!gelf_getehdr(elf, &header) || header.e_ident[EI_DATA] != ELFDATA2LSB)
    return "its ELF header is damaged or of another byte order";
  if (elf_getshdrnum(elf, &count))
    return "its section headers are missing: truncated";
  return NULL;
}

uint64_t symbols_elf_stored_bytes(const char *path)
{
  struct stat status;
  return !stat(path, &status) && S_ISREG(status.st_mode) ? allocated_bytes(&status) : 0;
}

struct symbols_elf *symbols_elf_open(const char *path, char *message, size_t size)
{
  assert(message && size);
  pthread_once(&version_once, set_version);
  int fd = open_regular(path, message, size);
  if (fd < 0)
    return NULL;
  errno = 0;
  Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
  const char *fault = errno == ENOMEM ? "not enough memory" : "not an ELF file";
  if (elf)
    fault = unusable(elf);
  if (fault) {
    snprintf(message, size, "cannot use '%s': %s", path, fault);
    elf_end(elf);
    close(fd);
    return NULL;
  }
  struct symbols_elf *file = xcalloc(1, sizeof *file);
  file->elf = elf;
  file->path = xstrdup(path);
  file->fd = fd;
  if (!fstat(fd, &file->status))
    file->budget_bytes = READ_FACTOR * allocated_bytes(&file->status);
  return file;
}

struct symbols_elf *symbols_elf_open_image(uint8_t *image, size_t size)
{
  assert(image);
  pthread_once(&version_once, set_version);
  Elf *elf = elf_memory((char *)image, size);
  if (!elf || unusable(elf)) {
    elf_end(elf);
    free(image);
    return NULL;
  }
  struct symbols_elf *file = xcalloc(1, sizeof *file);
  *file = (struct symbols_elf){.elf = elf, .fd = -1, .image = image, .budget_bytes = READ_FACTOR * size};
  return file;
}

void symbols_elf_detach(struct symbols_elf *file)
{
  if (!file || file->fd < 0)
    return;
  elf_cntl(file->elf, ELF_C_FDDONE);
  close(file->fd);
  file->fd = -1;
}

void symbols_elf_close(struct symbols_elf *file)
{
  if (!file)
    return;
  elf_end(file->elf);
  while (file->decompressed) {
    struct decompressed *next = file->decompressed->next;
    free(file->decompressed);
    file->decompressed = next;
  }
  if (file->fd >= 0)
    close(file->fd);
  free(file->image);
  free(file->path);
  free(file);
}

const char *symbols_elf_path(const struct symbols_elf *file)
{
  return file->path;
}

const struct stat *symbols_elf_status(const struct symbols_elf *file)
{
  return &file->status;
}

/* The section after `section` (NULL: the first one) with its header; NULL at the end. */
static Elf_Scn *next_section(struct symbols_elf *file, Elf_Scn *section, GElf_Shdr *header)
{
  errno = 0;
  do
    section = elf_nextscn(file->elf, section);
  while (section && !gelf_getshdr(section, header));
  note_memory(file);
  return section;
}

static const char *section_name(struct symbols_elf *file, const GElf_Shdr *header)
{
  size_t strings;
  errno = 0;
  const char *name = elf_getshdrstrndx(file->elf, &strings) ? NULL : elf_strptr(file->elf, strings, header->sh_name);
  note_memory(file);
  return name ? name : "";
}

/* A section's bytes as they are in the file; libelf aligns tables and converts their byte order. */
static struct symbols_bytes section_bytes(struct symbols_elf *file, Elf_Scn *section)
{
  GElf_Shdr header;
  Elf_Data *data = NULL;
  if (gelf_getshdr(section, &header) && header.sh_size <= file->budget_bytes) {
    file->budget_bytes -= header.sh_size;
    errno = 0;
    data = elf_getdata(section, NULL);
    note_memory(file);
  }
  if (!data || !data->d_buf)
    return (struct symbols_bytes){0};
  return (struct symbols_bytes){data->d_buf, data->d_size};
}

/* How a section is compressed: as ELF describes it, or as GNU tools did before (".zdebug_info"). */
struct packing {
  size_t header; /* bytes before the compressed data */
  uint64_t size; /* of the decompressed data         */
  bool zstd;
};

/* Fills in how the bytes of a section are compressed.  False if that is damaged. */
static bool read_packing(Elf_Scn *section, struct symbols_bytes packed, bool old, struct packing *packing)
{
  static const char magic[4] = {'Z', 'L', 'I', 'B'};
  GElf_Chdr header;
  if (old) {
    *packing = (struct packing){.header = sizeof magic + sizeof packing->size};
    if (packed.size < packing->header || memcmp(packed.data, magic, sizeof magic))
      return false;
    memcpy(&packing->size, packed.data + sizeof magic, sizeof packing->size);
    packing->size = be64toh(packing->size);
  } else {
    if (!gelf_getchdr(section, &header))
      return false;
    *packing = (struct packing){sizeof(Elf64_Chdr), header.ch_size, header.ch_type == COMPRESSED_ZSTD};
  }
  return packed.size > packing->header && packing->size / RATIO_MAX <= packed.size;
}

/* Decompresses what zlib has compressed, in less than half of zlib's time.  Changes *size from the room to the bytes
 * that it has written. */
static bool inflate(struct symbols_bytes packed, uint8_t *to, size_t *size, bool *lacks_memory)
{
  struct libdeflate_decompressor *decompressor = libdeflate_alloc_decompressor();
  size_t room = *size;
  bool fine = decompressor &&
              libdeflate_zlib_decompress(decompressor, packed.data, packed.size, to, room, size) == LIBDEFLATE_SUCCESS;
  *lacks_memory |= !decompressor;
  libdeflate_free_decompressor(decompressor);
  return fine;
}

/* A compressed section's bytes.  libelf does not decompress zstd in all versions. */
static struct symbols_bytes decompress(struct symbols_elf *file, Elf_Scn *section, bool old)
{
  struct symbols_bytes packed = section_bytes(file, section);
  struct packing packing;
  if (!packed.size || !read_packing(section, packed, old, &packing))
    return (struct symbols_bytes){0};
  struct decompressed *kept = malloc(sizeof *kept + packing.size);
  file->lacks_memory |= !kept;
  if (!kept)
    return (struct symbols_bytes){0};
  *kept = (struct decompressed){.next = file->decompressed, .section = section};
  file->decompressed = kept;
  struct symbols_bytes data = {packed.data + packing.header, packed.size - packing.header};
  size_t size = packing.size;
  bool fine;
  if (packing.zstd)
    fine = !ZSTD_isError(size = ZSTD_decompress(kept->own, packing.size, data.data, data.size));
  else
    fine = inflate(data, kept->own, &size, &file->lacks_memory);
  if (fine)
    kept->bytes = (struct symbols_bytes){kept->own, size};
  return kept->bytes;
}

enum packed { NOT_PACKED, PACKED, PACKED_OLD };

/* The bytes of a section, compressed or not. */
static struct symbols_bytes stored_bytes(struct symbols_elf *file, Elf_Scn *section, enum packed packed)
{
  for (const struct decompressed *kept = file->decompressed; kept; kept = kept->next)
    if (kept->section == section)
      return kept->bytes;
  return packed ? decompress(file, section, packed == PACKED_OLD) : section_bytes(file, section);
}

static const char debug_prefix[] = ".debug_";

static bool is_debug_data(const char *name)
{
  return !strncmp(name, debug_prefix, sizeof debug_prefix - 1);
}

/* Whether a section has the name, or is the one of that name that older tools have compressed: .zdebug_info. */
static bool has_name(const char *found, const char *wanted, bool *old)
{
  static const char compressed[] = ".zdebug_";
  *old = !strncmp(found, compressed, sizeof compressed - 1) && is_debug_data(wanted) &&
         !strcmp(found + sizeof compressed - 1, wanted + sizeof debug_prefix - 1);
  return *old || !strcmp(found, wanted);
}

struct symbols_bytes symbols_elf_section(struct symbols_elf *file, const char *name, const char **fault)
{
  GElf_Shdr header;
  bool old;
  for (Elf_Scn *s = next_section(file, NULL, &header); s; s = next_section(file, s, &header)) {
    if (!has_name(section_name(file, &header), name, &old) || header.sh_type == SHT_NOBITS || !header.sh_size)
      continue;
    enum packed packed = header.sh_flags & SHF_COMPRESSED && is_debug_data(name) ? PACKED : NOT_PACKED;
    if (old)
      packed = PACKED_OLD;
    struct symbols_bytes bytes = stored_bytes(file, s, packed);
    if (bytes.size || !fault)
      return bytes;
    if (file->lacks_memory)
      *fault = "cannot be read: not enough memory";
    else if (packed)
      *fault = "cannot be decompressed: run 'objcopy --decompress-debug-sections' on the file";
    else
      *fault = "reaches beyond the end of the file: truncated";
    return bytes;
  }
  return (struct symbols_bytes){0};
}

/* The build id in a section of notes. */
static struct symbols_bytes note_build_id(struct symbols_elf *file, Elf_Scn *section)
{
  Elf_Data *data = section_bytes(file, section).size ? elf_getdata(section, NULL) : NULL;
  size_t next = 0, name, description;
  GElf_Nhdr note;
  if (!data)
    return (struct symbols_bytes){0};
  while ((next = gelf_getnote(data, next, &note, &name, &description)) > 0)
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && !memcmp((char *)data->d_buf + name, "GNU", 4))
      return (struct symbols_bytes){(const uint8_t *)data->d_buf + description, note.n_descsz};
  return (struct symbols_bytes){0};
}

struct symbols_bytes symbols_elf_build_id(struct symbols_elf *file)
{
  GElf_Shdr header;
  struct symbols_bytes id = {0};
  for (Elf_Scn *s = next_section(file, NULL, &header); s && !id.size; s = next_section(file, s, &header))
    if (header.sh_type == SHT_NOTE)
      id = note_build_id(file, s);
  return id;
}

void symbols_elf_code(struct symbols_elf *file, struct symbols_ranges *code)
{
  assert(file->elf);
  size_t count;
  GElf_Phdr segment;
  if (elf_getphdrnum(file->elf, &count))
    return;
  for (size_t i = 0; i < count && i < SEGMENTS_MAX; i++)
    if (gelf_getphdr(file->elf, (int)i, &segment) && segment.p_type == PT_LOAD && (segment.p_flags & PF_X))
      symbols_ranges_add(code, (struct symbols_range){segment.p_vaddr, segment.p_vaddr + segment.p_memsz, 0, 0});
}

bool symbols_elf_has_code(struct symbols_elf *file)
{
  GElf_Shdr header;
  for (Elf_Scn *s = next_section(file, NULL, &header); s; s = next_section(file, s, &header))
    if (header.sh_type == SHT_PROGBITS && header.sh_flags & SHF_EXECINSTR)
      return true;
  return false;
}

static void add_symbol(struct symbols_symbols *out, const struct symbols_symbol *symbol)
{
  *XAPPEND(out->symbols, out->count, out->room) = *symbol;
}

/* Fills in the header of a section, if it is one of code. */
static bool code_section(struct symbols_elf *file, size_t number, GElf_Shdr *header)
{
  Elf_Scn *section = elf_getscn(file->elf, number);
  return section && gelf_getshdr(section, header) && (header->sh_flags & SHF_EXECINSTR);
}

/* The rank of a symbol among those of one address: functions first, then labels; of each, exported ones first. */
static uint8_t rank_of(const Elf64_Sym *symbol)
{
  return (uint8_t)((ELF64_ST_TYPE(symbol->st_info) == STT_NOTYPE ? 2 : 0) +
                   (ELF64_ST_BIND(symbol->st_info) == STB_LOCAL ? 1 : 0));
}

/* Fills in the symbol of a function.  False if it is not one, or invalid. */
static bool function_symbol(struct symbols_elf *file, const Elf64_Sym *from, struct symbols_bytes names,
                            struct symbols_symbol *to)
{
  unsigned type = ELF64_ST_TYPE(from->st_info);
  const char *name = symbols_bytes_string(names, from->st_name);
  size_t length = name ? strnlen(name, SYMBOLS_NAME_MAX) : 0;
  GElf_Shdr section;
  if ((type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE) || !length || length >= SYMBOLS_NAME_MAX ||
      from->st_shndx == SHN_UNDEF || !code_section(file, from->st_shndx, &section) ||
      from->st_value < section.sh_addr || from->st_value - section.sh_addr >= section.sh_size)
    return false;
  uint64_t room = section.sh_size - (from->st_value - section.sh_addr);
  if (room > UINT64_MAX - from->st_value)
    return false;
  *to = (struct symbols_symbol){.low = from->st_value,
                                .high = from->st_value + MIN(from->st_size, room),
                                .limit = from->st_value + room,
                                .raw = name,
                                .length = (uint32_t)length,
                                .start = from->st_value,
                                .rank = rank_of(from)};
  return true;
}

size_t symbols_elf_functions(struct symbols_elf *file, enum symbols_elf_table table, struct symbols_symbols *out)
{
  assert(out);
  GElf_Shdr header;
  size_t before = out->count;
  unsigned wanted = table == SYMBOLS_ELF_FULL ? SHT_SYMTAB : SHT_DYNSYM;
  for (Elf_Scn *s = next_section(file, NULL, &header); s; s = next_section(file, s, &header)) {
    if (header.sh_type != wanted)
      continue;
    Elf_Scn *strings = elf_getscn(file->elf, header.sh_link);
    struct symbols_bytes bytes = section_bytes(file, s);
    struct symbols_bytes names =
        symbols_bytes_strings(strings ? section_bytes(file, strings) : (struct symbols_bytes){0});
    for (size_t i = 0; i < bytes.size / sizeof(Elf64_Sym); i++) {
      Elf64_Sym from;
      struct symbols_symbol symbol;
      memcpy(&from, bytes.data + i * sizeof from, sizeof from);
      if (function_symbol(file, &from, names, &symbol))
        add_symbol(out, &symbol);
    }
    break; /* a sound file has one table of each kind */
  }
  return out->count - before;
}

/* A slot of the global offset table, which the dynamic loader fills with a function's address. */
struct slot {
  uint64_t address;
  const char *name;
};

struct slots {
  struct slot *slots;
  size_t count, room;
  uint16_t machine; /* of the file */
};

ORDER(compare_slots, struct slot, COMPARE(x->address, y->address))

/* Does a relocation of that type fill a slot with the address of a symbol? */
static bool fills_slot(uint16_t machine, uint64_t type)
{
  if (machine == EM_AARCH64)
    return type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT;
  return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT;
}

/* Collects the slots of one relocation section that are filled with named symbols. */
static void collect_slots(struct symbols_elf *file, Elf_Scn *section, const GElf_Shdr *header, struct slots *out)
{
  GElf_Shdr table_header;
  Elf_Scn *table = elf_getscn(file->elf, header->sh_link);
  if (!table || !gelf_getshdr(table, &table_header) || table_header.sh_type != SHT_DYNSYM)
    return;
  Elf_Scn *strings = elf_getscn(file->elf, table_header.sh_link);
  struct symbols_bytes relocations = section_bytes(file, section), symbols = section_bytes(file, table);
  struct symbols_bytes names =
      symbols_bytes_strings(strings ? section_bytes(file, strings) : (struct symbols_bytes){0});
  for (size_t i = 0; i < relocations.size / sizeof(Elf64_Rela); i++) {
    Elf64_Rela relocation;
    Elf64_Sym symbol;
    memcpy(&relocation, relocations.data + i * sizeof relocation, sizeof relocation);
    uint64_t type = ELF64_R_TYPE(relocation.r_info), index = ELF64_R_SYM(relocation.r_info);
    if (!fills_slot(out->machine, type) || index >= symbols.size / sizeof symbol)
      continue;
    memcpy(&symbol, symbols.data + index * sizeof symbol, sizeof symbol);
    const char *name = symbols_bytes_string(names, symbol.st_name);
    if (name && *name)
      *XAPPEND(out->slots, out->count, out->room) = (struct slot){relocation.r_offset, name};
  }
}

/* The name of the slot through which the stub at an offset of code jumps; NULL if there is no stub. */
static const char *stub_target(struct symbols_bytes code, size_t offset, uint64_t address, const struct slots *slots,
                               struct plt_stub *stub)
{
  assert(offset < code.size);
  uint8_t bytes[PLT_STUB_MOST] = {0};
  memcpy(bytes, code.data + offset, MIN(plt_stub_bytes(slots->machine), code.size - offset));
  if (!plt_stub_read(slots->machine, bytes, address, stub))
    return NULL;
  struct slot wanted = {.address = stub->slot};
  const struct slot *slot = bsearch(&wanted, slots->slots, slots->count, sizeof wanted, compare_slots);
  return slot ? slot->name : NULL;
}

static void add_stub(const char *target, uint64_t low, uint64_t high, struct symbols_pool *pool,
                     struct symbols_symbols *out)
{
  char name[SYMBOLS_NAME_MAX];
  int length = snprintf(name, sizeof name, "%.*s@plt", (int)sizeof name - 8, target);
  struct symbols_symbol symbol = {.raw = symbols_pool_copy(pool, name, (size_t)length),
                                  .length = (uint32_t)length,
                                  .low = low,
                                  .high = high,
                                  .limit = high,
                                  .start = low,
                                  .rank = STUB_RANK};
  add_symbol(out, &symbol);
}

/* The bytes of a stub that was found at an offset of code.  On x86-64 there may be others behind its jump. */
static size_t stub_size(struct symbols_bytes code, size_t offset, uint64_t address, const struct slots *slots,
                        const struct plt_stub *stub)
{
  enum { JUMP_BYTES = 4 }; /* of aarch64 */
  struct plt_stub next;
  size_t size = STUB_STEP;
  if (slots->machine == EM_AARCH64)
    size = (stub->jump + JUMP_BYTES + STUB_STEP - 1) / STUB_STEP * STUB_STEP;
  else if (code.size - offset > STUB_STEP && !stub_target(code, offset + STUB_STEP, address + STUB_STEP, slots, &next))
    size = plt_stub_bytes(slots->machine);
  return MIN(size, code.size - offset);
}

/* Adds a symbol for each stub of a section, if half of it or more are stubs: elsewhere such a jump is a tail call. */
static void add_stubs(struct symbols_elf *file, Elf_Scn *section, uint64_t start, const struct slots *slots,
                      struct symbols_pool *pool, struct symbols_symbols *out)
{
  assert(slots->count);
  struct symbols_bytes code = section_bytes(file, section);
  size_t before = out->count, first = code.size, bytes = 0, size;
  for (size_t offset = 0; offset < code.size; offset += size) {
    struct plt_stub stub;
    const char *target = stub_target(code, offset, start + offset, slots, &stub);
    size = STUB_STEP;
    if (!target)
      continue;
    size = stub_size(code, offset, start + offset, slots, &stub);
    add_stub(target, start + offset, start + offset + size, pool, out);
    first = MIN(first, offset);
    bytes += size;
  }
  if (first > STUB_FIRST_MAX || bytes < (code.size - first) / 2)
    out->count = before;
}

/* Whether a section may be one of stubs, at least half of it, with one for each slot. */
static bool may_have_stubs(const GElf_Shdr *header, const struct slots *slots)
{
  return header->sh_type == SHT_PROGBITS && (header->sh_flags & SHF_EXECINSTR) &&
         header->sh_size <= STUB_FIRST_MAX + 2 * plt_stub_bytes(slots->machine) * slots->count;
}

ORDER(compare_low, struct symbols_symbol, COMPARE(x->low, y->low))

/* Puts names that a linker gives to its stubs, such as mold's puts$plt, behind those of the stubs, which all reports
 * have in the same form.  The stubs are the symbols from `first` on. */
static void outrank_linker_names(struct symbols_symbols *all, size_t first)
{
  struct symbols_symbol *stubs = all->symbols + first;
  size_t count = all->count - first;
  qsort(stubs, count, sizeof *stubs, compare_low);
  for (size_t i = 0; i < first; i++) {
    struct symbols_symbol *symbol = &all->symbols[i];
    if (symbol->high == symbol->low && bsearch(symbol, stubs, count, sizeof *stubs, compare_low))
      symbol->rank = STUB_RANK + 1;
  }
}

void symbols_elf_stubs(struct symbols_elf *file, struct symbols_pool *pool, struct symbols_symbols *out)
{
  GElf_Shdr header;
  GElf_Ehdr head;
  struct slots slots = {.machine = gelf_getehdr(file->elf, &head) ? head.e_machine : EM_NONE};
  size_t before = out->count;
  for (Elf_Scn *s = next_section(file, NULL, &header); s; s = next_section(file, s, &header))
    if (header.sh_type == SHT_RELA)
      collect_slots(file, s, &header, &slots);
  if (slots.count)
    qsort(slots.slots, slots.count, sizeof *slots.slots, compare_slots);
  for (Elf_Scn *s = next_section(file, NULL, &header); s && slots.count; s = next_section(file, s, &header))
    if (may_have_stubs(&header, &slots))
      add_stubs(file, s, header.sh_addr, &slots, pool, out);
  if (out->count > before)
    outrank_linker_names(out, before);
  free(slots.slots);
}

bool symbols_elf_crc(const struct symbols_elf *file, uint32_t *crc)
{
  assert(file->fd >= 0);
  uint8_t block[16384];
  ssize_t got;
  struct stat status;
  if (fstat(file->fd, &status) || status.st_size > checksum_bytes_max)
    return false;
  *crc = 0;
  for (off_t at = 0; (got = pread(file->fd, block, sizeof block, at)) > 0; at += got)
    *crc = libdeflate_crc32(*crc, block, (size_t)got);
  return got == 0;
}

bool symbols_elf_lacks_memory(const struct symbols_elf *file)
{
  return file && file->lacks_memory;
}
