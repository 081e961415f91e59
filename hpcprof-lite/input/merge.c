#include "hpcprof-lite/input/merge.h"

#include "hpcprof-lite/input/construct_merge.h"
#include "hpcprof-lite/input/read.h"
#include "hpcprof-lite/input/span_merge.h"
#include "hpcprof-lite/input/stitch.h"
#include "hpcprof-lite/model/workers.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What the workers share. */
struct work {
  const struct merge_slice *slice;
  struct profile *profile;
  struct contexts *partial; /* `each` for each worker               */
  unsigned each;            /* threads that read a file of many threads */
  uint32_t done, files;     /* files of the slice: read, all     */
  pthread_mutex_t lock;     /* guards done and calls of progress */
  atomic_bool failed;       /* out of memory                     */
};

static void count_done(struct work *work)
{
  if (!work->slice->progress)
    return;
  pthread_mutex_lock(&work->lock);
  work->slice->progress(++work->done, work->files);
  pthread_mutex_unlock(&work->lock);
}

/* Whether a live file was left beside a complete one. */
static bool has_stale_live_file(const char *path)
{
  size_t stem = read_stem(path);
  char *live;
  if (strcmp(path + stem, READ_SUFFIX) != 0 || asprintf(&live, "%.*s" READ_LIVE_SUFFIX, (int)stem, path) < 0)
    return false;
  bool exists = access(live, F_OK) == 0;
  free(live);
  return exists;
}

/* Whether the process still runs on this machine: then it has its file mapped, or has just removed it at its end. */
static bool still_runs(const char *path, uint32_t pid)
{
  char name[32], line[512];
  struct stat stat;
  if (lstat(path, &stat))
    return errno == ENOENT;
  snprintf(name, sizeof name, "/proc/%" PRIu32 "/maps", pid);
  FILE *maps = fopen(name, "re");
  bool mapped = false;
  while (maps && !mapped && fgets(line, sizeof line, maps)) {
    unsigned long long inode;
    mapped = sscanf(line, "%*s %*s %*s %*s %llu", &inode) == 1 && inode == stat.st_ino;
  }
  if (maps)
    fclose(maps);
  return mapped;
}

static int merge_file(struct work *work, uint32_t number, struct contexts *contexts)
{
  struct profile *profile = work->profile;
  struct profile_process *process = &profile->processes[number];
  struct problems *problems = &profile->problems[number];
  struct read_file *file;
  process->number = number;
  process->path = strdup(work->slice->paths[number]);
  if (!process->path)
    return ERR_NOMEM;
  process->unfinished = strcmp(process->path + read_stem(process->path), READ_SUFFIX) != 0;
  int status = read_open(process->path, problems, process, &file);
  if (status == ERR_NOMEM)
    problems_add(problems, "cannot read %s: not enough memory", process->path);
  if (status)
    return 0;
  process->usable = true;
  process->running = process->unfinished && still_runs(process->path, process->pid);
  process->superseded = has_stale_live_file(process->path);
  status = stitch_file(file, process, &profile->catalog, work->slice->baseline, contexts, work->each, problems);
  read_close(file);
  return status;
}

static void merge_job(void *argument, uint32_t job, unsigned worker)
{
  struct work *work = argument;
  if (atomic_load(&work->failed))
    return;
  if (merge_file(work, work->slice->slice + job * work->slice->slices, &work->partial[worker * work->each]))
    atomic_store(&work->failed, true);
  count_done(work);
}

/* A round of the merge in pairs: tree (2 i + 1) step is merged into tree 2 i step. */
struct merge_round {
  struct contexts *partial;
  unsigned step;
  atomic_bool failed;
};

static void merge_pair(void *argument, uint32_t job, unsigned worker)
{
  struct merge_round *round = argument;
  struct contexts *into = &round->partial[(size_t)job * round->step * 2], *from = into + round->step;
  (void)worker;
  if (contexts_merge(into, from))
    atomic_store(&round->failed, true);
  contexts_release(from);
}

/* Moves the trees that have contents to the front and returns their number, at least 1. */
static unsigned drop_empty(struct contexts *partial, unsigned count)
{
  unsigned used = 0;
  for (unsigned i = 0; i < count; i++) {
    struct contexts tree = partial[i];
    if (tree.count == 1 && !tree.values && !tree.shares)
      continue;
    partial[i] = partial[used];
    partial[used++] = tree;
  }
  return used ? used : 1;
}

