#include "hpcprof-lite/analysis/advice/advice_mpi.h"

#include "common/words.h"
#include "common/xalloc.h"
#include "hpcprof-lite/analysis/advice/advice_system.h"
#include "hpcprof-lite/model/names.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Messages are small up to SMALL bytes, and many from MANY calls on. */
enum { SMALL = 1024, MANY = 1000 };

/* ---- rows of calls ---- */

/* Whether a row is a function of MPI, and whether a program calls it for its communication: others begin or end MPI, or
 * are threads of MPI. */
static bool is_mpi(const struct advice_run *run, const struct tree_row *row, bool *communicates)
{
  static const char *const libraries[] = {"libmpi", "libopen-pal.", "libopen-rte.", "libpmix."};
  const struct catalog *catalog = &run->input->profile->catalog;
  if (row->kind != ROW_FUNCTION && row->kind != ROW_MPI)
    return false;
  const char *name = tree_unmarked_name(row);
  const char *module = row->module < catalog->modules_count ? names_base(catalog->modules[row->module].path) : "";
  bool called =
      row->kind == ROW_MPI || !strncmp(name, "MPI_", 4) || !strncmp(name, "PMPI_", 5) || !strncmp(module, "libmpi", 6);
  bool is = called;
  *communicates = called && !strcasestr(name, "_init") && !strcasestr(name, "_finalize");
  for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
    is = is || !strncmp(module, libraries[i], strlen(libraries[i]));
  return is;
}

/* Time in calls of MPI outside regions. */
struct mpi_sums {
  uint64_t ns, most_ns; /* without those that begin and end MPI; of one row */
  uint32_t row;         /* with most of it */
};

/* Sums up the calls, and takes them from serial code. */
static void sum_mpi(struct advice_run *run, struct mpi_sums *sums)
{
  const struct tree *tree = run->input->tree;
  const struct tree_columns *columns = run->input->columns;
  uint32_t *around = xcalloc(tree->count, sizeof *around);
  advice_find_around(tree, around);
  for (uint32_t i = 1; i < tree->count; i++) { /* a parent has a smaller number */
    bool communicates = false;
    uint32_t parent = tree->rows[i].parent;
    bool inside = parent != MODEL_NONE && run->mpi[parent];
    if (!inside && (around[i] || !is_mpi(run, &tree->rows[i], &communicates)))
      continue;
    run->mpi[i] = true;
    run->taken[i] = 1;
    if (!communicates)
      continue;
    uint64_t ns = model_sum(tree_incl(tree, i, columns->work), tree_incl(tree, i, columns->blocked));
    model_add(&ns, tree_incl(tree, i, columns->mpi));
    model_add(&sums->ns, ns);
    sums->row = ns > sums->most_ns ? i : sums->row;
    sums->most_ns = MAX(sums->most_ns, ns);
  }
  free(around);
}

/* ---- ranks ---- */

/* The work of a process in a parallel region, divided among its threads; 0 if it is not known. */
static double region_work_s(const struct profile_process *process, const struct advice_region *region)
{
  const struct profile_workspan *workspan = &process->workspan;
  uint64_t work_ns = 0;
  if (!workspan->known || !workspan->is_time || !process->directive_map)
    return 0;
  for (uint32_t j = 1; j < workspan->directives_count; j++)
    if (process->directive_map[j] == region->at->directive)
      model_add(&work_ns, workspan->directives[j].work);
  return advice_seconds(work_ns) / fmax(process->threads_max, 1);
}

/* The region in which a rank has most work beyond the mean of all ranks, and how much; NULL if it is not known. */
static const struct advice_region *region_of_excess(const struct advice_run *run, uint32_t process, double *excess_s)
{
  const struct profile *profile = run->input->profile;
  const struct advice_region *most = NULL;
  *excess_s = 0;
  assert(process < profile->processes_count);
  for (uint32_t i = 0; i < run->count; i++) {
    double mean_s = 0, ranks = 0;
    for (uint32_t j = 0; j < profile->processes_usable; j++)
      if (profile->processes[j].rank >= 0)
        mean_s += (region_work_s(&profile->processes[j], &run->regions[i]) - mean_s) / ++ranks;
    double own_s = region_work_s(&profile->processes[process], &run->regions[i]) - mean_s;
    if (own_s <= *excess_s)
      continue;
    *excess_s = own_s;
    most = &run->regions[i];
  }
  return most;
}

