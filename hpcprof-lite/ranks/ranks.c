#include "hpcprof-lite/ranks/ranks.h"

#include "common/xalloc.h"
#include "hpcprof-lite/ranks/profile_message.h"

#include <assert.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DISMISSED = 1 }; /* a status that ranks_dismiss() sends; errors are negative */

/* What helpers are asked for: the first number of a message. */
enum { REQUEST_STATISTICS, REQUEST_TIMELINE, REQUEST_LOGS };

enum { BATCH_BYTES = 1 << 20 }; /* of records of graph logs */

/* ---- ranks of the launch ---- */

/* A number that the launcher has put into the environment, -1 if it is missing or invalid. */
static long launcher_number(const char *name)
{
  const char *value = getenv(name);
  char *end;
  if (!value || !*value)
    return -1;
  long number = strtol(value, &end, 10);
  return number >= 0 && number < INT_MAX && !*end ? number : -1;
}

static long launched_rank(void)
{
  long rank = launcher_number("OMPI_COMM_WORLD_RANK");
  if (rank < 0)
    rank = launcher_number("PMIX_RANK");
  if (rank < 0)
    rank = launcher_number("PMI_RANK");
  return rank;
}

/* SLURM_NTASKS counts only where there is a rank: a batch script has it too. */
static long launched_size(void)
{
  long size = launcher_number("OMPI_COMM_WORLD_SIZE");
  if (size < 0)
    size = launcher_number("PMI_SIZE");
  if (size < 0 && launcher_number("PMIX_RANK") >= 0)
    size = launcher_number("SLURM_NTASKS");
  return size;
}

bool ranks_is_first(void)
{
  return launched_size() <= 1 || launched_rank() <= 0;
}

/* Loads the module by its path relative to this program, so that both can be moved.  NULL with a message on failure. */
static const struct transport *load_transport(char *message, size_t message_size)
{
  char path[PATH_MAX + sizeof RANKS_MODULE];
  ssize_t length = readlink("/proc/self/exe", path, PATH_MAX);
  char *slash = length > 0 ? memrchr(path, '/', (size_t)length) : NULL;
  if (!slash)
    return NULL;
  strcpy(slash + 1, RANKS_MODULE);
  if (access(path, F_OK) != 0) {
    snprintf(message, message_size, "this build has no MPI (meson setup -Dmpi=enabled)");
    return NULL;
  }
  void *module = dlopen(path, RTLD_NOW | RTLD_GLOBAL); /* global: MPI's own modules need the library's symbols */
  const struct transport *transport = module ? dlsym(module, TRANSPORT_SYMBOL) : NULL;
  if (!transport)
    snprintf(message, message_size, "%s", dlerror());
  return transport;
}

enum ranks_role ranks_join(struct ranks *ranks, char *message, size_t message_size)
{
  assert(message && message_size);
  long size = launched_size(), rank = launched_rank();
  *ranks = (struct ranks){.size = 1};
  *message = '\0';
  if (size <= 1)
    return RANKS_FIRST;
  const struct transport *transport = load_transport(message, message_size);
  if (transport) {
    transport->start(&ranks->rank, &ranks->size);
    if (ranks->size == size) {
      ranks->link = transport;
      return ranks->rank ? RANKS_HELPER : RANKS_FIRST;
    }
    transport->stop();
    *ranks = (struct ranks){.size = 1};
    snprintf(message, message_size, "its MPI library does not know the launcher");
  }
  return rank > 0 ? RANKS_IDLE : RANKS_FIRST;
}

/* ---- messages ---- */

/* The lowest bit of the rank's number; for rank 0, the number of ranks rounded up to a power of two. */
static uint32_t low_bit(const struct ranks *ranks)
{
  assert(ranks->size && ranks->rank < ranks->size);
  uint32_t power = 1;
  while (power < ranks->size)
    power *= 2;
  return ranks->rank ? ranks->rank & -ranks->rank : power;
}

