#include "common/symbols/symbols.h"

#include <assert.h>
#include <elf.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/order.h"
#include "common/version.h"
#include "common/xalloc.h"
#include "common/symbols/debug_store.h"
#include "common/symbols/symbols_cursor.h"
#include "common/symbols/symbols_debuginfod.h"
#include "common/symbols/symbols_dwarf.h"
#include "common/symbols/symbols_elf.h"
#include "common/symbols/symbols_embedded.h"
#include "common/symbols/symbols_identity.h"
#include "common/symbols/symbols_summary.h"
#include "common/symbols/symbols_names.h"
#include "common/symbols/symbols_search.h"
#include "common/symbols/symbols_ranges.h"
#include "common/symbols/symbols_table.h"

#define DEBUG_ROOT "/usr/lib/debug"
#define SEPARATE " (its separate debug file)"
#define REMEDY "; give a directory that has the measured one with --symbols, or measure with --keep-symbols"

enum { PATH_SIZE = 4096, BUILD_ID_MAX = SYMBOLS_ID_BYTES };

/* Look-ups change it, guarded by the lock. */
struct symbols {
  pthread_mutex_t lock;
  struct symbols_pool pool;
  struct symbols_elf *program, *debug, *shared; /* the module, its separate file, that of dwz; any may be NULL */
  struct symbols_elf *embedded;                 /* what a distribution left of the symbol table; NULL if not used */
  struct symbols_ranges code;
  struct symbols_table *table;
  struct symbols_dwarf_source source; /* the sections of DWARF; they belong to the files */
  struct symbols_summary *summary;    /* of the DWARF, NULL if there is none */
  struct symbols *again;              /* the same files, for their sections; NULL if not needed */
  bool sound;                         /* the sections were read completely */
  unsigned flags;
};

/* The message of symbols_open(), and its first error. */
struct report {
  char *message;
  size_t size;
  int error;
};

/* Appends to the message, and keeps the first error. */
__attribute__((format(printf, 3, 4))) static void complain(struct report *report, int error, const char *format, ...)
{
  size_t used = strnlen(report->message, report->size);
  va_list arguments;
  if (!report->error)
    report->error = error;
  if (used && used + 2 < report->size) {
    memcpy(report->message + used, "; ", 3);
    used += 2;
  }
  va_start(arguments, format);
  if (used < report->size)
    vsnprintf(report->message + used, report->size - used, format, arguments);
  va_end(arguments);
}

static bool same_bytes(struct symbols_bytes a, struct symbols_bytes b)
{
  return a.size == b.size && !memcmp(a.data, b.data, a.size);
}

/* Opens the module's own file, if it is the one that was measured. */
static void open_program(struct symbols *symbols, const struct symbols_request *request, struct report *report)
{
  char reason[PATH_SIZE + 128];
  symbols->program = symbols_elf_open(request->path, reason, sizeof reason);
  if (!symbols->program) {
    complain(report, SYMBOLS_UNREADABLE, "%s" REMEDY, reason);
    return;
  }
  if (symbols_identity_check(symbols->program, request->path, request, reason, sizeof reason))
    return;
  if (symbols_elf_lacks_memory(symbols->program))
    complain(report, SYMBOLS_UNREADABLE, "'%s': not enough memory to read what identifies it", request->path);
  else
    complain(report, SYMBOLS_MISMATCH, "'%s' is not the file that was measured (%s): its names are not used" REMEDY,
             request->path, reason);
  symbols_elf_close(symbols->program);
  symbols->program = NULL;
}

/* Opens a file if it exists, else returns NULL. */
static struct symbols_elf *open_file(const char *path)
{
  char reason[PATH_SIZE + 128];
  return symbols_elf_open(path, reason, sizeof reason);
}

