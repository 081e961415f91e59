#include "hpcprof-lite/views/symbolize.h"

#include "common/xalloc.h"
#include "hpcprof-lite/model/workers.h"
#include "hpcprof-lite/symbols/symbols.h"
#include "hpcprof-lite/symbols/callees.h"
#include "hpcprof-lite/views/constructs.h"
#include "hpcprof-lite/views/steps.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The addresses of one module, from `begin` to before `end`, and the symbols found for them. */
struct module_job {
  uint32_t module, begin, end;
  struct symbols_place *places; /* of all addresses, one after the other */
  size_t places_count, places_room;
  bool failed;
};

struct resolver {
  const struct profile *profile;
  struct names *names;
  struct kept_symbols *kept; /* NULL: symbols belong to the names */
  uint32_t *offsets;         /* [address] */
  bool *enters;              /* [address] a construct enters the runtime there */
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
  return (x->offset > y->offset) - (x->offset < y->offset);
}

static int order_contexts(const struct profile *profile, struct names *names)
{
  uint32_t count = profile->contexts.count;
  uint32_t *rank = xcalloc(profile->catalog.modules_count + 1, sizeof *rank);
  names->order = xcalloc(count, sizeof *names->order);
  int status = rank && names->order ? catalog_module_rank(&profile->catalog, rank) : ERR_NOMEM;
  if (!status) {
    struct order_key key = {.contexts = &profile->contexts, .rank = rank};
    names->order_count = count - 1;
    for (uint32_t i = 1; i < count; i++)
      names->order[i - 1] = i;
    qsort_r(names->order, names->order_count, sizeof *names->order, by_identity, &key);
  }
  free(rank);
  return status;
}

/* An address to be resolved. */
struct wanted {
  uint32_t module, offset, rank;
  uint32_t *number; /* receives the address's number */
};

static int by_address(const void *a, const void *b)
{
  const struct wanted *x = a, *y = b;
  if (x->rank != y->rank)
    return x->rank < y->rank ? -1 : 1;
  return (x->offset > y->offset) - (x->offset < y->offset);
}

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
static int number_addresses(struct resolver *resolver)
{
  struct names *names = resolver->names;
  const struct profile *profile = resolver->profile;
  uint32_t *rank = xcalloc(profile->catalog.modules_count + 1, sizeof *rank);
  struct wanted *wanted =
      xcalloc((size_t)profile->contexts.count + profile->workspan.directives_count + 1, sizeof *wanted);
  int status = rank && wanted ? catalog_module_rank(&profile->catalog, rank) : ERR_NOMEM;
  uint32_t count = status ? 0 : gather_addresses(resolver, rank, wanted);
  if (count)
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
  free(rank);
  return status;
}

static int add_places(struct module_job *job, const struct symbols_place *places, size_t count)
{
  xarray_reserve(&job->places, &job->places_room, job->places_count + count, sizeof *places);
  memcpy(job->places + job->places_count, places, count * sizeof *places);
  job->places_count += count;
  return 0;
}

