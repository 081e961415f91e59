#include "hpcrun-lite/launch/program/runtime.h"

#include "common/array.h"
#include "hpcrun-lite/launch/program/exchange.h"
#include "hpcrun-lite/launch/program/entry_points.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define SYMBOL_BYTES 128

/* A symbol that the program or one of its libraries needs from the OpenMP runtime. */
struct wanted_symbol {
  char name[SYMBOL_BYTES];
  char version[32];
  bool offered;
};

struct wanted_list {
  struct wanted_symbol *symbols;
  size_t count, room;
  bool failed; /* out of memory, or a name does not fit: the list is incomplete */
};

/* What a candidate runtime offers. */
struct offer {
  struct wanted_list *wanted;
  bool has_omp, has_ompt, has_kmpc, has_chunks;
};

static enum runtime_kind kind_of_library(const char *name)
{
  if (strncmp(name, "libgomp.so", 10) == 0 || strncmp(name, "libgomp-", 8) == 0)
    return RUNTIME_GOMP;
  if (strncmp(name, "libomp.so", 9) == 0 || strncmp(name, "libomp-", 7) == 0 || strncmp(name, "libomp5.so", 10) == 0)
    return RUNTIME_LLVM;
  if (strncmp(name, "libiomp5.so", 11) == 0)
    return RUNTIME_INTEL;
  return RUNTIME_NONE;
}

static bool has_prefix(const char *name, const char *prefix)
{
  return strncmp(name, prefix, strlen(prefix)) == 0;
}

/* Is it a symbol of an OpenMP runtime?  A version names the library; without one the name's prefix decides. */
static bool is_runtime_symbol(const struct elf_symbol *symbol)
{
  if (symbol->library[0] != '\0')
    return kind_of_library(symbol->library) != RUNTIME_NONE;
  return has_prefix(symbol->name, "GOMP_") || has_prefix(symbol->name, "GOACC_") || has_prefix(symbol->name, "omp_") ||
         has_prefix(symbol->name, "__kmpc_") || has_prefix(symbol->name, "kmp_");
}

static void add_wanted(struct wanted_list *list, const struct elf_symbol *symbol)
{
  for (size_t i = 0; i < list->count; i++)
    if (strcmp(list->symbols[i].name, symbol->name) == 0 && strcmp(list->symbols[i].version, symbol->version) == 0)
      return;
  if (!array_reserve(&list->symbols, &list->room, list->count + 1, sizeof *list->symbols)) {
    list->failed = true;
    return;
  }
  struct wanted_symbol *wanted = &list->symbols[list->count];
  if (strlen(symbol->name) >= sizeof wanted->name || strlen(symbol->version) >= sizeof wanted->version) {
    list->failed = true;
    return;
  }
  strcpy(wanted->name, symbol->name);
  strcpy(wanted->version, symbol->version);
  wanted->offered = false;
  list->count++;
}

static void visit_wanted(void *context, const struct elf_symbol *symbol)
{
  if (symbol->undefined && is_runtime_symbol(symbol))
    add_wanted(context, symbol);
}

/* The loader binds a reference to a definition only if the versions are equal, or the reference has none. */
static void visit_offered(void *context, const struct elf_symbol *symbol)
{
  struct offer *offer = context;
  if (symbol->undefined)
    return;
  offer->has_ompt |= strcmp(symbol->name, "ompt_start_tool") == 0;
  offer->has_omp |= strcmp(symbol->name, "omp_get_num_threads") == 0;
  offer->has_kmpc |= strcmp(symbol->name, "__kmpc_fork_call") == 0;
  offer->has_chunks |= strcmp(symbol->name, "__kmpc_sections_init") == 0;
  for (size_t i = 0; i < offer->wanted->count; i++) {
    struct wanted_symbol *wanted = &offer->wanted->symbols[i];
    if (strcmp(wanted->name, symbol->name) == 0 &&
        (wanted->version[0] == '\0' || strcmp(wanted->version, symbol->version) == 0))
      wanted->offered = true;
  }
}

static void collect_wanted(const struct program *program, struct wanted_list *wanted)
{
  for (size_t i = 0; i < program->module_count; i++)
    if (kind_of_library(path_base(program->modules[i])) == RUNTIME_NONE)
      elf_symbols_visit(program->modules[i], NULL, visit_wanted, wanted);
}

/* Does the runtime at path report the chunks of loops? */
static bool has_chunks(const char *path)
{
  struct wanted_list none = {0};
  struct offer offer = {.wanted = &none};
  elf_symbols_visit(path, NULL, visit_offered, &offer);
  return offer.has_chunks;
}

