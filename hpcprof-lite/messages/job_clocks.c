#include "hpcprof-lite/messages/job_clocks.h"

#include "common/order.h"
#include "common/tracelog.h"
#include "common/xalloc.h"
#include "hpcprof-lite/messages/host_clocks.h"
#include "hpcprof-lite/messages/job_messages.h"
#include "hpcprof-lite/model/object_pool.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { OFFERS_MAX = 1 << 26, ROUNDING_NS = 4 };

/* What ranks of a host have done before others go on: the last of them. */
struct offer {
  uint32_t next; /* of another host; must be the first element: see object_pool.h */
  uint32_t host;
  double ns;
};

/* A thread that communicates. */
struct stream {
  uint32_t process;
  double call_ns, now_ns; /* its call began; its last record */
};

struct job_clocks {
  const struct profile *profile;
  uint32_t *host_of;                     /* [process] */
  const struct profile_process **clocks; /* [host] */
  uint32_t hosts;
  struct hash_map names; /* of hosts → host + 1 */
  struct host_clocks *fitting;
  struct stream *streams;
  uint32_t streams_count;
  size_t streams_room;
  struct object_pool offers;
  struct hash_map offers_of; /* [number of the operation] the first */
};

/* ---- hosts ---- */

/* Whether a process is a rank whose log can say how its host's clock goes. */
static bool has_clock(const struct profile_process *process)
{
  return process->mpi_size && process->workspan.tick_ns > 0;
}

/* Returns the host of a process, or MODEL_NONE if it has no rank that was seen. */
static uint32_t host_named(const struct job_clocks *of, const char *name)
{
  uint64_t key = hash_map_key_bytes(1, name, strlen(name));
  uint32_t found = HASH_MAP_FIND(&of->names, key, i, !strcmp(of->clocks[i - 1]->host, name));
  return found ? found - 1 : MODEL_NONE;
}

/* Returns the first process of the same host whose ticks are known: all of them have its clock. */
static const struct profile_process *clock_of(const struct profile *profile, const struct profile_process *process)
{
  uint32_t i = 0;
  while (strcmp(profile->processes[i].host, process->host) != 0 || !(profile->processes[i].workspan.tick_ns > 0))
    i++;
  return &profile->processes[i];
}

/* Numbers the hosts of ranks.  Returns whether they are several. */
static bool find_hosts(struct job_clocks *of)
{
  const struct profile *profile = of->profile;
  of->host_of = model_nones(profile->processes_usable);
  of->clocks = xcalloc(profile->processes_usable, sizeof *of->clocks);
  for (uint32_t i = 0; i < profile->processes_usable; i++) {
    const struct profile_process *process = &profile->processes[i];
    if (!has_clock(process))
      continue;
    of->host_of[i] = host_named(of, process->host);
    if (of->host_of[i] != MODEL_NONE)
      continue;
    of->host_of[i] = of->hosts++;
    of->clocks[of->host_of[i]] = clock_of(profile, process);
    hash_map_add(&of->names, hash_map_key_bytes(1, process->host, strlen(process->host)), of->hosts);
  }
  return of->hosts > 1;
}

/* ---- what joins ---- */

static void take_record(void *context, uint32_t number, const struct message_stream *of,
                        const struct graphlog_record *record, uint64_t ns)
{
  struct job_clocks *clocks = context;
  if (number >= clocks->streams_count) {
    xarray_reserve(&clocks->streams, &clocks->streams_room, (size_t)number + 1, sizeof *clocks->streams);
    memset(&clocks->streams[clocks->streams_count], 0, (number + 1 - clocks->streams_count) * sizeof *clocks->streams);
    clocks->streams_count = number + 1;
  }
  struct stream *stream = &clocks->streams[number];
  stream->process = of->process;
  stream->now_ns = (double)(int64_t)(ns - JOB_MESSAGES_UNRELATED_NS);
  if (record->op == GRAPHLOG_MPI_CALL)
    stream->call_ns = stream->now_ns;
}

static struct offer *offer_at(const struct job_clocks *clocks, uint32_t index)
{
  return object_pool_at(&clocks->offers, index);
}

static void offer(void *context, uint32_t number, uint64_t operation)
{
  struct job_clocks *clocks = context;
  const struct stream *stream = &clocks->streams[number];
  uint32_t host = clocks->host_of[stream->process], first = hash_map_find(&clocks->offers_of, operation), index = first;
  if (host == MODEL_NONE)
    return;
  while (index && offer_at(clocks, index)->host != host)
    index = offer_at(clocks, index)->next;
  if (index) {
    offer_at(clocks, index)->ns = fmax(offer_at(clocks, index)->ns, stream->call_ns);
    return;
  }
  index = object_pool_get(&clocks->offers);
  if (!index)
    return;
  *offer_at(clocks, index) = (struct offer){first, host, stream->call_ns};
  hash_map_remove(&clocks->offers_of, operation);
  hash_map_add(&clocks->offers_of, operation, index);
}

