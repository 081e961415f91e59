#include "hpcprof-lite/views/symbolize.h"

#include "common/order.h"
#include "common/xalloc.h"
#include "hpcprof-lite/model/checks.h"
#include "hpcprof-lite/model/workers.h"
#include "common/symbols/debug_store.h"
#include "common/symbols/symbols.h"
#include "common/symbols/symbols_search.h"
#include "common/symbols/callees.h"
#include "hpcprof-lite/views/constructs.h"
#include "hpcprof-lite/views/inline_frames.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The addresses of one module, from `begin` to before `end`, and the symbols found for them. */
struct module_job {
  uint32_t module, begin, end;
  struct symbols_location *places; /* of all addresses, one after the other */
  size_t places_count, places_room;
};

struct resolver {
  const struct profile *profile;
  struct names *names;
  struct kept_symbols *kept; /* NULL: symbols belong to the names */
  uint32_t *offsets;         /* [address] */
  bool *enters;              /* [address] a construct enters the runtime there */
  bool *calls;               /* [address] it should be inside a call instruction */
  struct symbols_search search;
  struct debug_store *store;        /* of the first measurement; NULL: nothing is kept there */
  struct symbols_request *requests; /* [module] what is asked of it; they own their `calls` */
  struct module_job *jobs;
  uint32_t jobs_count;
};

struct order_key {
  const struct contexts *contexts;
  const uint32_t *rank; /* [module] catalog_module_rank() */
};

static int by_identity(const void *a, const void *b, void *argument)
{
  const struct order_key *key = argument;
  const struct context_node *x = &key->contexts->nodes[*(const uint32_t *)a];
  const struct context_node *y = &key->contexts->nodes[*(const uint32_t *)b];
  if (x->kind != y->kind)
    return x->kind < y->kind ? -1 : 1;
  if (contexts_has_address(x) && contexts_has_address(y) && x->module != y->module)
    return key->rank[x->module] < key->rank[y->module] ? -1 : 1;
  return COMPARE(x->offset, y->offset);
}

static void order_contexts(const struct profile *profile, const uint32_t *rank, struct names *names)
{
  assert(profile->contexts.count);
  uint32_t count = profile->contexts.count;
  struct order_key key = {.contexts = &profile->contexts, .rank = rank};
  names->order = xmalloc(count * sizeof *names->order);
  names->order_count = count - 1;
  for (uint32_t i = 1; i < count; i++)
    names->order[i - 1] = i;
  qsort_r(names->order, names->order_count, sizeof *names->order, by_identity, &key);
}

/* An address to be resolved. */
struct wanted {
  uint32_t module, offset, rank;
  uint32_t *number; /* receives the address's number */
};

static uint64_t place_of(const struct wanted *wanted)
{
  return (uint64_t)wanted->rank << 32 | wanted->offset;
}

ORDER(by_address, struct wanted, COMPARE(place_of(x), place_of(y)))

/* Fills wanted[] with the addresses of contexts and directives and returns their number. */
static uint32_t gather_addresses(const struct resolver *resolver, const uint32_t *rank, struct wanted *wanted)
{
  const struct profile *profile = resolver->profile;
  uint32_t count = 0;
  for (uint32_t i = 0; i < profile->contexts.count; i++) {
    const struct context_node *node = &profile->contexts.nodes[i];
    if (contexts_has_address(node))
      wanted[count++] =
          (struct wanted){node->module, node->offset, rank[node->module], &resolver->names->address_of[i]};
  }
  for (uint32_t i = 0; i < profile->workspan.directives_count; i++) {
    const struct profile_directive *directive = &profile->workspan.directives[i];
    if (directive->module != MODEL_NONE && directive->offset <= UINT32_MAX)
      wanted[count++] = (struct wanted){directive->module, (uint32_t)directive->offset, rank[directive->module],
                                        &resolver->names->directive_at[i]};
  }
  return count;
}

