#include "hpcrun-lite/launch/program/entry_points.h"

#include <stdio.h>
#include <string.h>

#include "hpcrun-lite/gomp/entries.h"

/* What a module defines of an OpenMP runtime. */
struct definitions {
  bool regions, queries; /* libgomp has both in one object file; a tool that is put before libgomp has no queries */
  bool kmpc;             /* it is LLVM's runtime, which has GOMP_ functions as well */
};

struct examined {
  struct entry_points *calls;
  struct definitions exported, all;
};

/* Is it a function that the adapter wraps, or knows to need no wrapper? */
static bool is_known(const char *name)
{
#define WRAPPED(entry) #entry,
#define PLAIN(entry, reason) entry,
  static const char *const entries[] = {GOMP_WRAPPED(WRAPPED) GOMP_PLAIN(PLAIN)};
  for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
    size_t length = strcspn(entries[i], "*");
    if (strncmp(name, entries[i], length) == 0 && (entries[i][length] == '*' || name[length] == '\0'))
      return true;
  }
  return false;
}

/* Adds a name to a list, once. */
static void add_name(char *list, size_t size, const char *name)
{
  size_t used = strlen(list), length = strlen(name);
  for (const char *at = list; (at = strstr(at, name)); at += length)
    if ((at == list || at[-1] == ' ') && (at[length] == ',' || at[length] == '\0'))
      return;
  bool fits = used + length + sizeof ", , ..." <= size;
  if (fits || (used > 0 && list[used - 1] != '.'))
    snprintf(list + used, size - used, "%s%s", used ? ", " : "", fits ? name : "...");
}

static void take_definition(struct definitions *definitions, const char *name)
{
  definitions->regions |= strcmp(name, "GOMP_parallel") == 0 || strcmp(name, "GOMP_parallel_start") == 0;
  definitions->queries |= strcmp(name, "omp_get_num_threads") == 0;
  definitions->kmpc |= strcmp(name, "__kmpc_fork_call") == 0;
}

static void visit_symbol(void *context, const struct elf_symbol *symbol)
{
  struct examined *examined = context;
  if (!symbol->undefined) {
    take_definition(&examined->exported, symbol->name);
    return;
  }
  if (strncmp(symbol->name, "GOMP_", 5) == 0 && !is_known(symbol->name))
    add_name(examined->calls->unknown, sizeof examined->calls->unknown, symbol->name);
}

static void visit_function(void *context, const char *name)
{
  take_definition(&((struct examined *)context)->all, name);
}

static bool is_libgomp(const struct definitions *definitions)
{
  return definitions->regions && definitions->queries && !definitions->kmpc;
}

void entry_points_examine(const struct program *program, struct entry_points *calls)
{
  memset(calls, 0, sizeof *calls);
  for (size_t i = 0; i < program->module_count; i++) {
    struct examined examined = {.calls = calls};
    const char *module = program->modules[i];
    if (strncmp(path_base(module), "libgomp", 7) == 0)
      continue;
    elf_symbols_visit(module, "GOMP_", visit_symbol, &examined);
    elf_functions_visit(module, "GOMP_parallel", visit_function, &examined);
    /* Calls to what a library exports lead to the adapter; within an executable they never do. */
    bool within = is_libgomp(&examined.all) && !is_libgomp(&examined.exported);
    if (calls->static_in[0] != '\0' || !(within || (i == 0 && is_libgomp(&examined.exported))))
      continue;
    snprintf(calls->static_in, sizeof calls->static_in, "%s", module);
    calls->static_in_executable = i == 0;
  }
}