static uint32_t parent(const struct ranks *ranks)
{
  assert(ranks->rank);
  return ranks->rank - low_bit(ranks);
}

/* Packs a message, or its status in its place if it has failed, and releases it.  The caller frees the bytes. */
static void *pack(struct profile_message *message, size_t *size)
{
  assert(size);
  void *bytes = profile_message_pack(message, size);
  if (!bytes) {
    *size = sizeof message->status;
    bytes = memcpy(xmalloc(*size), &message->status, *size);
  }
  profile_message_release(message);
  return bytes;
}

/* Sends bytes to the rank's children. */
static void send_down(const struct ranks *ranks, const void *bytes, size_t size)
{
  assert(ranks->link);
  for (uint32_t step = low_bit(ranks) / 2; step; step /= 2)
    if (ranks->rank + step < ranks->size)
      ranks->link->send(ranks->rank + step, bytes, size);
}

/* Sends a message of the first rank to all others, and releases it. */
static void send_to_all(const struct ranks *ranks, struct profile_message *message)
{
  size_t size;
  void *bytes = pack(message, &size);
  send_down(ranks, bytes, size);
  free(bytes);
}

/* Receives a message, or the status that was sent in its place; one from the parent is passed on to the children. */
static void receive(const struct ranks *ranks, uint32_t from, struct profile_message *message)
{
  assert(ranks->link && from < ranks->size && from != ranks->rank);
  int status = 0;
  size_t size = ranks->link->expect(from);
  void *bytes = xmalloc(size);
  ranks->link->take(from, bytes, size);
  if (from < ranks->rank)
    send_down(ranks, bytes, size);
  if (size > sizeof status) {
    profile_message_unpack(message, bytes, size);
  } else {
    memcpy(&status, bytes, size);
    *message = (struct profile_message){.status = status ? status : ERR_INPUT};
  }
  free(bytes);
}

/* Merges an object of each rank into that of the first rank, along the tree: `get` adds a child's object to this
 * rank's, `put` serialises it for the parent.  Returns 0 or the first error of this rank and those below it. */
static int reduce(const struct ranks *ranks, int status, void (*put)(struct profile_message *, void *),
                  void (*get)(struct profile_message *, void *), void *object)
{
  assert(ranks->link && put && get);
  for (uint32_t step = 1; step < low_bit(ranks); step *= 2) {
    struct profile_message message;
    if (ranks->rank + step >= ranks->size)
      continue;
    receive(ranks, ranks->rank + step, &message);
    if (!status && !message.status)
      get(&message, object);
    if (!status)
      status = message.status;
    profile_message_release(&message);
  }
  if (!ranks->rank)
    return status;
  struct profile_message message = {.status = status};
  size_t size;
  if (!status)
    put(&message, object);
  void *bytes = pack(&message, &size);
  ranks->link->send(parent(ranks), bytes, size);
  free(bytes);
  return status;
}

/* ---- files ---- */

static void get_paths(struct profile_message *message, char ***paths, uint32_t *count)
{
  uint32_t length, total = profile_message_get_count(message);
  *count = 0;
  *paths = xcalloc(total, sizeof **paths);
  for (char *path;
       *count < total && (path = profile_message_own_array(message, &length, 1));) /* with a NUL behind it */
    (*paths)[(*count)++] = path;
}

int ranks_paths(struct ranks *ranks, int status, char ***paths, uint32_t *count, uint64_t *begin_ns)
{
  assert(paths && count && begin_ns);
  struct profile_message message = {.status = status};
  if (!ranks->link)
    return status;
  if (ranks->rank) {
    receive(ranks, parent(ranks), &message);
    *begin_ns = profile_message_get_number(&message);
    get_paths(&message, paths, count);
    status = message.status;
    profile_message_release(&message);
    return status;
  }
  profile_message_put_number(&message, *begin_ns);
  profile_message_put_number(&message, *count);
  for (uint32_t i = 0; i < *count; i++)
    profile_message_put_array(&message, (*paths)[i], strlen((*paths)[i]) + 1, 1);
  send_to_all(ranks, &message);
  return status;
}

