#include "hpcprof-lite/merge/merge.h"

#include "common/order.h"
#include "common/xalloc.h"
#include "hpcprof-lite/merge/construct_merge.h"
#include "hpcprof-lite/merge/device_records.h"
#include "hpcprof-lite/merge/user_marks.h"
#include "hpcprof-lite/input/range/range.h"
#include "hpcprof-lite/input/read.h"
#include "hpcprof-lite/merge/span_merge.h"
#include "hpcprof-lite/merge/stitch.h"
#include "hpcprof-lite/model/checks.h"
#include "hpcprof-lite/model/workers.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
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
  atomic_bool ended;        /* by progress                       */
};

static void count_done(struct work *work)
{
  if (!work->slice->progress)
    return;
  pthread_mutex_lock(&work->lock);
  if (!work->slice->progress(++work->done, work->files))
    atomic_store(&work->ended, true);
  pthread_mutex_unlock(&work->lock);
}

static bool is_unfinished(const char *path)
{
  return strcmp(path + read_stem(path), FORMAT_SUFFIX) != 0;
}

/* Whether a live file was left beside a complete one. */
static bool has_stale_live_file(const char *path)
{
  if (is_unfinished(path))
    return false;
  char *live = xasprintf("%.*s" FORMAT_LIVE_SUFFIX, (int)read_stem(path), path);
  bool exists = access(live, F_OK) == 0;
  free(live);
  return exists;
}

/* Whether the file is in a snapshot, by hpcrun-lite --control, that was taken while the process ran: the marker there
 * lists the processes of its host.  Those of other hosts may have run. */