/* Opens a file if it exists and has the wanted build id, else returns NULL. */
static struct symbols_elf *open_with_id(const char *path, struct symbols_bytes wanted)
{
  struct symbols_elf *file = open_file(path);
  if (file && !same_bytes(symbols_elf_build_id(file), wanted)) {
    symbols_elf_close(file);
    file = NULL;
  }
  return file;
}

/* Opens the separate debug file of a build id, below the debug root. */
static struct symbols_elf *open_by_id(const char *root, struct symbols_bytes id)
{
  char path[PATH_SIZE], text[SYMBOLS_ID_TEXT];
  if (id.size < 2 || id.size > BUILD_ID_MAX)
    return NULL;
  symbols_identity_text(id, text);
  int length = snprintf(path, sizeof path, "%s/.build-id/%.2s/%s.debug", root, text, text + 2);
  return length > 0 && (size_t)length < sizeof path ? open_with_id(path, id) : NULL;
}

/* Opens a file that .gnu_debuglink may name, if it has the program's build id.  If either has no build id, the checksum
 * decides. */
static struct symbols_elf *open_linked(const char *path, struct symbols_bytes id, uint32_t wanted_crc)
{
  uint32_t crc;
  struct symbols_elf *file = open_file(path);
  if (!file)
    return NULL;
  struct symbols_bytes found = symbols_elf_build_id(file);
  bool known = id.size && found.size;
  if (known && same_bytes(id, found))
    return file;
  if (!known && symbols_elf_crc(file, &crc) && crc == wanted_crc)
    return file;
  symbols_elf_close(file);
  return NULL;
}

/* Opens the separate debug file that .gnu_debuglink names, in the directories in which debuggers look. */
static struct symbols_elf *open_by_link(struct symbols *symbols, const struct symbols_request *request,
                                        const char *root)
{
  assert(symbols->program);
  const char *program = request->path;
  struct symbols_bytes link = symbols_elf_section(symbols->program, ".gnu_debuglink", NULL);
  struct symbols_cursor c = symbols_cursor_at(link, 0, UINT64_MAX);
  const char *name = symbols_cursor_string(&c);
  symbols_cursor_skip(&c, (4 - ((size_t)(c.next - link.data) & 3)) & 3);
  uint32_t crc = (uint32_t)symbols_cursor_fixed(&c, 4);
  const char *slash = strrchr(program, '/');
  int directory = slash ? (int)(slash - program) : 0;
  const char *here = slash ? "" : "."; /* ".": the working directory */
  const struct {
    const char *before, *behind, *inside;
  } locations[] = {{"", here, ""}, {"", here, "/.debug"}, {root, "", ""}};
  char path[PATH_SIZE];
  struct symbols_elf *file = NULL;
  if (c.bad || !*name || strchr(name, '/'))
    return NULL;
  for (size_t i = 0; request->search && i < request->search->directories_count && !file; i++) {
    int length = snprintf(path, sizeof path, "%s/%s", request->search->directories[i], name);
    if (length > 0 && (size_t)length < sizeof path)
      file = open_linked(path, symbols_elf_build_id(symbols->program), crc);
  }
  for (size_t i = 0; i < sizeof locations / sizeof *locations && !file; i++) {
    int length = snprintf(path, sizeof path, "%s%.*s%s%s/%s", locations[i].before, directory, program,
                          locations[i].behind, locations[i].inside, name);
    if (length > 0 && (size_t)length < sizeof path)
      file = open_linked(path, symbols_elf_build_id(symbols->program), crc);
  }
  return file;
}

static bool has_section(struct symbols_elf *file, const char *name)
{
  const char *fault = NULL;
  return file && (symbols_elf_section(file, name, &fault).size || fault);
}