/* Merges the partial trees into the first one; the pairs of a round are merged in parallel. */
static int merge_pairs(struct contexts *partial, unsigned count)
{
  struct merge_round round = {.partial = partial};
  for (round.step = 1; round.step < count && !atomic_load(&round.failed); round.step *= 2) {
    uint32_t jobs = (count - round.step - 1) / (round.step * 2) + 1;
    workers_run(jobs, jobs, merge_pair, &round);
  }
  return atomic_load(&round.failed) ? ERR_NOMEM : 0;
}

/* A process with its problems, which are sorted together. */
struct process_entry {
  struct profile_process process;
  struct problems problems;
};

/* The order of processes in reports. */
static int by_start(const void *a, const void *b)
{
  const struct profile_process *x = &((const struct process_entry *)a)->process,
                               *y = &((const struct process_entry *)b)->process;
  if (x->usable != y->usable)
    return x->usable ? -1 : 1;
  if (x->start_ns != y->start_ns)
    return x->start_ns < y->start_ns ? -1 : 1;
  if (x->pid != y->pid)
    return x->pid < y->pid ? -1 : 1;
  return x->path && y->path ? strcmp(x->path, y->path) : 0;
}

static int sort_processes(struct profile *profile)
{
  struct process_entry *entries = calloc(profile->processes_count + 1, sizeof *entries);
  if (!entries)
    return ERR_NOMEM;
  for (uint32_t i = 0; i < profile->processes_count; i++)
    entries[i] = (struct process_entry){.process = profile->processes[i], .problems = profile->problems[i]};
  qsort(entries, profile->processes_count, sizeof *entries, by_start);
  for (uint32_t i = 0; i < profile->processes_count; i++) {
    profile->processes[i] = entries[i].process;
    profile->problems[i] = entries[i].problems;
    profile->processes_usable += entries[i].process.usable;
  }
  free(entries);
  return 0;
}

int merge_slice(const struct merge_slice *slice, struct profile *profile)
{
  uint32_t count = slice->count, files = count / slice->slices + (slice->slice < count % slice->slices);
  *profile = (struct profile){0};
  catalog_init(&profile->catalog);
  unsigned workers = slice->threads > files ? (files ? files : 1) : slice->threads;
  unsigned each = slice->threads / workers, trees = workers * each;
  struct contexts *partial = calloc(trees, sizeof *partial);
  profile->processes = calloc(count + 1, sizeof *profile->processes);
  profile->problems = calloc(count + 1, sizeof *profile->problems);
  int status = partial && profile->processes && profile->problems ? 0 : ERR_NOMEM;
  for (unsigned i = 0; i < trees && !status; i++)
    status = contexts_init(&partial[i]);
  if (!status) {
    struct work work = {.slice = slice, .profile = profile, .partial = partial, .each = each, .files = files};
    profile->processes_count = count;
    pthread_mutex_init(&work.lock, NULL);
    workers_run(workers, files, merge_job, &work);
    status = atomic_load(&work.failed) ? ERR_NOMEM : 0;
    pthread_mutex_destroy(&work.lock);
  }
  if (!status)
    status = merge_pairs(partial, drop_empty(partial, trees));
  if (!status) {
    profile->contexts = partial[0];
    partial[0] = (struct contexts){0};
  }
  for (unsigned i = 0; partial && i < trees; i++)
    contexts_release(&partial[i]);
  free(partial);
  return status;
}

int merge_finish(struct profile *profile)
{
  int status = sort_processes(profile);
  if (!status)
    status = span_merge(profile);
  return status ? status : construct_merge(profile);
}

int merge_files(char *const *paths, uint32_t count, unsigned threads, enum profile_baseline baseline,
                void (*progress)(uint32_t done, uint32_t all), struct profile *profile)
{
  struct merge_slice all = {
      .paths = paths, .count = count, .slices = 1, .threads = threads, .baseline = baseline, .progress = progress};
  int status = merge_slice(&all, profile);
  return status ? status : merge_finish(profile);
}