/* ---- profiles ---- */

static void put_profile(struct profile_message *message, void *profile)
{
  profile_message_put_profile(message, profile, false);
}

static void get_profile(struct profile_message *message, void *profile)
{
  profile_message_get_profile(message, profile);
}

int ranks_reduce(struct ranks *ranks, int status, struct profile *profile)
{
  if (!ranks->link)
    return status;
  return reduce(ranks, status, put_profile, get_profile, profile);
}

/* ---- statistics ---- */

/* What a helper receives of the first rank's view. */
struct request {
  struct profile profile;
  struct statistics_view view;
  struct tree tree;
  struct derived_links links;
  uint32_t *row_of;
};

struct request_head {
  uint32_t column, rows, linked;
};

static void put_request(struct profile_message *message, const struct statistics_view *view)
{
  assert(view->row_of && view->tree->count);
  const struct tree *tree = view->tree;
  const struct request_head head = {.column = view->column, .rows = view->rows, .linked = view->into != NULL};
  profile_message_put_number(message, REQUEST_STATISTICS);
  profile_message_put_profile(message, view->profile, true);
  profile_message_put(message, &head, sizeof head);
  profile_message_put_tree(message, tree);
  profile_message_put_array(message, view->row_of, view->profile->contexts.count, sizeof *view->row_of);
  if (!view->into)
    return;
  profile_message_put_array(message, view->into->first, tree->count, sizeof *view->into->first);
  profile_message_put_array(message, view->into->count, tree->count, sizeof *view->into->count);
  profile_message_put_array(message, view->into->into, view->into->into_count, sizeof *view->into->into);
}

static void get_links(struct profile_message *message, struct request *request)
{
  struct derived_links *links = &request->links;
  uint32_t firsts, counts;
  links->first = profile_message_own_array(message, &firsts, sizeof *links->first);
  links->count = profile_message_own_array(message, &counts, sizeof *links->count);
  links->into = profile_message_own_array(message, &links->into_count, sizeof *links->into);
  bool valid = firsts == request->tree.count && counts == firsts;
  for (uint32_t i = 0; i < links->into_count && valid; i++)
    valid = links->into[i] < request->view.rows;
  for (uint32_t row = 0; row < firsts && valid; row++)
    valid = (uint64_t)links->first[row] + links->count[row] <= links->into_count;
  profile_message_check(message, valid);
  request->view.into = links;
}

static void get_request(struct profile_message *message, struct request *request)
{
  *request = (struct request){.view = {.profile = &request->profile, .tree = &request->tree}};
  catalog_init(&request->profile.catalog);
  profile_message_get_profile(message, &request->profile);
  const struct request_head *head = profile_message_get(message, sizeof *head);
  profile_message_get_tree(message, &request->tree);
  if (!profile_message_get_numbers(message, request->profile.contexts.count, request->tree.count, &request->row_of))
    return;
  request->view.column = head->column;
  request->view.rows = head->rows;
  request->view.row_of = request->row_of;
  if (head->linked)
    get_links(message, request);
  profile_message_check(message, request->tree.count && head->column < request->profile.catalog.columns_count &&
                                     (head->linked || head->rows == request->tree.count));
}

/* What the helpers send back. */
struct counted {
  struct statistics *statistics;
  struct problems *problems;
};

static void put_counted(struct profile_message *message, void *object)
{
  assert(((const struct counted *)object)->statistics->known);
  const struct counted *counted = object;
  const struct statistics *statistics = counted->statistics;
  profile_message_put_array(message, statistics->threads, statistics->rows, sizeof *statistics->threads);
  profile_message_put_array(message, statistics->ranks, statistics->ranked ? statistics->rows : 0,
                            sizeof *statistics->ranks);
  profile_message_put_problems(message, counted->problems);
}

