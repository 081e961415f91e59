#define _GNU_SOURCE
#include "hpcrun-lite/launch/program/elf_facts.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hpcrun-lite/arch/machine.h"

#define START_CODE_MAX                                                                                                 \
  512                    /* bytes of .text in a library of data alone: what the C library's crt files put into all     \
                          */
#define VERSIONS_MAX 512 /* version indices of one file; glibc, the largest user, has about 60 */

/* Copies a string that may lack its NUL at the end of the data. */
static void copy_text(const Elf_Data *data, char *text, size_t size)
{
  size_t length = strnlen(data->d_buf, data->d_size < size - 1 ? data->d_size : size - 1);
  memcpy(text, data->d_buf, length);
  text[length] = '\0';
}

/* Opens a regular file: opening a FIFO or a device might wait.  The file is read, not mapped: if it shrinks meanwhile,
 * reads are short, and no SIGBUS is raised. */
static int open_regular(const char *path)
{
  struct stat status;
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0 || (fstat(fd, &status) == 0 && S_ISREG(status.st_mode)))
    return fd;
  close(fd);
  errno = ENOEXEC;
  return -1;
}

static void read_program_headers(Elf *elf, struct elf_facts *facts)
{
  size_t count;
  if (elf_getphdrnum(elf, &count) != 0)
    return;
  for (size_t i = 0; i < count; i++) {
    GElf_Phdr header;
    if (!gelf_getphdr(elf, (int)i, &header))
      continue;
    facts->has_unwind_index |= header.p_type == PT_GNU_EH_FRAME;
    if (header.p_type != PT_INTERP)
      continue;
    Elf_Data *data = elf_getdata_rawchunk(elf, (int64_t)header.p_offset, header.p_filesz, ELF_T_BYTE);
    if (data && data->d_buf && data->d_size > 0)
      copy_text(data, facts->interpreter, sizeof facts->interpreter);
  }
}

static void read_build_id(Elf_Data *data, struct elf_facts *facts)
{
  GElf_Nhdr note;
  size_t name_at, desc_at, next;
  for (size_t at = 0; (next = gelf_getnote(data, at, &note, &name_at, &desc_at)) > 0; at = next) {
    if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 || note.n_descsz > sizeof facts->build_id)
      continue;
    facts->build_id_size = note.n_descsz;
    memcpy(facts->build_id, (const char *)data->d_buf + desc_at, note.n_descsz);
    return;
  }
}

static void read_dynamic_section(Elf_Data *data, struct elf_facts *facts)
{
  GElf_Dyn entry;
  for (int i = 0; data && gelf_getdyn(data, i, &entry) && entry.d_tag != DT_NULL; i++)
    facts->names_auditors |= entry.d_tag == DT_AUDIT || entry.d_tag == DT_DEPAUDIT;
}

static void read_section(Elf *elf, Elf_Scn *section, size_t names, struct elf_facts *facts)
{
  GElf_Shdr header;
  if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS)
    return;
  const char *name = elf_strptr(elf, names, header.sh_name);
  facts->has_symbols |= header.sh_type == SHT_SYMTAB;
  if (header.sh_type == SHT_DYNAMIC)
    read_dynamic_section(elf_getdata(section, NULL), facts);
  if (!name)
    return;
  facts->has_lines |= strcmp(name, ".debug_line") == 0 || strcmp(name, ".zdebug_line") == 0;
  facts->has_symbols |= strcmp(name, ".gnu_debugdata") == 0;
  facts->has_code |= strcmp(name, ".text") == 0 && header.sh_size > START_CODE_MAX;
  if (header.sh_type != SHT_NOTE && strcmp(name, ".gnu_debuglink") != 0)
    return;
  Elf_Data *data = elf_getdata(section, NULL);
  if (!data || !data->d_buf)
    return;
  if (header.sh_type == SHT_NOTE)
    read_build_id(data, facts);
  else
    copy_text(data, facts->debug_link, sizeof facts->debug_link);
}

static void read_facts(Elf *elf, struct elf_facts *facts)
{
  GElf_Ehdr header;
  size_t names;
  Elf_Scn *section = NULL;
  if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &header))
    return;
  facts->is_elf = true;
  facts->is_32_bit = header.e_ident[EI_CLASS] == ELFCLASS32;
  facts->is_native = !facts->is_32_bit && header.e_machine == MACHINE_ELF;
  read_program_headers(elf, facts);
  if (elf_getshdrstrndx(elf, &names) != 0)
    return;
  while ((section = elf_nextscn(elf, section)))
    read_section(elf, section, names, facts);
}