/* Opens the debug file of a build id that debuginfod has: from its cache, or from servers if that is allowed. */
static struct symbols_elf *open_debuginfod(struct symbols_bytes id, struct report *report)
{
  char path[PATH_SIZE], text[SYMBOLS_ID_TEXT];
  const char *fault = NULL;
  if (!id.size)
    return NULL;
  symbols_identity_text(id, text);
  struct symbols_elf *file = symbols_debuginfod_cached(text, path, sizeof path) ? open_with_id(path, id) : NULL;
  if (file)
    return file;
  char *fetched = symbols_debuginfod_fetch(text, &fault);
  if (fault)
    complain(report, SYMBOLS_UNREAD, "%s", fault);
  if (fetched)
    file = open_with_id(fetched, id);
  free(fetched);
  return file;
}

/* Opens the debug file of a build id in the directories of --symbols; NULL if they have none.  They may have the
 * measured file itself, stripped: a file counts only if it has what the program's own lacks. */
static struct symbols_elf *open_searched(const struct symbols_request *request, struct symbols_bytes id,
                                         bool lacks_names, bool lacks_data)
{
  char path[PATH_SIZE];
  for (unsigned i = 0; id.size && symbols_search_debug(request, id, i, path, sizeof path); i++) {
    struct symbols_elf *file = open_with_id(path, id);
    if ((lacks_names && has_section(file, ".symtab")) || (lacks_data && has_section(file, ".debug_info")))
      return file;
    symbols_elf_close(file);
  }
  return NULL;
}

/* Looks for a separate debug file, unless the program's own file has all information.  This is the order of the places:
 * the directories of --symbols, the debug root, what the program names, and debuginfod. */
static void open_debug(struct symbols *symbols, const struct symbols_request *request, struct report *report)
{
  const char *root = request->debug_root ? request->debug_root : DEBUG_ROOT;
  struct symbols_bytes id = {request->build_id, request->build_id ? request->build_id_size : 0};
  bool lacks_names = !has_section(symbols->program, ".symtab");
  bool lacks_data = !has_section(symbols->program, ".debug_info");
  if (!lacks_names && !lacks_data)
    return;
  if (!id.size && symbols->program)
    id = symbols_elf_build_id(symbols->program);
  symbols->debug = open_searched(request, id, lacks_names, lacks_data);
  if (!symbols->debug)
    symbols->debug = open_by_id(root, id);
  if (!symbols->debug && symbols->program)
    symbols->debug = open_by_link(symbols, request, root);
  if (!symbols->debug)
    symbols->debug = open_debuginfod(id, report);
}

/* Opens the file to which dwz moved what several programs have in common; .gnu_debugaltlink names it. */
static void open_shared(struct symbols *symbols, struct symbols_elf *debug, const struct symbols_request *request,
                        struct report *report)
{
  assert(!symbols->shared);
  struct symbols_bytes link = symbols_elf_section(debug, ".gnu_debugaltlink", NULL);
  struct symbols_cursor c = symbols_cursor_at(link, 0, UINT64_MAX);
  const char *name = symbols_cursor_string(&c), *slash = strrchr(request->path, '/');
  struct symbols_bytes id = {c.next, symbols_cursor_left(&c)};
  char path[PATH_SIZE];
  if (c.bad || !*name)
    return;
  int directory = *name != '/' && slash ? (int)(slash - request->path) + 1 : 0;
  int length = snprintf(path, sizeof path, "%.*s%s", directory, request->path, name);
  if (length > 0 && (size_t)length < sizeof path)
    symbols->shared = open_with_id(path, id);
  if (!symbols->shared)
    symbols->shared = open_by_id(request->debug_root ? request->debug_root : DEBUG_ROOT, id);
  if (!symbols->shared)
    symbols->shared = open_debuginfod(id, report);
  if (!symbols->shared)
    complain(report, SYMBOLS_UNREAD,
             "debug data of '%s' are partly in '%s', which is missing or does not match: names of inlined calls may be "
             "missing; install it, or fetch it with hpcprof-lite --debuginfod",
             request->path, name);
}