static bool ran_at_snapshot(const struct profile_process *process)
{
  const char *slash = strrchr(process->path, '/');
  char line[300];
  int length = slash ? (int)(slash - process->path + 1) : 0;
  char *marker = xasprintf("%.*s" FORMAT_SNAPSHOT_MARKER, length, process->path);
  int fd = open(marker, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
  bool ran = false;
  if (file && fgets(line, sizeof line, file) &&
      !strncmp(line, FORMAT_SNAPSHOT_TITLE, sizeof FORMAT_SNAPSHOT_TITLE - 1)) {
    const char *host = line + sizeof FORMAT_SNAPSHOT_TITLE - 1;
    line[strcspn(line, "\n")] = '\0';
    ran = !process->host || strcmp(host, process->host) != 0;
    while (!ran && fgets(line, sizeof line, file))
      ran = strtoul(line, NULL, 10) == process->pid;
  }
  if (file)
    fclose(file);
  else if (fd >= 0)
    close(fd);
  free(marker);
  return ran;
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

/* Finds out how long the threads of a process that runs here have waited for a processor: a process stores that when a
 * thread ends.  The kernel's figure of the first thread contains what it has waited before it was measured, which is in
 * its record. */
static void take_run_delays(struct profile_process *process)
{
  for (uint32_t i = 0; i < process->threads_count; i++) {
    struct profile_thread *thread = &process->threads[i];
    char name[64];
    if (thread->end_ns || thread->run_delay_ns)
      continue;
    snprintf(name, sizeof name, "/proc/%" PRIu32 "/task/%" PRIu32 "/schedstat", process->pid, thread->tid);
    FILE *file = fopen(name, "re");
    if (file && fscanf(file, "%*s %" SCNu64, &thread->run_delay_ns) != 1)
      thread->run_delay_ns = 0;
    if (thread->tid == process->pid)
      thread->run_delay_ns = model_difference(thread->run_delay_ns, thread->initial_delay_ns);
    if (file)
      fclose(file);
  }
}

/* Restricts the process to the part of the run.  One that cannot be restricted is not usable. */
static bool take_part(const struct profile_range *part, struct read_file *file, struct profile_process *process,
                      struct problems *problems, struct range **range)
{
  const char *why;
  uint64_t begin_ns = model_sum(part->begin_ns, part->from_ns), end_ns = model_sum(part->begin_ns, part->to_ns);
  user_marks_cut(process, model_difference(begin_ns, process->start_ns), model_difference(end_ns, process->start_ns));
  range_set(process, begin_ns, end_ns);
  process->usable = !range_open(file, process, problems, range, &why);
  if (process->usable) {
    range_take(file, *range, begin_ns, end_ns, process, problems);
    user_marks_count(file, process);
  } else {
    problems_add(problems, "%s: --from and --to cannot be used: %s", process->path, why);
  }
  return process->usable;
}

/* Marks all contexts as those of the whole run. */
static void mark_met(struct catalog *catalog, struct contexts *contexts)
{
  const struct catalog_column met = {.name = "met", .unit = "", .role = COLUMN_MET | COLUMN_OF_WHOLE};
  uint32_t column;
  if (catalog_add_column(catalog, &met, &column))
    return;
  for (uint32_t i = 0; i < contexts->count; i++)
    contexts_value(contexts, i, column, 1);
}

static uint64_t *copy_blocked(const struct profile_process *process)
{
  uint64_t *blocked_ns = xcalloc(process->threads_count, sizeof *blocked_ns);
  for (uint32_t i = 0; i < process->threads_count; i++)
    blocked_ns[i] = process->threads[i].blocked_ns;
  return blocked_ns;
}

/* blocked_ns: of the whole run's threads, before the rest of their lives was split. */
static void take_rests(const struct range *range, const struct profile_process *whole, const uint64_t *blocked_ns,
                       struct profile_process *part)
{
  if (!range || !part->usable || part->threads_count != whole->threads_count)
    return;
  for (uint32_t i = 0; i < part->threads_count; i++)
    range_take_rest(range, i, &whole->threads[i], blocked_ns[i], &part->threads[i]);
}

/* Adds what the process has in the whole run to the contexts, so that their rows have the same numbers in any part.
 * range: of the part. */
static void add_whole(struct work *work, uint32_t number, const struct range *range, struct contexts *contexts)
{
  assert(number < work->slice->count);
  const char *path = work->slice->paths[number];
  struct problems ignored = {0};
  struct profile_process process = {
      .number = number, .of_whole = true, .path = xstrdup(path), .unfinished = is_unfinished(path)};
  struct read_file *file;
  if (!read_open(path, &ignored, &process, &file)) {
    struct contexts whole;
    contexts_init(&whole);
    uint64_t *blocked_ns = copy_blocked(&process);
    stitch_file(file, &process, &work->profile->catalog, work->slice->baseline, &whole, 1, &ignored);
    take_rests(range, &process, blocked_ns, &work->profile->processes[number]);
    free(blocked_ns);
    memcpy(work->profile->processes[number].unseen_ns, process.unseen_ns, sizeof process.unseen_ns);
    mark_met(&work->profile->catalog, &whole);
    whole.shares_count = whole.constructs_count = whole.locks_count = whole.mpi_count = whole.devices_count =
        0; /* those of the part count */
    contexts_merge(contexts, &whole);
    contexts_release(&whole);
    read_close(file);
  }
  problems_release(&ignored);
  profile_release_process(&process);
}

static void merge_file(struct work *work, uint32_t number, struct contexts *contexts)
{
  assert(number < work->slice->count && !work->profile->processes[number].path);
  struct profile *profile = work->profile;
  struct profile_process *process = &profile->processes[number];
  struct problems *problems = &profile->problems[number];
  struct read_file *file;
  struct range *range = NULL;
  process->number = number;
  process->path = xstrdup(work->slice->paths[number]);
  process->unfinished = is_unfinished(process->path);
  if (read_open(process->path, problems, process, &file))
    return;
  process->usable = true;
  bool runs_here = process->unfinished && still_runs(process->path, process->pid);
  process->copied = process->unfinished && !runs_here && ran_at_snapshot(process);
  process->running = runs_here || process->copied;
  if (runs_here && !work->slice->part)
    take_run_delays(process);
  process->superseded = has_stale_live_file(process->path);
  user_marks_read(file, process, problems);
  if (!work->slice->part) /* when in the run devices were busy is not known */
    device_records_read(file, process);
  if (!work->slice->part || take_part(work->slice->part, file, process, problems, &range))
    stitch_file(file, process, &profile->catalog, work->slice->baseline, contexts, work->each, problems);
  read_close(file);
  if (work->slice->part)
    add_whole(work, number, range, contexts);
  range_close(range);
}

static void merge_job(void *argument, uint32_t job, unsigned worker)
{
  struct work *work = argument;
  if (atomic_load(&work->ended))
    return;
  merge_file(work, work->slice->slice + job * work->slice->slices, &work->partial[worker * work->each]);
  count_done(work);
}

/* A round of the merge in pairs: tree (2 i + 1) step is merged into tree 2 i step. */
struct merge_round {
  struct contexts *partial;
  unsigned step;
};

static void merge_pair(void *argument, uint32_t job, unsigned worker)
{
  struct merge_round *round = argument;
  struct contexts *into = &round->partial[(size_t)job * round->step * 2], *from = into + round->step;
  (void)worker;
  contexts_merge(into, from);
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
  return MAX(used, 1);
}

/* Merges the partial trees into the first one; the pairs of a round are merged in parallel. */
static void merge_pairs(struct contexts *partial, unsigned count)
{
  assert(count);
  struct merge_round round = {.partial = partial};
  for (round.step = 1; round.step < count; round.step *= 2) {
    uint32_t jobs = (count - round.step - 1) / (round.step * 2) + 1;
    workers_run(jobs, jobs, merge_pair, &round);
  }
}

/* A process with its problems, which are sorted together. */
struct process_entry {
  struct profile_process process;
  struct problems problems;
};

/* Files of other slices, and those that cannot be read, lack names. */
static int by_name(const char *a, const char *b)
{
  return strcmp(a ? a : "", b ? b : "");
}

/* The order of processes in all reports; an entry begins with its process. */
ORDER(by_place, struct profile_process,
      COMPARE(y->usable, x->usable)
          ?: by_name(x->host, y->host) ?: COMPARE(x->rank, y->rank) ?: COMPARE(x->start_ns, y->start_ns)
          ?: COMPARE(x->pid, y->pid) ?: by_name(x->path, y->path))

static void sort_processes(struct profile *profile)
{
  assert(!profile->processes_usable);
  struct process_entry *entries = xcalloc(profile->processes_count, sizeof *entries);
  for (uint32_t i = 0; i < profile->processes_count; i++)
    entries[i] = (struct process_entry){.process = profile->processes[i], .problems = profile->problems[i]};
  qsort(entries, profile->processes_count, sizeof *entries, by_place);
  for (uint32_t i = 0; i < profile->processes_count; i++) {
    profile->processes[i] = entries[i].process;
    profile->problems[i] = entries[i].problems;
    profile->processes_usable += entries[i].process.usable;
  }
  free(entries);
}

int merge_slice(const struct merge_slice *slice, struct profile *profile)
{
  assert(slice->slices && slice->slice < slice->slices && slice->threads);
  uint32_t count = slice->count, files = count / slice->slices + (slice->slice < count % slice->slices);
  *profile = (struct profile){.processes = xcalloc(count + 1, sizeof *profile->processes),
                              .processes_count = count,
                              .problems = xcalloc(count + 1, sizeof *profile->problems)};
  catalog_init(&profile->catalog);
  unsigned workers = MIN(slice->threads, MAX(files, 1)), each = slice->threads / workers, trees = workers * each;
  struct contexts *partial = xcalloc(trees, sizeof *partial);
  for (unsigned i = 0; i < trees; i++)
    contexts_init(&partial[i]);
  struct work work = {.slice = slice, .profile = profile, .partial = partial, .each = each, .files = files};
  pthread_mutex_init(&work.lock, NULL);
  workers_run(workers, files, merge_job, &work);
  pthread_mutex_destroy(&work.lock);
  merge_pairs(partial, drop_empty(partial, trees));
  profile->contexts = partial[0];
  for (unsigned i = 1; i < trees; i++)
    contexts_release(&partial[i]);
  free(partial);
  return atomic_load(&work.ended) ? ERR_INPUT : 0;
}

/* What merge_find_run() finds of each file. */
struct lives {
  char *const *paths;
  uint64_t *begin_ns, *end_ns; /* [file]; 0, 0: it cannot be read */
};

static void find_life(void *argument, uint32_t job, unsigned worker)
{
  const struct lives *lives = argument;
  struct problems ignored = {0};
  struct profile_process process = {.unfinished = is_unfinished(lives->paths[job])};
  struct read_file *file;
  (void)worker;
  if (!read_open(lives->paths[job], &ignored, &process, &file)) {
    lives->begin_ns[job] = process.start_ns;
    lives->end_ns[job] = model_sum(process.start_ns, process.wall_ns);
  }
  read_close(file);
  problems_release(&ignored);
  profile_release_process(&process);
}

void merge_find_run(char *const *paths, uint32_t count, unsigned threads, uint64_t *begin_ns, uint64_t *run_ns)
{
  struct lives lives = {.paths = paths,
                        .begin_ns = xcalloc(count, sizeof *lives.begin_ns),
                        .end_ns = xcalloc(count, sizeof *lives.end_ns)};
  uint64_t begin = UINT64_MAX, end = 0;
  workers_run(MIN(threads, count), count, find_life, &lives);
  for (uint32_t i = 0; i < count; i++) {
    if (lives.end_ns[i])
      begin = MIN(begin, lives.begin_ns[i]);
    end = MAX(lives.end_ns[i], end);
  }
  *begin_ns = end ? begin : 0;
  *run_ns = model_difference(end, *begin_ns);
  free(lives.begin_ns);
  free(lives.end_ns);
}

void merge_finish(struct profile *profile)
{
  sort_processes(profile);
  span_merge(profile);
  catalog_distinguish(&profile->catalog);
  construct_merge(profile);
  assert(check_profile(profile) && check_contexts(&profile->contexts));
}

int merge_files(char *const *paths, uint32_t count, unsigned threads, enum profile_baseline baseline,
                bool (*progress)(uint32_t done, uint32_t all), struct profile *profile)
{
  struct merge_slice all = {
      .paths = paths, .count = count, .slices = 1, .threads = threads, .baseline = baseline, .progress = progress};
  int status = merge_slice(&all, profile);
  if (status)
    return status;
  merge_finish(profile);
  span_enter_shares(profile);
  return 0;
}