int elf_facts_read(const char *path, struct elf_facts *facts)
{
  memset(facts, 0, sizeof *facts);
  int fd = open_regular(path);
  if (fd < 0)
    return -1;
  elf_version(EV_CURRENT);
  Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
  if (elf) {
    read_facts(elf, facts);
    elf_end(elf);
  }
  close(fd);
  return 0;
}

/* The sections that describe dynamic symbols, and the names of their versions by index. */
struct dynamic_symbols {
  Elf *elf;
  Elf_Data *symbols, *versions;
  size_t count, strings;
  const char *version[VERSIONS_MAX], *library[VERSIONS_MAX];
};

static void read_needed_versions(struct dynamic_symbols *dynamic, Elf_Data *data, const GElf_Shdr *header)
{
  GElf_Verneed need;
  size_t left = data->d_size / sizeof(Elf64_Vernaux); /* entries that there is room for: a damaged table has no end */
  for (size_t at = 0, i = 0; i < header->sh_info && gelf_getverneed(data, (int)at, &need); i++, at += need.vn_next) {
    GElf_Vernaux aux;
    size_t aux_at = at + need.vn_aux;
    const char *library = elf_strptr(dynamic->elf, header->sh_link, need.vn_file);
    for (size_t k = 0; k < need.vn_cnt && left && gelf_getvernaux(data, (int)aux_at, &aux); k++, left--) {
      unsigned index = aux.vna_other & 0x7fff;
      if (index < VERSIONS_MAX) {
        dynamic->version[index] = elf_strptr(dynamic->elf, header->sh_link, aux.vna_name);
        dynamic->library[index] = library;
      }
      aux_at += aux.vna_next;
    }
    if (need.vn_next == 0)
      return;
  }
}

static void read_defined_versions(struct dynamic_symbols *dynamic, Elf_Data *data, const GElf_Shdr *header)
{
  GElf_Verdef definition;
  for (size_t at = 0, i = 0; i < header->sh_info && gelf_getverdef(data, (int)at, &definition); i++) {
    GElf_Verdaux aux;
    unsigned index = definition.vd_ndx & 0x7fff;
    if (index < VERSIONS_MAX && !(definition.vd_flags & VER_FLG_BASE) &&
        gelf_getverdaux(data, (int)(at + definition.vd_aux), &aux))
      dynamic->version[index] = elf_strptr(dynamic->elf, header->sh_link, aux.vda_name);
    if (definition.vd_next == 0)
      return;
    at += definition.vd_next;
  }
}

static void find_sections(struct dynamic_symbols *dynamic)
{
  Elf_Scn *section = NULL;
  while ((section = elf_nextscn(dynamic->elf, section))) {
    GElf_Shdr header;
    Elf_Data *data;
    if (!gelf_getshdr(section, &header))
      continue;
    bool wanted = header.sh_type == SHT_DYNSYM || header.sh_type == SHT_GNU_versym ||
                  header.sh_type == SHT_GNU_verneed || header.sh_type == SHT_GNU_verdef;
    if (!wanted || !(data = elf_getdata(section, NULL)))
      continue;
    if (header.sh_type == SHT_DYNSYM) {
      dynamic->symbols = data;
      size_t size = gelf_fsize(dynamic->elf, ELF_T_SYM, 1, EV_CURRENT);
      dynamic->count = size ? data->d_size / size : 0;
      dynamic->strings = header.sh_link;
    } else if (header.sh_type == SHT_GNU_versym) {
      dynamic->versions = data;
    } else if (header.sh_type == SHT_GNU_verneed) {
      read_needed_versions(dynamic, data, &header);
    } else if (header.sh_type == SHT_GNU_verdef) {
      read_defined_versions(dynamic, data, &header);
    }
  }
}