static void place_call(const struct advice_run *run, const struct advice_call *call, struct advice_finding *found)
{
  found->name = call->function;
  found->file = call->file;
  found->line = call->line;
  found->context = call->row < run->input->tree->count ? run->input->tree->rows[call->row].id : MODEL_NONE;
}

/* The call in which ranks spend most time, of those that a program makes for its communication; NULL if there is
 * none. */
static const struct advice_call *longest_call(const struct advice_mpi *mpi)
{
  for (uint32_t i = 0; i < mpi->calls_count; i++)
    if (!mpi->calls[i].begins_or_ends)
      return &mpi->calls[i];
  return NULL;
}

static void __attribute__((format(printf, 2, 3))) add_evidence(struct advice_finding *found, const char *format, ...)
{
  size_t length = strlen(found->evidence);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(found->evidence + length, sizeof found->evidence - length, format, arguments);
  va_end(arguments);
}

/* One rank is outside MPI longer than the others.  If all were equally long, the run would be shorter by the difference
 * of the longest and the mean, as far as the rank that is outside MPI shortest is in MPI at all. */
static void find_late_rank(struct advice_run *run)
{
  static const struct advice_remedy equal = {
      "Divide the work equally among the ranks: another partition of the data, or more threads for ranks with more "
      "work.",
      "Divide the work equally among the ranks", NULL};
  const struct advice_mpi *mpi = &run->input->mpi;
  double gain_s = fmin(mpi->longest_s - mpi->mean_s, mpi->shortest_mpi_s), excess_s;
  const struct advice_call *call = longest_call(mpi);
  struct advice_finding *found = advice_add(
      run->advice, ADVICE_MPI, gain_s,
      "Rank %" PRIu32 " is outside MPI for %.3f s (without the time without a core), %.1f times the mean of "
      "%" PRIu32 " ranks (%.3f s); rank %" PRIu32 " is outside for %.3f s, and in calls that communicate for %.3f s",
      mpi->longest, mpi->longest_s, mpi->longest_s / mpi->mean_s, mpi->ranks, mpi->mean_s, mpi->shortest,
      mpi->shortest_s, mpi->shortest_mpi_s);
  found->title =
      call ? "ranks with unequal times outside MPI, longest communication" : "ranks with unequal times outside MPI";
  found->low_s = gain_s / 2;
  found->remedy = &equal;
  found->confidence = "medium";
  found->reason = "these figures do not say which rank waited for which; with -p log, the view wait-states does";
  if (call)
    place_call(run, call, found);
  const struct advice_region *region = region_of_excess(run, mpi->longest_process, &excess_s);
  if (region && excess_s > gain_s / 2)
    add_evidence(found, "; of that rank's work beyond the mean, %.3f s are in the region at %.80s:%" PRIu32, excess_s,
                 names_base(region->at->file), region->at->line);
}

/* What the rank that is outside MPI longest spends in MPI would be spent if all were outside equally long.  Threads
 * that have no work meanwhile could do part of the computation, if communication ran beside it. */
static void find_communication(struct advice_run *run)
{
  static const struct advice_remedy overlap = {
      "Let threads compute while one communicates: non-blocking calls (MPI_Isend, MPI_Irecv, MPI_Iallreduce) with the "
      "wait after work that does not need the data, communication in a task beside the tasks that compute.",
      "Non-blocking calls beside work; communication in a task of its own", NULL};
  static const struct advice_remedy overlap_alone = {
      "Compute while messages travel: non-blocking calls (MPI_Isend, MPI_Irecv, MPI_Ibarrier) with the wait after work "
      "that does not need the data.",
      "Non-blocking calls, with the wait after work that does not need the data", NULL};
  const struct advice_mpi *mpi = &run->input->mpi;
  struct advice_finding *found = advice_add(
      run->advice, ADVICE_MPI, mpi->longest_mpi_s / 2,
      "Rank %" PRIu32 ", which is outside MPI longest, is in calls of MPI outside parallel regions for %.3f s, %" PRIu64
      " calls, without those that begin or end MPI",
      mpi->longest, mpi->longest_mpi_s, mpi->longest_calls);
  bool alone = mpi->longest_threads <= 1;
  found->title = alone ? "communication without overlap" : "threads without work during communication";
  found->remedy = alone ? &overlap_alone : &overlap;
  found->low_s = 0;
  found->high_s = fmin(mpi->longest_mpi_s, run->advice->elapsed_s);
  found->explained_s = mpi->longest_mpi_s;
  found->reason = "how much can run beside computation is not known";
  if (!alone)
    add_evidence(found, ", while %" PRIu32 " thread%s of it wait%s", mpi->longest_threads - 1,
                 mpi->longest_threads > 2 ? "s" : "", mpi->longest_threads > 2 ? "" : "s");
  if (mpi->longest_call < mpi->calls_count)
    place_call(run, &mpi->calls[mpi->longest_call], found);
}