static const struct wanted_symbol *first_missing(const struct wanted_list *wanted)
{
  for (size_t i = 0; i < wanted->count; i++)
    if (!wanted->symbols[i].offered)
      return &wanted->symbols[i];
  return NULL;
}

/* The first runtime in the loader's order serves the program: symbols are searched there first. */
static void find_own(const struct program *program, struct runtime_choice *choice)
{
  struct wanted_list none = {0};
  struct offer offer = {.wanted = &none};
  for (size_t i = 0; i < program->module_count && choice->own == RUNTIME_NONE; i++) {
    choice->own = kind_of_library(path_base(program->modules[i]));
    if (choice->own != RUNTIME_NONE)
      snprintf(choice->own_path, sizeof choice->own_path, "%s", program->modules[i]);
  }
  if (choice->own == RUNTIME_NONE)
    return;
  elf_symbols_visit(choice->own_path, "__kmpc_", visit_offered, &offer); /* GCC's library has none of these */
  if (choice->own == RUNTIME_GOMP && offer.has_kmpc) /* LLVM installs its library by this name, too */
    choice->own = RUNTIME_LLVM;
  choice->own_has_chunks = choice->own == RUNTIME_GOMP || offer.has_chunks;
}

/* Can the library at path serve the program?  If not, writes the reason. */
static bool can_serve(const struct program *program, const char *path, char *reason, size_t reason_size)
{
  struct wanted_list wanted = {0};
  struct offer offer = {.wanted = &wanted};
  bool serves = false;
  collect_wanted(program, &wanted);
  const struct wanted_symbol *missing = NULL;
  if (access(path, R_OK) != 0 || elf_symbols_visit(path, NULL, visit_offered, &offer) != 0)
    snprintf(reason, reason_size, "%.300s is not a readable shared library", path);
  else if (!offer.has_omp)
    snprintf(reason, reason_size, "%.300s is not an OpenMP runtime", path);
  else if (!offer.has_ompt)
    snprintf(reason, reason_size, "%.300s was built without OMPT", path);
  else if (wanted.failed)
    snprintf(reason, reason_size, "the program's symbols could not be examined");
  else if ((missing = first_missing(&wanted)))
    snprintf(reason, reason_size, "libomp lacks %s%s%s, which the program needs", missing->name,
             missing->version[0] ? "@" : "", missing->version);
  else
    serves = true;
  free(wanted.symbols);
  return serves;
}

bool runtime_tool_disabled(void)
{
  const char *setting = getenv("OMP_TOOL");
  return setting && strcasecmp(setting, "disabled") == 0;
}

/* ---- the program's own OMPT tool ---- */

static bool is_tool(const char *path)
{
  struct wanted_list none = {0};
  struct offer offer = {.wanted = &none};
  elf_symbols_visit(path, "ompt_start_tool", visit_offered, &offer);
  return offer.has_ompt && !offer.has_kmpc; /* a runtime has a function of that name, too */
}

/* Finds the tool that the runtime would start without hpcrun-lite: in the program, in what it loads, or in the user's
 * OMP_TOOL_LIBRARIES.  A name there without '/' is searched for by the loader, and taken for a tool. */
static void find_tool(const struct program *program, const char *list, struct runtime_choice *choice)
{
  for (size_t i = 0; i < program->module_count && choice->tool[0] == '\0'; i++)
    if (strcmp(program->modules[i], choice->own_path) != 0 && is_tool(program->modules[i]))
      snprintf(choice->tool, sizeof choice->tool, "%s", program->modules[i]);
  while (*list && choice->tool[0] == '\0') {
    size_t length = strcspn(list, ":");
    snprintf(choice->tool, sizeof choice->tool, "%.*s", (int)length, list);
    if (strchr(choice->tool, '/') && !is_tool(choice->tool))
      choice->tool[0] = '\0';
    list += length + (list[length] == ':');
  }
}

static void keep_for_tool(struct runtime_choice *choice)
{
  choice->say_note = true;
  snprintf(choice->note, sizeof choice->note,
           "the program has an OMPT tool of its own, %.200s: if that starts, hpcrun-lite only takes samples, so that "
           "workers' call paths lack the caller of their region, and work and span are not known",
           path_base(choice->tool));
}

/* ---- the choice ---- */