static bool get_symbol(const struct dynamic_symbols *dynamic, size_t i, struct elf_symbol *symbol)
{
  GElf_Sym raw;
  GElf_Versym version = 0;
  if (!gelf_getsym(dynamic->symbols, (int)i, &raw) || GELF_ST_BIND(raw.st_info) == STB_LOCAL)
    return false;
  symbol->name = elf_strptr(dynamic->elf, dynamic->strings, raw.st_name);
  symbol->undefined = raw.st_shndx == SHN_UNDEF;
  if (!symbol->name || symbol->name[0] == '\0')
    return false;
  if (dynamic->versions)
    gelf_getversym(dynamic->versions, (int)i, &version);
  unsigned index = version & 0x7fff;
  bool known = index >= 1 && index < VERSIONS_MAX;
  symbol->version = known && dynamic->version[index] ? dynamic->version[index] : "";
  symbol->library = known && dynamic->library[index] ? dynamic->library[index] : "";
  return true;
}

/* Whether the names of the file's symbol tables of that type have the text in them. */
static bool names_contain(Elf *elf, unsigned type, const char *part)
{
  Elf_Scn *section = NULL;
  GElf_Shdr header;
  while ((section = elf_nextscn(elf, section))) {
    if (!gelf_getshdr(section, &header) || header.sh_type != type)
      continue;
    Elf_Data *names = elf_getdata(elf_getscn(elf, header.sh_link), NULL);
    if (names && names->d_buf && memmem(names->d_buf, names->d_size, part, strlen(part)))
      return true;
  }
  return false;
}

int elf_symbols_visit(const char *path, const char *part, void (*visit)(void *context, const struct elf_symbol *symbol),
                      void *context)
{
  struct dynamic_symbols *dynamic = calloc(1, sizeof *dynamic);
  int result = -1;
  int fd = open_regular(path);
  if (!dynamic || fd < 0)
    goto out;
  elf_version(EV_CURRENT);
  dynamic->elf = elf_begin(fd, ELF_C_READ, NULL);
  if (!dynamic->elf || elf_kind(dynamic->elf) != ELF_K_ELF)
    goto out;
  if (part && !names_contain(dynamic->elf, SHT_DYNSYM, part))
    goto out;
  find_sections(dynamic);
  if (!dynamic->symbols)
    goto out;
  for (size_t i = 1; i < dynamic->count; i++) {
    struct elf_symbol symbol;
    if (get_symbol(dynamic, i, &symbol))
      visit(context, &symbol);
  }
  result = 0;
out:
  if (dynamic && dynamic->elf)
    elf_end(dynamic->elf);
  if (fd >= 0)
    close(fd);
  free(dynamic);
  return result;
}

bool elf_defines_version(const char *path, const char *version)
{
  struct dynamic_symbols *dynamic = calloc(1, sizeof *dynamic);
  int fd = open_regular(path);
  bool defines = !dynamic || fd < 0;
  elf_version(EV_CURRENT);
  if (!defines && (dynamic->elf = elf_begin(fd, ELF_C_READ, NULL)) && elf_kind(dynamic->elf) == ELF_K_ELF)
    find_sections(dynamic);
  for (size_t i = 0; i < VERSIONS_MAX && !defines; i++)
    defines = dynamic->version[i] && !dynamic->library[i] && !strcmp(dynamic->version[i], version);
  if (dynamic && dynamic->elf)
    elf_end(dynamic->elf);
  if (fd >= 0)
    close(fd);
  free(dynamic);
  return defines;
}

static void visit_functions(Elf *elf, Elf_Scn *section, void (*visit)(void *context, const char *name), void *context)
{
  GElf_Shdr header;
  Elf_Data *data;
  size_t size = gelf_fsize(elf, ELF_T_SYM, 1, EV_CURRENT);
  if (!gelf_getshdr(section, &header) || header.sh_type != SHT_SYMTAB)
    return;
  data = elf_getdata(section, NULL);
  for (size_t i = 1; data && size && i < data->d_size / size; i++) {
    GElf_Sym symbol;
    if (!gelf_getsym(data, (int)i, &symbol) || GELF_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF)
      continue;
    const char *name = elf_strptr(elf, header.sh_link, symbol.st_name);
    if (name)
      visit(context, name);
  }
}

void elf_functions_visit(const char *path, const char *part, void (*visit)(void *context, const char *name),
                         void *context)
{
  int fd = open_regular(path);
  if (fd < 0)
    return;
  elf_version(EV_CURRENT);
  Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
  Elf_Scn *section = NULL;
  bool wanted = elf && elf_kind(elf) == ELF_K_ELF && names_contain(elf, SHT_SYMTAB, part);
  while (wanted && (section = elf_nextscn(elf, section)))
    visit_functions(elf, section, visit, context);
  if (elf)
    elf_end(elf);
  close(fd);
}