/* Numbers the distinct addresses by module rank and offset, and makes one job for each module. */
static void number_addresses(struct resolver *resolver, const uint32_t *rank)
{
  struct names *names = resolver->names;
  const struct profile *profile = resolver->profile;
  struct wanted *wanted = xcalloc((size_t)profile->contexts.count + profile->workspan.directives_count, sizeof *wanted);
  uint32_t count = gather_addresses(resolver, rank, wanted);
  qsort(wanted, count, sizeof *wanted, by_address);
  for (uint32_t i = 0; i < count; i++) {
    bool new_module = !i || wanted[i - 1].module != wanted[i].module;
    if (new_module)
      resolver->jobs[resolver->jobs_count++] =
          (struct module_job){.module = wanted[i].module, .begin = names->addresses_count};
    if (new_module || wanted[i - 1].offset != wanted[i].offset)
      resolver->offsets[names->addresses_count++] = wanted[i].offset;
    resolver->jobs[resolver->jobs_count - 1].end = names->addresses_count;
    *wanted[i].number = names->addresses_count - 1;
  }
  for (uint32_t i = 0; i < profile->workspan.directives_count; i++)
    if (names->directive_at[i] != MODEL_NONE)
      resolver->enters[names->directive_at[i]] = true;
  free(wanted);
}

/* Notes where calls should be: in frames that have called others.  What libc has called may be a signal handler, whose
 * caller can be anywhere. */
static void note_calls(struct resolver *resolver)
{
  const struct contexts *contexts = &resolver->profile->contexts;
  const struct catalog_module *modules = resolver->profile->catalog.modules;
  for (uint32_t i = 1; i < contexts->count; i++) {
    const struct context_node *node = &contexts->nodes[i], *caller = &contexts->nodes[node->parent];
    if (node->kind == CONTEXT_FRAME && caller->kind == CONTEXT_FRAME &&
        !(modules[node->module].flags & (MODULE_SYSTEM | MODULE_VDSO | MODULE_ANON)))
      resolver->calls[resolver->names->address_of[node->parent]] = true;
  }
}

/* The directories of the processes' files. */
static void find_measurements(const struct profile *profile, struct symbols_search *search)
{
  size_t room = 0;
  for (uint32_t i = 0; i < profile->processes_count; i++) {
    const char *path = profile->processes[i].path, *slash = path ? strrchr(path, '/') : NULL;
    const char *directory = slash ? path : ".";
    size_t length = slash ? (size_t)(slash - path) : 1, known = 0;
    if (!path)
      continue;
    while (known < search->measurements_count &&
           (strncmp(search->measurements[known], directory, length) != 0 || search->measurements[known][length]))
      known++;
    if (known == search->measurements_count)
      *XAPPEND(search->measurements, search->measurements_count, room) = xasprintf("%.*s", (int)length, directory);
  }
}

static void add_places(struct module_job *job, const struct symbols_location *places, size_t count)
{
  assert(count && count <= INLINE_FRAMES_MAX);
  xarray_reserve(&job->places, &job->places_room, job->places_count + count, sizeof *places);
  memcpy(job->places + job->places_count, places, count * sizeof *places);
  job->places_count += count;
}

ORDER(by_offset, uint32_t, COMPARE(*x, *y))

/* The job's addresses, and the functions called where constructs enter the runtime: such a function may end by jumping
 * there.  Returns their number. */
static uint32_t wanted_offsets(const struct resolver *resolver, const struct module_job *job, const char *path,
                               uint32_t **wanted)
{
  assert(job->begin < job->end);
  uint32_t count = job->end - job->begin, calls = 0;
  struct callees *callees = NULL;
  for (uint32_t i = job->begin; i < job->end; i++)
    calls += resolver->enters[i];
  *wanted = xmalloc(((size_t)count + calls) * sizeof **wanted);
  memcpy(*wanted, resolver->offsets + job->begin, count * sizeof **wanted);
  if (calls)
    callees = callees_open(path);
  for (uint32_t i = job->begin; callees && i < job->end; i++) {
    uint64_t called = resolver->enters[i] ? callees_called(callees, (uint64_t)resolver->offsets[i] + 1) : 0;
    if (called && called <= UINT32_MAX)
      (*wanted)[count++] = (uint32_t)called;
  }
  callees_free(callees);
  if (calls)
    qsort(*wanted, count, sizeof **wanted, by_offset);
  return count;
}