/* Reads the debug sections of a file, which may be NULL.  Sets *name and *fault for the first unreadable section. */
static void read_sections(struct symbols_elf *file, struct symbols_bytes sections[SYMBOLS_SECTIONS], const char **name,
                          const char **fault)
{
  for (int i = 0; i < SYMBOLS_SECTIONS && file; i++) {
    const char *reason = NULL;
    sections[i] = symbols_elf_section(file, symbols_section_name(i), &reason);
    if (reason && !*fault) {
      *name = symbols_section_name(i);
      *fault = reason;
    }
  }
}

static unsigned flags_of(const struct symbols_summary *summary)
{
  uint32_t flags = symbols_summary_flags(summary);
  return (flags & SYMBOLS_SUMMARY_LINES ? SYMBOLS_HAS_LINES : 0) |
         (flags & SYMBOLS_SUMMARY_FUNCTIONS ? SYMBOLS_HAS_INLINES : 0);
}

/* The file with the DWARF: the program's own, or the separate one if that has none; NULL without debug data. */
static struct symbols_elf *file_with_dwarf(const struct symbols *symbols)
{
  return has_section(symbols->program, ".debug_info") ? symbols->program : symbols->debug;
}

/* Reads the sections of the file with the DWARF, with a message if one cannot be read. */
static void load_sections(struct symbols *symbols, const struct symbols_request *request, struct symbols_elf *file,
                          struct report *report)
{
  const char *name = NULL, *fault = NULL;
  read_sections(file, symbols->source.sections, &name, &fault);
  read_sections(symbols->shared, symbols->source.shared, &name, &fault);
  if (fault)
    complain(report, SYMBOLS_DAMAGED, "section %s of '%s'%s %s", name, request->path,
             file == symbols->debug ? SEPARATE : "", fault);
  symbols->sound = !fault;
}

/* What is read of the sections for a request. */
static struct symbols_dwarf_source source_of(const struct symbols *symbols, const struct symbols_request *request)
{
  struct symbols_dwarf_source source = symbols->source;
  source.program = request->path;
  source.debug = symbols->debug ? symbols_elf_path(symbols->debug) : NULL;
  source.code = &symbols->code;
  source.wanted = request->offsets;
  source.wanted_count = request->offsets ? request->offset_count : 0;
  return source;
}

/* ---- what is kept ---- */

enum kept_kind { KEPT_SUMMARY, KEPT_TAIL_CALLS };

/* The key of what was read, which follows from the files as they are now, from the addresses, and from what reads them.
 * The addresses stand behind it. */
struct kept_key {
  char reader[128]; /* libdwarf and this program, each with its version */
  uint64_t rules, kind, addresses;
  struct {
    uint64_t inode, size, modified_ns, changed_ns;
  } files[3]; /* zeros: there is none */
};

/* Changes where builds that have the same version read the same files in another way. */
enum { KEPT_RULES = 2 };

static uint64_t time_ns(struct timespec time)
{
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Returns the key for free(), and its size. */
static struct kept_key *key_of(const struct symbols *symbols, const struct symbols_request *request,
                               enum kept_kind kind, size_t *size)
{
  static const struct stat none;
  const struct symbols_elf *files[] = {symbols->program, symbols->debug, symbols->shared};
  size_t bytes = (size_t)request->offset_count * sizeof *request->offsets;
  *size = sizeof(struct kept_key) + (bytes + 7) / 8 * 8;
  struct kept_key *key = xcalloc(1, *size);
  *key = (struct kept_key){.rules = KEPT_RULES, .kind = kind, .addresses = request->offset_count};
  snprintf(key->reader, sizeof key->reader, "libdwarf %s, hpcprof-lite " VERSION_TEXT, symbols_dwarf_version());
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    const struct stat *status = files[i] ? symbols_elf_status(files[i]) : &none;
    key->files[i].inode = status->st_ino;
    key->files[i].size = (uint64_t)status->st_size;
    key->files[i].modified_ns = time_ns(status->st_mtim);
    key->files[i].changed_ns = time_ns(status->st_ctim);
  }
  memcpy(key + 1, request->offsets, bytes);
  return key;
}