static int by_offset(const void *a, const void *b)
{
  const uint32_t *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

/* The job's addresses, and the functions called where constructs enter the runtime: such a function may end by jumping
 * there.  Returns their number, and NULL in *wanted if memory runs out. */
static uint32_t wanted_offsets(const struct resolver *resolver, const struct module_job *job, const char *path,
                               uint32_t **wanted)
{
  uint32_t count = job->end - job->begin, calls = 0;
  struct callees *callees = NULL;
  for (uint32_t i = job->begin; i < job->end; i++)
    calls += resolver->enters[i];
  *wanted = xmalloc(((size_t)count + calls + 1) * sizeof **wanted);
  if (!*wanted)
    return 0;
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

/* Opens the symbols of the job's module from a file, whose names then own them, unless they are kept.  Returns 0 and
 * what symbols_open() has returned, or ERR_NOMEM. */
static int open_symbols(const struct resolver *resolver, const struct module_job *job, const char *path, int *opened)
{
  const struct catalog_module *module = &resolver->profile->catalog.modules[job->module];
  struct names_module *found = &resolver->names->modules[job->module];
  uint32_t *wanted, count = wanted_offsets(resolver, job, path, &wanted);
  if (!wanted)
    return ERR_NOMEM;
  struct symbols_request request = {.path = path,
                                    .build_id = module->build_id,
                                    .build_id_size = module->build_id_size,
                                    .offsets = wanted,
                                    .offset_count = count};
  char message[512] = "";
  *opened = symbols_open(&request, &found->symbols, message, sizeof message);
  if (module->flags & MODULE_VDSO) /* of another kernel: there is nothing to do about it */
    *message = '\0';
  found->message = *message ? xstrdup(message) : NULL;
  request.path = module->path;
  int status = !found->symbols || *opened == SYMBOLS_NOMEM || (*message && !found->message) ? ERR_NOMEM : 0;
  if (!status && resolver->kept) {
    char *copy = found->message ? xstrdup(found->message) : NULL;
    found->kept = kept_symbols_add(resolver->kept, &request, *opened, found->symbols, copy) != NULL;
    status = found->kept ? 0 : ERR_NOMEM;
    if (status)
      free(copy);
  }
  free(wanted);
  return status;
}

/* Takes the symbols that are kept of the job's module, if they cover its addresses.  Returns whether they do. */
static bool take_kept(const struct resolver *resolver, const struct module_job *job, int *opened)
{
  const struct catalog_module *module = &resolver->profile->catalog.modules[job->module];
  struct names_module *found = &resolver->names->modules[job->module];
  struct symbols_request request = {.path = module->path,
                                    .build_id = module->build_id,
                                    .build_id_size = module->build_id_size,
                                    .offsets = resolver->offsets + job->begin,
                                    .offset_count = job->end - job->begin};
  const struct kept_module *known = resolver->kept ? kept_symbols_find(resolver->kept, &request) : NULL;
  if (!known)
    return false;
  found->symbols = known->symbols;
  found->kept = true;
  found->message = known->message ? xstrdup(known->message) : NULL;
  *opened = known->opened;
  return true;
}

/* Finds the places of the job's addresses; path: the module's file. */
static int resolve_module(struct resolver *resolver, struct module_job *job, const char *path)
{
  struct names_module *found = &resolver->names->modules[job->module];
  int opened, status = take_kept(resolver, job, &opened) ? 0 : open_symbols(resolver, job, path, &opened);
  if (status)
    return status;
  bool unusable = opened == SYMBOLS_MISMATCH || opened == SYMBOLS_UNREADABLE;
  struct bounds *bounds = unusable ? NULL : bounds_open(path);
  for (uint32_t i = job->begin; i < job->end && !status; i++) {
    struct symbols_place places[STEPS_MAX];
    int known = steps_look_up(found, bounds, resolver->offsets[i], places);
    resolver->names->addresses[i].count = (uint32_t)known;
    status = add_places(job, places, (size_t)known);
  }
  bounds_free(bounds);
  return status;
}

static int resolve_job(struct resolver *resolver, struct module_job *job)
{
  const struct catalog_module *module = &resolver->profile->catalog.modules[job->module];
  struct names_module *found = &resolver->names->modules[job->module];
  char path[SYMBOLS_VDSO_PATH];
  if (module->flags & (MODULE_TOOL | MODULE_RUNTIME))
    return 0;
  found->looked_up = true;
  if (!(module->flags & MODULE_VDSO))
    return module->flags & MODULE_ANON || module->path[0] != '/' ? 0 : resolve_module(resolver, job, module->path);
  int image = module->build_id_size ? symbols_vdso(path) : -1;
  if (image < 0)
    return 0;
  int status = resolve_module(resolver, job, path);
  close(image);
  found->looked_up = !found->named; /* that it has no source lines is no defect of the measurement */
  return status;
}

static void run_job(void *argument, uint32_t number, unsigned worker)
{
  struct resolver *resolver = argument;
  (void)worker;
  resolver->jobs[number].failed = resolve_job(resolver, &resolver->jobs[number]) != 0;
}

static int by_size(const void *a, const void *b)
{
  const struct module_job *x = a, *y = b;
  uint32_t xs = x->end - x->begin, ys = y->end - y->begin;
  if (xs != ys)
    return xs > ys ? -1 : 1;
  return (x->begin > y->begin) - (x->begin < y->begin);
}

static int by_begin(const void *a, const void *b)
{
  const struct module_job *x = a, *y = b;
  return (x->begin > y->begin) - (x->begin < y->begin);
}

/* Looks up all addresses.  The largest modules come first, so that the threads finish at about the same time. */
static int resolve_jobs(struct resolver *resolver, unsigned threads)
{
  qsort(resolver->jobs, resolver->jobs_count, sizeof *resolver->jobs, by_size);
  workers_run(threads, resolver->jobs_count, run_job, resolver);
  qsort(resolver->jobs, resolver->jobs_count, sizeof *resolver->jobs, by_begin);
  for (uint32_t i = 0; i < resolver->jobs_count; i++)
    if (resolver->jobs[i].failed)
      return ERR_NOMEM;
  return 0;
}

/* Makes the chains of a job's addresses from its places. */
static int name_job(struct resolver *resolver, const struct module_job *job)
{
  struct names *names = resolver->names;
  const struct catalog_module *module = &resolver->profile->catalog.modules[job->module];
  const struct symbols_place *place = job->places;
  for (uint32_t i = job->begin; i < job->end; i++) {
    uint32_t known = names->addresses[i].count;
    if (steps_add(names, module, job->module, place, known, resolver->offsets[i], &names->addresses[i]))
      return ERR_NOMEM;
    place = known ? place + known : place;
  }
  return 0;
}

int symbolize(const struct profile *profile, unsigned threads, struct names *names)
{
  return symbolize_kept(profile, threads, NULL, names);
}

int symbolize_kept(const struct profile *profile, unsigned threads, struct kept_symbols *kept, struct names *names)
{
  uint32_t count = profile->contexts.count, modules = profile->catalog.modules_count;
  *names = (struct names){.modules_count = modules};
  struct resolver resolver = {.profile = profile, .names = names, .kept = kept};
  size_t addresses = (size_t)count + profile->workspan.directives_count;
  resolver.offsets = xcalloc(addresses, sizeof *resolver.offsets);
  resolver.enters = xcalloc(addresses, sizeof *resolver.enters);
  resolver.jobs = xcalloc(modules + 1, sizeof *resolver.jobs);
  names->address_of = xmalloc(count * sizeof *names->address_of);
  names->directive_at = xmalloc((profile->workspan.directives_count + 1) * sizeof *names->directive_at);
  names->addresses = xcalloc(addresses, sizeof *names->addresses);
  names->addresses_room = addresses;
  names->modules = xcalloc(modules + 1, sizeof *names->modules);
  int status = ERR_NOMEM;
  if (!resolver.offsets || !resolver.enters || !resolver.jobs || !names->address_of || !names->directive_at ||
      !names->addresses || !names->modules)
    goto out;
  memset(names->directive_at, 0xff, (profile->workspan.directives_count + 1) * sizeof *names->directive_at);
  memset(names->address_of, 0xff, count * sizeof *names->address_of);
  status = order_contexts(profile, names);
  if (!status)
    status = number_addresses(&resolver);
  if (!status)
    status = resolve_jobs(&resolver, threads);
  for (uint32_t i = 0; i < resolver.jobs_count && !status; i++)
    status = name_job(&resolver, &resolver.jobs[i]);
  if (!status)
    status = constructs_settle(profile, names);
out:
  for (uint32_t i = 0; i < resolver.jobs_count; i++)
    free(resolver.jobs[i].places);
  free(resolver.jobs);
  free(resolver.offsets);
  free(resolver.enters);
  return status;
}

void symbolize_release(struct names *names)
{
  for (uint32_t i = 0; names->modules && i < names->modules_count; i++)
    if (!names->modules[i].kept)
      symbols_free(names->modules[i].symbols);
  names_release(names);
}