/* Many small messages of one line: each has a cost that does not depend on its size. */
static void find_small_messages(struct advice_run *run, const struct advice_call *call)
{
  static const struct advice_remedy larger = {
      "Send fewer, larger messages: collect what goes to one rank, derived data types, or a collective.",
      "Send fewer, larger messages: collect what goes to one rank", NULL};
  char symbol[WORDS_SYMBOL];
  double elapsed_s = call->s * advice_per_process(run);
  struct advice_finding *found = advice_add(
      run->advice, ADVICE_MPI, elapsed_s / 2,
      "%" PRIu64 " messages of %.0f bytes on average, sent by %s in %s; these calls take %.3f s in "
      "all ranks together, %.2f us each",
      call->calls, call->mean_bytes, call->function, *call->caller ? words_symbol(call->caller, symbol) : "other code",
      call->s, 1e6 * call->s / (double)call->calls);
  found->title = "many small messages";
  found->remedy = &larger;
  found->low_s = 0;
  found->high_s = fmin(elapsed_s, run->advice->elapsed_s);
  found->reason = "a send can also wait for its receiver";
  place_call(run, call, found);
}

/* ---- calls that were not recorded, or of one rank ---- */

/* The work of ranks in regions, divided among their threads. */
struct rank_works {
  uint32_t ranks, most, least;
  double most_s, least_s, mean_s;
};

static void compare_ranks(const struct advice_run *run, struct rank_works *works)
{
  const struct profile *profile = run->input->profile;
  for (uint32_t i = 0; i < profile->processes_usable; i++) {
    double work_s = 0;
    for (uint32_t j = 0; j < run->count; j++)
      work_s += region_work_s(&profile->processes[i], &run->regions[j]);
    if (profile->processes[i].rank < 0 || work_s <= 0)
      continue;
    if (!works->ranks || work_s > works->most_s) {
      works->most = (uint32_t)profile->processes[i].rank;
      works->most_s = work_s;
    }
    if (!works->ranks || work_s < works->least_s) {
      works->least = (uint32_t)profile->processes[i].rank;
      works->least_s = work_s;
    }
    works->mean_s += (work_s - works->mean_s) / ++works->ranks;
  }
}

/* With ranks, the waiting that their regions explain is what equal work would save; the rest is communication. */
static void find_unrecorded(struct advice_run *run, const struct mpi_sums *sums)
{
  struct rank_works works = {0};
  compare_ranks(run, &works);
  double mean_s = advice_seconds(sums->ns) * advice_per_process(run);
  double gain_s = works.ranks > 1 ? fmin(mean_s, works.most_s - works.mean_s) : mean_s / 2;
  struct advice_finding *found =
      advice_add(run->advice, ADVICE_MPI, gain_s, "Time in MPI calls outside regions: %.3f s%s",
                 advice_seconds(sums->ns), run->input->profile->processes_usable > 1 ? " of all ranks" : "");
  if (works.ranks > 1 && works.least_s > 0)
    add_evidence(found, "; in parallel regions, rank %" PRIu32 " has %.1f times the work of rank %" PRIu32, works.most,
                 works.most_s / works.least_s, works.least);
  else
    add_evidence(found, "; another rank may be late");
  advice_place_row(run, sums->row, found);
  found->high_s = fmin(run->advice->elapsed_s, fmax(found->gain_s, mean_s));
  found->reason = "what a rank waits for in MPI is not recorded";
}

void advice_mpi_find(struct advice_run *run)
{
  const struct advice_mpi *mpi = &run->input->mpi;
  struct mpi_sums sums = {0};
  if (run->input->columns->work == MODEL_NONE)
    return;
  sum_mpi(run, &sums);
  if (!mpi->ranks && sums.ns)
    find_unrecorded(run, &sums);
  if (!mpi->ranks)
    return;
  find_late_rank(run);
  find_communication(run);
  for (uint32_t i = 0; i < mpi->calls_count; i++)
    if (mpi->calls[i].sends && mpi->calls[i].bytes_known && mpi->calls[i].calls >= MANY &&
        mpi->calls[i].mean_bytes <= SMALL)
      find_small_messages(run, &mpi->calls[i]);
}