/* What is asked of the job's module, of its file as it was measured. */
static struct symbols_request request_of(const struct resolver *resolver, const struct module_job *job)
{
  const struct catalog_module *module = &resolver->profile->catalog.modules[job->module];
  uint32_t count = job->end - job->begin, calls_count = 0;
  uint32_t *calls = xcalloc(count, sizeof *calls);
  for (uint32_t i = job->begin; i < job->end; i++)
    if (resolver->calls[i])
      calls[calls_count++] = resolver->offsets[i];
  return (struct symbols_request){.path = module->path,
                                  .build_id = module->build_id,
                                  .build_id_size = module->build_id_size,
                                  .identity = &module->identity,
                                  .calls = calls,
                                  .calls_count = calls_count,
                                  .search = &resolver->search,
                                  .store = resolver->store,
                                  .offsets = resolver->offsets + job->begin,
                                  .offset_count = count};
}

/* Gets the symbols of the job's module: those that are kept, if they cover its addresses, else from a file.  The names
 * own the latter, unless they are kept.  Returns what symbols_open() has returned. */
static int get_symbols(const struct resolver *resolver, const struct module_job *job, struct symbols_request request,
                       const char *path)
{
  const struct catalog_module *module = &resolver->profile->catalog.modules[job->module];
  struct names_module *found = &resolver->names->modules[job->module];
  const struct kept_module *known = resolver->kept ? kept_symbols_find(resolver->kept, &request) : NULL;
  found->kept = resolver->kept;
  if (known) {
    found->symbols = known->symbols;
    found->message = known->message ? xstrdup(known->message) : NULL;
    return known->opened;
  }
  uint32_t *wanted;
  char message[1024];
  request.path = path;
  request.offset_count = wanted_offsets(resolver, job, path, &wanted);
  request.offsets = wanted;
  int opened = symbols_open(&request, &found->symbols, message, sizeof message);
  if (module->flags & MODULE_VDSO && opened == SYMBOLS_MISMATCH) /* of another kernel: its symbols cannot be had */
    *message = '\0';
  found->message = *message ? xstrdup(message) : NULL;
  request.path = module->path;
  if (resolver->kept)
    kept_symbols_add(resolver->kept, &request, opened, found->symbols, *message ? xstrdup(message) : NULL);
  free(wanted);
  return opened;
}

/* Finds the places of the job's addresses; path: the module's file.  The code is read only in the file that was
 * measured: symbols that are kept may be those of one that was replaced since. */
static void resolve_module(struct resolver *resolver, struct module_job *job, const char *path)
{
  struct names_module *found = &resolver->names->modules[job->module];
  struct symbols_request request = resolver->requests[job->module] = request_of(resolver, job);
  char elsewhere[PATH_MAX];
  bool vdso = path != request.path, measured = vdso || symbols_search_program(&request, elsewhere, sizeof elsewhere);
  if (measured && !vdso)
    path = elsewhere;
  int opened = get_symbols(resolver, job, request, path);
  bool usable = measured && opened != SYMBOLS_MISMATCH && opened != SYMBOLS_UNREADABLE;
  struct bounds *bounds = usable ? bounds_open(path) : NULL;
  if (usable && !vdso) /* the path of that one ends with this job */
    found->file = xstrdup(path);
  for (uint32_t i = job->begin; i < job->end; i++) {
    struct symbols_location places[INLINE_FRAMES_MAX];
    int known = inline_frames_look_up(found, bounds, resolver->offsets[i], places);
    resolver->names->addresses[i].count = (uint32_t)known;
    add_places(job, places, (size_t)known);
  }
  bounds_free(bounds);
}

static void resolve_job(void *argument, uint32_t number, unsigned worker)
{
  struct resolver *resolver = argument;
  struct module_job *job = &resolver->jobs[number];
  const struct catalog_module *module = &resolver->profile->catalog.modules[job->module];
  struct names_module *found = &resolver->names->modules[job->module];
  char path[SYMBOLS_VDSO_PATH];
  (void)worker;
  if (module->flags & (MODULE_TOOL | MODULE_RUNTIME))
    return;
  found->looked_up = !module->generated;
  if (!(module->flags & MODULE_VDSO)) {
    if (!(module->flags & MODULE_ANON) && module->path[0] == '/')
      resolve_module(resolver, job, module->path);
    return;
  }
  int image = module->build_id_size ? symbols_vdso(path) : -1;
  if (image < 0)
    return;
  resolve_module(resolver, job, path);
  close(image);
  found->looked_up = !found->named; /* missing source lines are not a defect of the measurement */
}