static enum launch_status choose_file(const struct program *program, const char *path, struct runtime_choice *choice,
                                      char *message, size_t message_size)
{
  char reason[400];
  if (!realpath(path, choice->preload)) {
    snprintf(message, message_size, "'%.300s': no such library; write auto, exchange, keep or a file", path);
    return LAUNCH_FAILED;
  }
  if (!can_serve(program, choice->preload, reason, sizeof reason)) {
    snprintf(message, message_size, "%s; use auto or keep", reason);
    return LAUNCH_FAILED;
  }
  choice->like_libgomp = choice->own == RUNTIME_GOMP;
  bool unknown = choice->like_libgomp && !has_chunks(choice->preload);
  snprintf(choice->note, sizeof choice->note, "OpenMP runtime replaced: the program runs on %.400s%s", choice->preload,
           unknown ? ", which does not report the chunks of GCC's loops" : "");
  return LAUNCH_OK;
}

/* Can the private libomp replace the program's own runtime?  If not, writes the reason. */
static bool may_replace(const struct program *program, const struct runtime_request *request, char *reason, size_t size)
{
  if (request->private_libomp[0] != '\0')
    return can_serve(program, request->private_libomp, reason, size);
  snprintf(reason, size, "no libomp is installed with hpcrun-lite; name one with --omp-runtime FILE");
  return false;
}

/* Puts libomp in the place of libgomp, or of one that is loaded later. */
static enum launch_status choose_exchange(const struct program *program, const struct runtime_request *request,
                                          struct runtime_choice *choice, char *message, size_t message_size)
{
  char reason[400];
  if (!may_replace(program, request, reason, sizeof reason)) {
    snprintf(message, message_size, "exchange: %s; use auto", reason);
    return LAUNCH_FAILED;
  }
  const char *version = request->private_version, *blank = version[0] ? " " : "";
  choice->like_libgomp = true;
  choice->say_note = true;
  snprintf(choice->preload, sizeof choice->preload, "%s", request->private_libomp);
  if (choice->own == RUNTIME_NONE)
    snprintf(choice->note, sizeof choice->note, "LLVM's libomp%s%s is preloaded, for libraries that load libgomp later",
             blank, version);
  else
    snprintf(choice->note, sizeof choice->note,
             "OpenMP runtime replaced: the program runs on LLVM's libomp%s%s instead of libgomp; times differ: short "
             "critical sections take 4 to 30 times as long, and tiny tasks 8 times as long",
             blank, version);
  exchange_risks(program, path_base(choice->tool), choice->warning, sizeof choice->warning);
  return LAUNCH_OK;
}

/* libgomp is measured where it is called: warns of calls that are not seen. */
static void choose_adapter(const struct program *program, struct runtime_choice *choice)
{
  struct entry_points calls;
  size_t used = 0, size = sizeof choice->warning;
  entry_points_examine(program, &calls);
  choice->adapter = calls.static_in_executable ? GOMP_STATIC : GOMP_ON;
  if (calls.static_in[0] != '\0')
    used = (size_t)snprintf(choice->warning, size,
                            "%.200s contains libgomp (linked statically), so that its calls are not seen, and work "
                            "and span are not known (link it to libgomp.so)",
                            path_base(calls.static_in));
  if (calls.unknown[0] != '\0')
    snprintf(choice->warning + used, size - used,
             "%sthe program calls functions of a newer libgomp, which are not measured: %s", used ? "; " : "",
             calls.unknown);
}

enum launch_status runtime_choose(const struct program *program, const struct runtime_request *request,
                                  struct runtime_choice *choice, char *message, size_t message_size)
{
  const char *which = request->which;
  bool automatic = strcmp(which, "auto") == 0, keep = strcmp(which, "keep") == 0;
  bool exchange = strcmp(which, "exchange") == 0;
  memset(choice, 0, sizeof *choice);
  find_own(program, choice);
  if (runtime_tool_disabled()) {
    snprintf(choice->note, sizeof choice->note, "OMP_TOOL=disabled: OpenMP's events are not measured; unset it");
    choice->say_note = true;
    return LAUNCH_OK;
  }
  if (!automatic && !keep && !exchange)
    return choose_file(program, which, choice, message, message_size);
  if (program->has_thread_sanitizer) /* a sanitized program is not measured */
    return LAUNCH_OK;
  if (automatic)
    choose_adapter(program, choice);
  find_tool(program, request->tools, choice);
  bool libomp = choice->own == RUNTIME_LLVM || choice->own == RUNTIME_INTEL;
  if (libomp && choice->tool[0] != '\0')
    keep_for_tool(choice);
  else if (exchange && !libomp)
    return choose_exchange(program, request, choice, message, message_size);
  else if (keep && choice->own == RUNTIME_GOMP)
    snprintf(choice->note, sizeof choice->note, "libgomp is not measured (--omp-runtime keep)");
  return LAUNCH_OK;
}