/* Finds what was kept for the request.  False if there is nothing. */
static bool find_kept(const struct symbols *symbols, const struct symbols_request *request, enum kept_kind kind,
                      uint8_t **bytes, size_t *size)
{
  if (!request->store || !request->offset_count)
    return false;
  size_t key_size;
  struct kept_key *key = key_of(symbols, request, kind, &key_size);
  bool found = debug_store_find(request->store, key, key_size, bytes, size);
  free(key);
  return found;
}

static bool lacks_memory(const struct symbols *symbols)
{
  return symbols_elf_lacks_memory(symbols->program) || symbols_elf_lacks_memory(symbols->debug) ||
         symbols_elf_lacks_memory(symbols->shared) || symbols_elf_lacks_memory(symbols->embedded);
}

/* Keeps what was read for the request, unless another report may read more: where memory was short this time, or
 * something was damaged, for libdwarf does not tell one from the other.  Of split DWARF nothing is kept: it is in files
 * that the key does not have. */
static void keep(const struct symbols *symbols, const struct symbols_request *request, enum kept_kind kind,
                 const void *bytes, size_t size)
{
  const uint32_t refused = SYMBOLS_SUMMARY_SPLIT | SYMBOLS_SUMMARY_DAMAGED | SYMBOLS_SUMMARY_SHORT;
  if (!request->store || !request->offset_count || !symbols->sound || lacks_memory(symbols) ||
      symbols_summary_flags(symbols->summary) & refused)
    return;
  size_t key_size;
  struct kept_key *key = key_of(symbols, request, kind, &key_size);
  debug_store_add(request->store, key, key_size, bytes, size);
  free(key);
}

/* Takes the summary that was kept for the request.  False if there is none. */
static bool take_kept(struct symbols *symbols, const struct symbols_request *request)
{
  uint8_t *bytes;
  size_t size;
  if (find_kept(symbols, request, KEPT_SUMMARY, &bytes, &size))
    symbols->summary = symbols_summary_new(bytes, size);
  return symbols->summary;
}

/* ---- reading DWARF ---- */

/* Makes the summary from the file with the DWARF. */
static enum symbols_dwarf_end summarize(struct symbols *symbols, const struct symbols_request *request,
                                        struct symbols_elf *file, struct report *report, const char **fault)
{
  load_sections(symbols, request, file, report);
  if (!symbols->source.sections[SYMBOLS_INFO].size)
    return SYMBOLS_DWARF_OK;
  struct symbols_dwarf_source source = source_of(symbols, request);
  enum symbols_dwarf_end end = symbols_dwarf_read(&source, &symbols->summary, fault);
  if (end == SYMBOLS_DWARF_OK) {
    size_t size;
    const uint8_t *bytes = symbols_summary_bytes(symbols->summary, &size);
    keep(symbols, request, KEPT_SUMMARY, bytes, size);
  }
  return end;
}