/* Whether all owners that the sums name exist. */
static bool valid_sums(const struct statistics_sums *sums, uint32_t rows, uint32_t owners)
{
  assert(sums || !rows);
  for (uint32_t row = 0; row < rows; row++) {
    bool first_without_valid = sums[row].first_without < owners || sums[row].first_without == MODEL_NONE;
    bool extremes_valid = !sums[row].owners || (sums[row].least_owner < owners && sums[row].most_owner < owners);
    if (!first_without_valid || !extremes_valid)
      return false;
  }
  return true;
}

static void get_counted(struct profile_message *message, void *object)
{
  const struct counted *counted = object;
  struct statistics *into = counted->statistics, from = *into;
  uint32_t threads, ranks;
  from.threads = profile_message_own_array(message, &threads, sizeof *from.threads);
  from.ranks = profile_message_own_array(message, &ranks, sizeof *from.ranks);
  profile_message_get_problems(message, counted->problems);
  bool valid = threads == into->rows && ranks == (into->ranked ? into->rows : 0) &&
               valid_sums(from.threads, threads, into->threads_count) &&
               valid_sums(from.ranks, ranks, into->ranks_count);
  if (profile_message_check(message, valid))
    statistics_merge(into, &from);
  free(from.threads);
  free(from.ranks);
}

int ranks_statistics(struct ranks *ranks, const struct statistics_view *view, unsigned threads,
                     struct problems *problems, struct statistics *statistics)
{
  struct profile_message message = {0};
  if (!ranks->link) {
    statistics_count(view, threads, problems, statistics);
    return 0;
  }
  put_request(&message, view);
  send_to_all(ranks, &message);
  statistics_count_part(view, 0, ranks->size, threads, problems, statistics);
  return reduce(ranks, 0, put_counted, get_counted, &(struct counted){statistics, problems});
}

/* Counts this rank's part for the first rank. */
static void serve_statistics(const struct ranks *ranks, struct profile_message *message, unsigned threads)
{
  struct request request;
  struct statistics statistics = {0};
  struct problems problems = {0};
  get_request(message, &request);
  if (!message->status)
    statistics_count_part(&request.view, ranks->rank, ranks->size, threads, &problems, &statistics);
  reduce(ranks, message->status, put_counted, get_counted, &(struct counted){&statistics, &problems});
  statistics_release(&statistics);
  problems_release(&problems);
  if (request.profile.processes)
    profile_release(&request.profile);
  free(request.tree.rows);
  free(request.row_of);
  derived_release_links(&request.links);
}

/* ---- traces ---- */

static void put_problems(struct profile_message *message, void *object)
{
  profile_message_put_problems(message, object);
}

static void get_problems(struct profile_message *message, void *object)
{
  profile_message_get_problems(message, object);
}

void ranks_timeline_begin(struct ranks *ranks, const struct timeline_request *request)
{
  assert(!ranks->link || !ranks->rank);
  struct profile_message message = {0};
  if (!ranks->link)
    return;
  profile_message_put_number(&message, REQUEST_TIMELINE);
  timeline_request_put(&message, request);
  send_to_all(ranks, &message);
}

int ranks_timeline_end(struct ranks *ranks, int status, struct problems *problems)
{
  if (!ranks->link)
    return status;
  return reduce(ranks, status, put_problems, get_problems, problems);
}

/* Has the caller read this rank's traces for the first rank. */
static void serve_timeline(const struct ranks *ranks, struct profile_message *message,
                           const struct ranks_service *service)
{
  assert(service->timeline);
  struct profile profile = {0};
  struct tree tree = {0};
  struct construct_tree constructs = {0};
  struct problems problems = {0};
  struct timeline_request request = {.profile = &profile, .tree = &tree, .constructs = &constructs};
  timeline_request_get(message, &request);
  if (!message->status)
    service->timeline(service->self, &request, &problems);
  reduce(ranks, message->status, put_problems, get_problems, &problems);
  problems_release(&problems);
  if (profile.processes)
    profile_release(&profile);
  free(tree.rows);
  free(request.row_of);
  construct_tree_release(&constructs);
}

