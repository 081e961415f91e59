#include "hpcrun-lite/rt/core/module_identity.h"

#include <elf.h>
#include <string.h>
#include <sys/auxv.h>

#include "common/file_identity.h"
#include "hpcrun-lite/rt/core/sys.h"

/* Reads a program header.  False if there is none of that number. */
static bool read_segment(const struct format_module *module, const Elf64_Ehdr *head, unsigned number,
                         Elf64_Phdr *segment)
{
  return number < head->e_phnum && number < FILE_IDENTITY_SEGMENTS &&
         sys_peek(module->start + head->e_phoff + number * sizeof *segment, segment, sizeof *segment);
}

static bool read_head(const struct format_module *module, Elf64_Ehdr *head)
{
  return sys_peek(module->start, head, sizeof *head) && memcmp(head->e_ident, ELFMAG, SELFMAG) == 0 &&
         head->e_phentsize == sizeof(Elf64_Phdr);
}

/* Looks for the build id in the notes of one segment. */
static bool read_notes(struct format_module *module, const Elf64_Phdr *segment)
{
  uint64_t at = module->base + segment->p_vaddr, end = at + segment->p_memsz;
  for (int notes = 0; notes < 32 && at + sizeof(Elf64_Nhdr) + 8 <= end; notes++) {
    struct {
      Elf64_Nhdr head;
      char name[4];
    } note;
    if (!sys_peek(at, &note, sizeof note))
      return false;
    uint64_t body = at + sizeof note.head + (note.head.n_namesz + 3u) / 4 * 4;
    if (note.head.n_type == NT_GNU_BUILD_ID && note.head.n_namesz == 4 && !memcmp(note.name, "GNU", 4) &&
        note.head.n_descsz >= 8 && note.head.n_descsz <= sizeof module->build_id &&
        sys_peek(body, module->build_id, note.head.n_descsz)) {
      module->build_id_size = note.head.n_descsz;
      return true;
    }
    at = body + ((uint64_t)note.head.n_descsz + 3) / 4 * 4;
  }
  return false;
}

static void read_build_id(struct format_module *module, const Elf64_Ehdr *head)
{
  Elf64_Phdr segment;
  for (unsigned i = 0; read_segment(module, head, i, &segment); i++)
    if (segment.p_type == PT_NOTE && read_notes(module, &segment))
      return;
}

/* Appends the dynamic section to the checksum.  Returns whether the loader changes code. */
static bool add_dynamic(const struct format_module *module, const Elf64_Phdr *segment, uint64_t *hash)
{
  bool moves = false;
  Elf64_Dyn entry;
  uint64_t at = module->base + segment->p_vaddr;
  for (unsigned i = 0; i < FILE_IDENTITY_ENTRIES && (i + 1) * sizeof entry <= segment->p_memsz &&
                       sys_peek(at + i * sizeof entry, &entry, sizeof entry) && entry.d_tag != DT_NULL;
       i++) {
    *hash = file_identity_entry(*hash, &entry, module->base, module->start, module->end);
    moves |= file_identity_moves_code(&entry);
  }
  return moves;
}

/* The checksum of program headers and dynamic section.  *moves: the loader changes code. */
static uint64_t headers_of(const struct format_module *module, const Elf64_Ehdr *head, bool *moves)
{
  Elf64_Phdr segment;
  uint64_t hash = HASH_START;
  *moves = false;
  for (unsigned i = 0; read_segment(module, head, i, &segment); i++) {
    hash = hash_bytes(hash, &segment, sizeof segment);
    if (segment.p_type == PT_DYNAMIC)
      *moves |= add_dynamic(module, &segment, &hash);
  }
  return hash;
}

/* The executable's file may have no path any more; started as "ld.so PROGRAM", the link leads to the loader. */
static void read_times(struct format_module *module, const char *path)
{
  bool linked = module->flags & FORMAT_MODULE_MAIN && getauxval(AT_BASE) &&
                sys_file_times("/proc/self/exe", &module->file_size, &module->file_time_ns);
  if (!linked && !(module->flags & FORMAT_MODULE_VDSO))
    sys_file_times(path, &module->file_size, &module->file_time_ns);
}

void module_identity_read(struct format_module *module, const char *path)
{
  Elf64_Ehdr head;
  bool moves = false;
  read_times(module, path);
  if (!read_head(module, &head))
    return;
  read_build_id(module, &head);
  if (!module->build_id_size && !(module->flags & (FORMAT_MODULE_VDSO | FORMAT_MODULE_TOOL)))
    module->headers = headers_of(module, &head, &moves);
  if (module->headers && moves)
    module->flags |= FORMAT_MODULE_CHANGED;
}

bool module_identity_page(const struct format_module *module, uint64_t offset, struct format_code *code)
{
  Elf64_Ehdr head;
  Elf64_Phdr segment;
  if (!read_head(module, &head))
    return false;
  for (unsigned i = 0; read_segment(module, &head, i, &segment); i++) {
    if (segment.p_type != PT_LOAD || !(segment.p_flags & PF_X) || segment.p_flags & PF_W || offset < segment.p_vaddr ||
        offset - segment.p_vaddr >= segment.p_filesz)
      continue;
    uint64_t page = offset / FILE_IDENTITY_PAGE * FILE_IDENTITY_PAGE, end = segment.p_vaddr + segment.p_filesz;
    code->offset = page > segment.p_vaddr ? page : segment.p_vaddr;
    code->bytes = (uint32_t)((end < page + FILE_IDENTITY_PAGE ? end : page + FILE_IDENTITY_PAGE) - code->offset);
    code->checksum = HASH_START;
    uint8_t part[256]; /* the stack may be small */
    for (uint32_t done = 0, size; done < code->bytes; done += size) {
      size = code->bytes - done < sizeof part ? code->bytes - done : (uint32_t)sizeof part;
      if (!sys_peek(module->base + code->offset + done, part, size))
        return false;
      code->checksum = hash_bytes(code->checksum, part, size);
    }
    return true;
  }
  return false;
}