/* What the trace shows of a time is by some bits earlier than it was: that must not be too early, either. */
static void take(void *context, uint32_t number, uint64_t operation)
{
  struct job_clocks *clocks = context;
  const struct stream *stream = &clocks->streams[number];
  uint32_t host = clocks->host_of[stream->process];
  if (host == MODEL_NONE)
    return;
  host_clocks_cover(clocks->fitting, host, stream->call_ns); /* it can have waited since then */
  double shown_ns = stream->now_ns - ldexp(clocks->clocks[host]->workspan.tick_ns, TRACELOG_STATE_SHIFT) - ROUNDING_NS;
  for (uint32_t i = hash_map_find(&clocks->offers_of, operation); i; i = offer_at(clocks, i)->next)
    if (offer_at(clocks, i)->host != host)
      host_clocks_bound(clocks->fitting, offer_at(clocks, i)->host, offer_at(clocks, i)->ns, host, shown_ns);
}

static void end(void *context, uint64_t operation)
{
  struct job_clocks *clocks = context;
  for (uint32_t i = hash_map_find(&clocks->offers_of, operation), next; i; i = next) {
    next = offer_at(clocks, i)->next;
    object_pool_put(&clocks->offers, i);
  }
  hash_map_remove(&clocks->offers_of, operation);
}

static void read_bounds(struct job_clocks *clocks, struct profile *profile)
{
  const struct message_observer joins = {
      .offers = offer, .takes = take, .ends = end, .context = clocks, .unrelated = true};
  const struct job_listener listener = {.record = take_record, .context = clocks, .joins = &joins};
  struct job_messages messages;
  struct problems ignored = {0};
  object_pool_init(&clocks->offers, sizeof(struct offer), OFFERS_MAX);
  clocks->fitting = host_clocks_new(clocks->hosts);
  job_messages_listen(profile, &listener, &ignored, &messages);
  job_messages_release(&messages);
  problems_release(&ignored);
  object_pool_release(&clocks->offers);
  hash_map_release(&clocks->offers_of);
  free(clocks->streams);
}

/* ---- the correction ---- */

/* Returns when a process began, since the start of its host's first one, on their clock. */
static double began_ns(const struct profile_process *process, const struct profile_process *clock)
{
  if (process->workspan.tick_ns > 0)
    return (double)(int64_t)(process->start_ticks - clock->start_ticks) * clock->workspan.tick_ns;
  return (double)(int64_t)(process->start_ns - clock->start_ns);
}

/* run_ns: when the first host's first process began. */
static void correct(struct profile_process *process, const struct profile_process *clock,
                    const struct host_clock *fitted, uint64_t run_ns)
{
  double since_ns = fitted->offset_ns + fitted->rate * began_ns(process, clock);
  double tick_ns = process->workspan.tick_ns;
  process->start_ns =
      since_ns < 0 ? model_difference(run_ns, model_rounded(-since_ns)) : model_sum(run_ns, model_rounded(since_ns));
  process->clock_rate = fitted->rate * (tick_ns > 0 ? clock->workspan.tick_ns / tick_ns : 1);
}

/* Corrects all processes on the hosts of ranks. */
static void correct_all(const struct job_clocks *clocks, const struct host_clock *fitted, struct profile *profile)
{
  struct profile_process *before =
      xcalloc(clocks->hosts, sizeof *before); /* the processes that give the clocks change */
  for (uint32_t i = 0; i < clocks->hosts; i++)
    before[i] = *clocks->clocks[i];
  for (uint32_t i = 0; i < profile->processes_usable; i++) {
    struct profile_process *process = &profile->processes[i];
    uint32_t host = host_named(clocks, process->host);
    if (host != MODEL_NONE)
      correct(process, &before[host], &fitted[host], before[0].start_ns);
  }
  free(before);
}

/* Sets what is left open of all clocks.  A wait depends on two of them, of which one can be the first host's. */
static void set_open(const struct host_clock *fitted, struct profile_clocks *clocks)
{
  double most = 0, second = 0, least = 0;
  for (uint32_t i = 0; i < clocks->hosts; i++) {
    double open_ns = fitted[i].open_ns;
    second = fmax(second, fmin(open_ns, most));
    most = fmax(most, open_ns);
    least = fmin(least, open_ns);
  }
  clocks->open_ns = least < 0 ? least : most;
  clocks->wait_ns = most + second;
}

void job_clocks_correct(struct profile *profile)
{
  struct job_clocks clocks = {.profile = profile};
  bool several = find_hosts(&clocks);
  profile->clocks.hosts = clocks.hosts;
  if (several) {
    struct host_clock *fitted = xcalloc(clocks.hosts, sizeof *fitted);
    read_bounds(&clocks, profile);
    profile->clocks.corrected = host_clocks_fit(clocks.fitting, fitted) == clocks.hosts;
    if (profile->clocks.corrected) {
      set_open(fitted, &profile->clocks);
      correct_all(&clocks, fitted, profile);
    }
    host_clocks_free(clocks.fitting);
    free(fitted);
  }
  hash_map_release(&clocks.names);
  free(clocks.host_of);
  free(clocks.clocks);
}