ORDER(by_size, struct module_job, COMPARE(y->end - y->begin, x->end - x->begin) ?: COMPARE(x->begin, y->begin))

ORDER(by_begin, struct module_job, COMPARE(x->begin, y->begin))

/* Looks up all addresses.  The largest modules come first, so that the threads finish at about the same time. */
static void resolve_jobs(struct resolver *resolver, unsigned threads)
{
  qsort(resolver->jobs, resolver->jobs_count, sizeof *resolver->jobs, by_size);
  workers_run(threads, resolver->jobs_count, resolve_job, resolver);
  qsort(resolver->jobs, resolver->jobs_count, sizeof *resolver->jobs, by_begin);
}

/* Makes the chains of a job's addresses from its places. */
static void name_job(struct resolver *resolver, const struct module_job *job)
{
  assert(job->begin < job->end && job->end <= resolver->names->addresses_count);
  struct names *names = resolver->names;
  const struct catalog_module *module = &resolver->profile->catalog.modules[job->module];
  const struct symbols_location *place = job->places;
  for (uint32_t i = job->begin; i < job->end; i++) {
    uint32_t known = names->addresses[i].count;
    inline_frames_add(names, module, job->module, place, known, resolver->offsets[i], &names->addresses[i]);
    if (known)
      place += known;
  }
}

void symbolize(const struct profile *profile, const struct symbols_search *where, unsigned threads, struct names *names)
{
  symbolize_kept(profile, where, threads, NULL, names);
}

void symbolize_kept(const struct profile *profile, const struct symbols_search *where, unsigned threads,
                    struct kept_symbols *kept, struct names *names)
{
  uint32_t contexts = profile->contexts.count, directives = profile->workspan.directives_count;
  uint32_t modules = profile->catalog.modules_count;
  size_t addresses = (size_t)contexts + directives;
  struct resolver resolver = {.profile = profile,
                              .names = names,
                              .kept = kept,
                              .offsets = xcalloc(addresses, sizeof *resolver.offsets),
                              .enters = xcalloc(addresses, sizeof *resolver.enters),
                              .calls = xcalloc(addresses, sizeof *resolver.calls),
                              .requests = xcalloc(modules, sizeof *resolver.requests),
                              .jobs = xcalloc(modules, sizeof *resolver.jobs)};
  *names = (struct names){.address_of = model_nones(contexts),
                          .directive_at = model_nones((size_t)directives + 1),
                          .addresses = xcalloc(addresses, sizeof *names->addresses),
                          .addresses_room = addresses,
                          .modules = xcalloc(modules, sizeof *names->modules),
                          .modules_count = modules};
  uint32_t *rank = xcalloc(modules, sizeof *rank);
  catalog_module_rank(&profile->catalog, rank);
  order_contexts(profile, rank, names);
  number_addresses(&resolver, rank);
  free(rank);
  note_calls(&resolver);
  if (where)
    resolver.search = *where;
  find_measurements(profile, &resolver.search);
  if (!kept && resolver.search.measurements_count)
    resolver.store = debug_store_open(resolver.search.measurements[0]);
  resolve_jobs(&resolver, threads);
  for (uint32_t i = 0; i < resolver.jobs_count; i++) {
    name_job(&resolver, &resolver.jobs[i]);
    free(resolver.jobs[i].places);
  }
  constructs_settle(profile, resolver.requests, names);
  if (resolver.store)
    debug_store_close(resolver.store);
  assert(check_names(names, contexts));
  for (uint32_t i = 0; i < modules; i++)
    free((void *)(uintptr_t)resolver.requests[i].calls);
  free(resolver.requests);
  free(resolver.jobs);
  free(resolver.offsets);
  free(resolver.enters);
  free(resolver.calls);
  for (size_t i = 0; i < resolver.search.measurements_count; i++)
    free(resolver.search.measurements[i]);
  free(resolver.search.measurements);
}

void symbolize_release(struct names *names)
{
  for (uint32_t i = 0; i < names->modules_count; i++)
    if (!names->modules[i].kept)
      symbols_free(names->modules[i].symbols);
  names_release(names);
}