/* ---- graph logs ---- */

static void put_list(struct profile_message *message, const struct log_list *list, const struct problems *problems)
{
  profile_message_put_number(message, list->usable);
  profile_message_put_array(message, list->owners, list->parts_count, sizeof *list->owners);
  profile_message_put_array(message, list->streams, list->streams_count, sizeof *list->streams);
  profile_message_put_problems(message, problems);
}

static void get_list(struct profile_message *message, struct log_list *list, struct problems *problems)
{
  list->usable = profile_message_get_number(message);
  list->owners = profile_message_own_array(message, &list->parts_count, sizeof *list->owners);
  list->streams = profile_message_own_array(message, &list->streams_count, sizeof *list->streams);
  profile_message_get_problems(message, problems);
  list->usable &= !message->status;
}

static void put_parts(struct profile_message *message, const struct log_part *parts, uint32_t count)
{
  static const struct log_clock none;
  profile_message_put_number(message, count);
  for (uint32_t i = 0; i < count; i++) {
    profile_message_put_array(message, parts[i].measurement, strlen(parts[i].measurement) + 1, 1);
    profile_message_put_number(message, parts[i].clock != NULL);
    profile_message_put(message, parts[i].clock ? parts[i].clock : &none, sizeof none);
  }
}

/* Gets the paths and clocks of the parts, which belong to the message.  Returns their number. */
static uint32_t get_parts(struct profile_message *message, struct log_part **parts)
{
  uint32_t length, count = profile_message_get_count(message);
  *parts = xcalloc(count, sizeof **parts);
  for (uint32_t i = 0; i < count; i++) {
    struct log_part *part = &(*parts)[i];
    part->measurement = profile_message_get_array(message, &length, 1);
    profile_message_check(message, length && !part->measurement[length - 1]);
    bool has_clock = profile_message_get_number(message);
    const struct log_clock *clock = profile_message_get(message, sizeof *clock);
    part->clock = has_clock ? clock : NULL;
  }
  return message->status ? 0 : count;
}

static bool open_logs(void *context, const struct log_part *parts, uint32_t count, enum log_selection selection,
                      struct log_list *lists, struct problems *problems)
{
  const struct ranks *ranks = context;
  bool all = true, any = false;
  struct profile_message message = {0};
  profile_message_put_number(&message, REQUEST_LOGS);
  profile_message_put_number(&message, selection);
  put_parts(&message, parts, count);
  send_to_all(ranks, &message);
  for (uint32_t i = 1; i < ranks->size; i++) {
    struct problems found = {0};
    receive(ranks, i, &message);
    get_list(&message, &lists[i - 1], &found);
    profile_message_release(&message);
    if (all || selection != LOG_ALL) /* one process alone would look no further */
      problems_append(problems, &found);
    problems_release(&found);
    all &= lists[i - 1].usable;
    any |= lists[i - 1].usable;
  }
  bool usable = selection == LOG_ALL ? all : any;
  profile_message_put_number(&message, usable);
  send_to_all(ranks, &message);
  return usable;
}

static uint8_t *more_of_logs(void *context, uint32_t helper, size_t *size)
{
  const struct ranks *ranks = context;
  *size = ranks->link->expect(helper + 1);
  uint8_t *bytes = xmalloc(*size);
  ranks->link->take(helper + 1, bytes, *size);
  return bytes;
}

static void end_logs(void *context, uint32_t helper, uint64_t *forced, uint64_t *damaged, struct problems *problems)
{
  struct profile_message message;
  receive(context, helper + 1, &message);
  *forced += profile_message_get_number(&message);
  *damaged += profile_message_get_number(&message);
  profile_message_get_problems(&message, problems);
  profile_message_release(&message);
}