/* Reads the DWARF. */
static void open_dwarf(struct symbols *symbols, const struct symbols_request *request, struct report *report)
{
  struct symbols_elf *file = file_with_dwarf(symbols);
  const char *separate = file == symbols->debug ? SEPARATE : "", *fault = NULL;
  enum symbols_dwarf_end end = SYMBOLS_DWARF_OK;
  if (!file)
    return;
  open_shared(symbols, file, request, report);
  if (!take_kept(symbols, request))
    end = summarize(symbols, request, file, report, &fault);
  if (end == SYMBOLS_DWARF_DAMAGED && lacks_memory(symbols)) { /* sections that could not be read are missing */
    end = SYMBOLS_DWARF_UNREAD;
    fault = "there is not enough memory for them";
  }
  if (end == SYMBOLS_DWARF_UNREAD)
    complain(report, SYMBOLS_UNREAD,
             "debug data of '%s'%s are not used: %s; names come from the symbol table; raise the limit of memory "
             "(ulimit -v) if there is one, or build the file with -g1, which makes less of them",
             request->path, separate, fault);
  if (end == SYMBOLS_DWARF_DAMAGED)
    complain(report, SYMBOLS_DAMAGED,
             "debug data of '%s'%s are damaged: %s; names come from the symbol table; build it again", request->path,
             separate, fault);
  if (!symbols->summary)
    return;
  symbols->flags |= flags_of(symbols->summary) | (file == symbols->debug ? SYMBOLS_SEPARATE : 0);
  uint32_t flags = symbols_summary_flags(symbols->summary);
  if (flags & SYMBOLS_SUMMARY_DAMAGED && flags & SYMBOLS_SUMMARY_SHORT)
    complain(report, SYMBOLS_DAMAGED,
             "there is not enough memory to read all debug data of '%s'%s: lines may be missing; raise the limit of "
             "memory (ulimit -v) if there is one",
             request->path, separate);
  else if (flags & SYMBOLS_SUMMARY_DAMAGED)
    complain(report, SYMBOLS_DAMAGED, "debug data of '%s'%s are damaged in part: lines may be missing; build it again",
             request->path, separate);
  const char *missing;
  uint32_t units = symbols_summary_missing(symbols->summary, &missing);
  if (units)
    complain(report, SYMBOLS_UNREAD,
             "%" PRIu32 " of the .dwo files of '%s'%s, built with -gsplit-dwarf, are missing or belong to another "
             "build, for example '%s': "
             "inlined calls there are not shown; leave them where the compiler wrote them, or pack them into '%s.dwp' "
             "(llvm-dwp)",
             units, request->path, separate, missing, request->path);
}

/* Collects the functions of the embedded symbol table, which has none of those that the file exports.  Returns their
 * number. */
static size_t collect_embedded(struct symbols *symbols, const struct symbols_request *request,
                               struct symbols_symbols *all, struct report *report)
{
  const char *fault = NULL;
  symbols->embedded = symbols_embedded_open(symbols->program, &fault);
  if (fault)
    complain(report, SYMBOLS_DAMAGED, "section .gnu_debugdata of '%s' %s: only exported functions are named",
             request->path, fault);
  return symbols->embedded ? symbols_elf_functions(symbols->embedded, SYMBOLS_ELF_FULL, all) : 0;
}

/* Collects the functions of the full symbol table of either file, or the exported ones and those of the embedded table
 * if neither has one. */
static void collect_symbols(struct symbols *symbols, const struct symbols_request *request, struct symbols_symbols *all,
                            struct report *report)
{
  size_t found = symbols->program ? symbols_elf_functions(symbols->program, SYMBOLS_ELF_FULL, all) : 0;
  if (!found && symbols->debug) {
    found = symbols_elf_functions(symbols->debug, SYMBOLS_ELF_FULL, all);
    symbols->flags |= found ? SYMBOLS_SEPARATE : 0;
  }
  if (!found && symbols->program) {
    size_t exported = symbols_elf_functions(symbols->program, SYMBOLS_ELF_DYNAMIC, all);
    found = collect_embedded(symbols, request, all, report);
    symbols->flags |= exported && !found ? SYMBOLS_HAS_DYNAMIC : 0;
  }
  symbols->flags |= found ? SYMBOLS_HAS_TABLE : 0;
  if (symbols->program)
    symbols_elf_stubs(symbols->program, &symbols->pool, all);
}

/* Closes the files; what was read of them stays. */
static void detach(struct symbols *symbols)
{
  symbols_elf_detach(symbols->program);
  symbols_elf_detach(symbols->debug);
  symbols_elf_detach(symbols->shared);
  symbols_elf_detach(symbols->embedded);
}