struct log_help ranks_log_help(struct ranks *ranks)
{
  return (struct log_help){.helpers = ranks->link ? ranks->size - 1 : 0,
                           .open = open_logs,
                           .more = more_of_logs,
                           .end = end_logs,
                           .context = ranks};
}

/* Packs a message, and sends it to the first rank. */
static void send_to_first(const struct ranks *ranks, struct profile_message *message)
{
  size_t size;
  void *bytes = pack(message, &size);
  ranks->link->send(0, bytes, size);
  free(bytes);
}

/* Sends all records of the logs to the first rank. */
static void send_logs(const struct ranks *ranks, struct log_reader *reader, struct problems *problems)
{
  struct log_batch batch = {0};
  struct log_reader_record record;
  struct profile_message end = {0};
  while (reader && log_reader_next_raw(reader, &record)) {
    log_batch_put(&batch, &record);
    if (batch.size < BATCH_BYTES)
      continue;
    ranks->link->send(0, batch.bytes, batch.size);
    batch.size = batch.time = 0;
  }
  if (batch.size)
    ranks->link->send(0, batch.bytes, batch.size);
  ranks->link->send(0, NULL, 0);
  free(batch.bytes);
  profile_message_put_number(&end, reader ? log_reader_forced(reader) : 0);
  profile_message_put_number(&end, reader ? log_reader_damaged(reader) : 0);
  profile_message_put_problems(&end, problems);
  send_to_first(ranks, &end);
}

/* Opens this rank's part of the logs, tells the first rank what is there, and sends it if that can use all. */
static void serve_logs(const struct ranks *ranks, struct profile_message *request)
{
  struct log_part *parts;
  struct log_list list;
  struct problems problems = {0};
  struct profile_message message = {0};
  uint64_t asked = profile_message_get_number(request);
  enum log_selection selection = asked < LOG_SELECTIONS ? (enum log_selection)asked : LOG_ALL;
  uint64_t all = get_parts(request, &parts), helpers = ranks->size - 1;
  uint32_t first = (uint32_t)(all * (ranks->rank - 1) / helpers);
  uint32_t count = (uint32_t)(all * ranks->rank / helpers) - first;
  struct log_reader *reader = count ? log_reader_open_job(parts + first, count, selection, &problems) : NULL;
  log_reader_list(reader, count, &list);
  list.usable |= !count && selection == LOG_ALL;
  put_list(&message, &list, &problems);
  send_to_first(ranks, &message);
  log_list_release(&list);
  problems_release(&problems);
  receive(ranks, parent(ranks), &message);
  if (profile_message_get_number(&message))
    send_logs(ranks, reader, &problems);
  profile_message_release(&message);
  log_reader_close(reader);
  problems_release(&problems);
  free(parts);
}

/* ---- helpers ---- */

void ranks_serve(struct ranks *ranks, const struct ranks_service *service)
{
  assert(ranks->link && ranks->rank);
  for (;;) {
    struct profile_message message;
    receive(ranks, parent(ranks), &message);
    if (message.status == DISMISSED) /* an error is passed on by reduce() */
      break;
    uint64_t kind = profile_message_get_number(&message);
    if (kind == REQUEST_TIMELINE)
      serve_timeline(ranks, &message, service);
    else if (kind == REQUEST_LOGS)
      serve_logs(ranks, &message);
    else
      serve_statistics(ranks, &message, service->threads);
    profile_message_release(&message);
  }
  ranks->link->stop();
  ranks->link = NULL;
}

void ranks_dismiss(struct ranks *ranks)
{
  assert(!ranks->link || !ranks->rank);
  if (!ranks->link)
    return;
  send_to_all(ranks, &(struct profile_message){.status = DISMISSED});
  ranks->link->stop();
  ranks->link = NULL;
}