/* Reads all files, and closes them at the end, because a report may need hundreds of modules. */
static void open_all(struct symbols *symbols, const struct symbols_request *request, struct report *report)
{
  open_program(symbols, request, report);
  open_debug(symbols, request, report);
  struct symbols_elf *code = symbols->program ? symbols->program : symbols->debug;
  struct symbols_symbols all = {0};
  if (code)
    symbols_elf_code(code, &symbols->code);
  symbols_ranges_build(&symbols->code);
  open_dwarf(symbols, request, report);
  collect_symbols(symbols, request, &all, report);
  symbols->table = symbols_table_new(&all);
  detach(symbols);
}

int symbols_open(const struct symbols_request *request, struct symbols **out, char *message, size_t size)
{
  assert(message && size && out);
  struct report report = {.message = message, .size = size};
  message[0] = 0;
  struct symbols *symbols = *out = xcalloc(1, sizeof *symbols);
  pthread_mutex_init(&symbols->lock, NULL);
  if (request->path && *request->path)
    open_all(symbols, request, &report);
  else
    complain(&report, SYMBOLS_UNREADABLE, "the module has no file");
  if (!report.error && lacks_memory(symbols))
    complain(&report, SYMBOLS_DAMAGED, "there is not enough memory to read all of '%s': names may be missing",
             request->path);
  return report.error;
}

ORDER(compare_tail_calls, struct symbols_tail_call,
      COMPARE(x->function, y->function) ?: COMPARE(x->address, y->address) ?: COMPARE(x->kind, y->kind))

/* Opens the files once more for the sections, which were not needed where the summary was kept. */
static void load_again(struct symbols *symbols, const struct symbols_request *request)
{
  char message[PATH_SIZE];
  struct report report = {.message = message, .size = sizeof message};
  struct symbols *again = symbols->again = xcalloc(1, sizeof *again);
  message[0] = 0;
  open_program(again, request, &report);
  open_debug(again, request, &report);
  struct symbols_elf *file = file_with_dwarf(again);
  if (file) {
    open_shared(again, file, request, &report);
    load_sections(again, request, file, &report);
  }
  detach(again);
  symbols->source = again->source;
  symbols->sound = again->sound && !lacks_memory(again);
}

struct symbols_tail_call *symbols_tail_calls(struct symbols *symbols, const struct symbols_request *request,
                                             size_t *count)
{
  assert(request->path && request->offset_count && count);
  struct symbols_tail_call *calls = NULL;
  uint8_t *bytes;
  size_t size;
  bool sound;
  *count = 0;
  if (!symbols->summary)
    return NULL;
  if (find_kept(symbols, request, KEPT_TAIL_CALLS, &bytes, &size)) {
    *count = size / sizeof *calls;
    return (void *)bytes;
  }
  if (!symbols->source.sections[SYMBOLS_INFO].size && !symbols->again)
    load_again(symbols, request);
  if (!symbols->source.sections[SYMBOLS_INFO].size)
    return NULL;
  struct symbols_dwarf_source source = source_of(symbols, request);
  source.tail_calls = true;
  if (!symbols_dwarf_tail_calls(&source, &calls, count, &sound))
    return NULL;
  if (*count)
    qsort(calls, *count, sizeof *calls, compare_tail_calls);
  if (sound)
    keep(symbols, request, KEPT_TAIL_CALLS, calls, *count * sizeof *calls);
  return calls;
}

unsigned symbols_flags(const struct symbols *symbols)
{
  return symbols->flags;
}

void symbols_free(struct symbols *symbols)
{
  if (!symbols)
    return;
  symbols_summary_free(symbols->summary);
  symbols_table_free(symbols->table);
  symbols_ranges_release(&symbols->code);
  symbols_pool_release(&symbols->pool);
  symbols_elf_close(symbols->program);
  symbols_elf_close(symbols->debug);
  symbols_elf_close(symbols->shared);
  symbols_elf_close(symbols->embedded);
  symbols_free(symbols->again);
  pthread_mutex_destroy(&symbols->lock);
  free(symbols);
}

/* Whether the name in the symbol table tells more than that of DWARF.  This holds for outlined functions, and for
 * library functions that are known by a plain name but implemented under a reserved one (malloc, __libc_malloc). */
static bool better_name(const struct symbols_location *location, const struct symbols_symbol *symbol)
{
  if (!location->function || symbols_outlined(symbol->raw, NULL, 0))
    return true;
  return location->function[0] == '_' && symbol->readable[0] != '_' && location->low == symbol->low;
}

/* Adds the names of the symbol table to the outermost location. */
static void add_symbol(struct symbols_location *location, const struct symbols_symbol *symbol)
{
  assert(symbol->raw);
  if (!symbol->readable)
    return;
  if (better_name(location, symbol))
    location->function = symbol->readable;
  location->raw = strcmp(symbol->raw, location->function) ? symbol->raw : NULL;
}

static int lookup(struct symbols *symbols, uint64_t offset, struct symbols_location *locations, int max)
{
  assert(max > 0);
  const char *file = NULL;
  uint32_t line = 0;
  int count = symbols->summary
                  ? symbols_summary_find(symbols->summary, &symbols->pool, offset, locations, max, &file, &line)
                  : 0;
  const struct symbols_symbol *symbol = symbols_table_find(symbols->table, &symbols->pool, offset);
  if (!count && (symbol || line)) {
    locations[0] = (struct symbols_location){.file = file, .line = line, .low = symbol ? symbol->start : offset};
    if (symbols->summary && symbol && symbols_outlined(symbol->raw, NULL, 0) != SYMBOLS_ORDINARY)
      symbols_summary_first(symbols->summary, locations[0].low, &locations[0].decl_file, &locations[0].decl_line);
    count = 1;
  }
  if (count && symbol)
    add_symbol(&locations[0], symbol);
  return count;
}

int symbols_lookup(const struct symbols *symbols, uint64_t offset, struct symbols_location *locations, int max)
{
  assert(locations || max <= 0);
  struct symbols *locked = (struct symbols *)(uintptr_t)symbols; /* names that are found are kept */
  if (max <= 0)
    return 0;
  pthread_mutex_lock(&locked->lock);
  int count = lookup(locked, offset, locations, max);
  pthread_mutex_unlock(&locked->lock);
  return count;
}

ORDER(compare_addresses, uint64_t, COMPARE(*x, *y))

void symbols_visit(const struct symbols *symbols,
                   void (*visit)(void *context, uint64_t from, uint64_t to, const struct symbols_location *locations,
                                 int count),
                   void *context)
{
  assert(visit);
  enum { LOCATIONS = 64 };
  struct symbols_location locations[LOCATIONS];
  uint64_t *starts = NULL;
  size_t count = 0, room = 0;
  symbols_table_starts(symbols->table, &starts, &count, &room);
  symbols_summary_starts(symbols->summary, &starts, &count, &room);
  if (count)
    qsort(starts, count, sizeof *starts, compare_addresses);
  for (size_t i = 0; i + 1 < count; i++) { /* the last one begins a gap */
    int found = starts[i] < starts[i + 1] ? symbols_lookup(symbols, starts[i], locations, LOCATIONS) : 0;
    if (found)
      visit(context, starts[i], starts[i + 1], locations, found);
  }
  free(starts);
}

int symbols_vdso(char path[SYMBOLS_VDSO_PATH])
{
  const Elf64_Ehdr *image = (const Elf64_Ehdr *)getauxval(AT_SYSINFO_EHDR);
  if (!image)
    return -1;
  size_t size = image->e_shoff + (size_t)image->e_shnum * image->e_shentsize; /* the section headers come last */
  int fd = memfd_create("vdso", MFD_CLOEXEC);
  if (fd >= 0 && write(fd, image, size) != (ssize_t)size) {
    close(fd);
    fd = -1;
  }
  snprintf(path, SYMBOLS_VDSO_PATH, "/proc/%d/fd/%d", (int)getpid(), fd); /* also for a child */
  return fd;
}
