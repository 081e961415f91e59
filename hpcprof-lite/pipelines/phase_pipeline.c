#include "hpcprof-lite/pipelines/phase_pipeline.h"

#include "common/order.h"
#include "common/xalloc.h"
#include "hpcprof-lite/model/workers.h"
#include "hpcprof-lite/pipelines/phase_store.h"

#include <assert.h>
#include <stdlib.h>

/* REGIONS_MAX: as many regions, or gaps, of a process take 2 GB.  LEAST_WORK: a thread that is neither the first one
 * nor OpenMP's counts if it worked at least 1/LEAST_WORK of its life: libraries have threads that sleep.  PART_READ:
 * bytes of a part's trace that are read although there is an index: about 2 million events. */
enum { REGIONS_MAX = 64 << 20, LEAST_WORK = 100, PART_READ = 4 << 20 };

enum { TOO_MANY = 1 }; /* what ends a walk: there are more than REGIONS_MAX regions, or gaps */

/* Collects the outermost regions and gaps of a lane. */
struct collecting {
  const uint32_t *outermost; /* [construct] the outermost region around it, or itself; MODEL_NONE */
  uint32_t constructs;
  uint64_t *numbers, position; /* see struct phase_numbers; of the lane */
  struct phases_regions *regions;
  bool open;
};

/* Returns 0 or TOO_MANY; collect() likewise. */
static int collect_gap(struct phases_regions *regions, uint64_t start_ns, uint64_t end_ns)
{
  assert(start_ns < end_ns);
  struct phases_gap *last = regions->gaps_count ? &regions->gaps[regions->gaps_count - 1] : NULL;
  if (last && last->end_ns == start_ns) {
    last->end_ns = end_ns;
    return 0;
  }
  if (regions->gaps_count >= REGIONS_MAX)
    return TOO_MANY;
  *XAPPEND(regions->gaps, regions->gaps_count, regions->gaps_room) =
      (struct phases_gap){.start_ns = start_ns, .end_ns = end_ns};
  return 0;
}

static int collect(void *context, const struct timeline_interval *interval)
{
  assert(interval->category < TIMELINE_CATEGORIES);
  struct collecting *collecting = context;
  struct phases_regions *regions = collecting->regions;
  uint32_t region =
      interval->construct < collecting->constructs ? collecting->outermost[interval->construct] : MODEL_NONE;
  struct phases_region *last = collecting->open ? &regions->regions[regions->count - 1] : NULL;
  if (interval->category == TIMELINE_GAP) /* the region may continue after it */
    return collect_gap(regions, interval->start_ns, interval->end_ns);
  collecting->open = region != MODEL_NONE;
  if (region == MODEL_NONE)
    return 0;
  if (interval->construct == region)
    collecting->numbers[region] = UINT64_C(1) << 63 | collecting->position << 32 | interval->record;
  if (last && last->construct == region && !(interval->begins && interval->construct == region)) {
    last->end_ns = interval->end_ns;
    return 0;
  }
  if (regions->count >= REGIONS_MAX)
    return TOO_MANY;
  *XAPPEND(regions->regions, regions->count, regions->room) =
      (struct phases_region){.start_ns = interval->start_ns, .end_ns = interval->end_ns, .construct = region};
  return 0;
}

/* The phases of a timeline, with the numbers that stand for their constructs and contexts. */
struct finding {
  struct job *job;
  const struct timeline *timeline;
  uint32_t *outermost;
  uint64_t *constructs; /* see struct phase_numbers */
  uint64_t *contexts;   /* likewise */
  bool small;           /* the part of the run that is wanted can be read at once */
};

/* Adds all lanes of a process to the sums of each worker. */
struct adding_lane {
  const struct phases *phases; /* NULL: its thread does not count */
  struct phases_sums *sums;
  struct phases_cursor cursor;
};
struct adding {
  const struct finding *finding;
  struct phases *phases;
  struct phases_sums *sums;  /* [worker] */
  struct adding_lane *lanes; /* [worker] */
  uint32_t first_lane;
};

static int add_interval(void *context, const struct timeline_interval *interval)
{
  struct adding_lane *lane = context;
  if (lane->phases)
    phases_add(lane->phases, &lane->cursor, interval, lane->sums);
  return 0;
}

/* Whether a thread of a process counts. */
static bool counts(const struct finding *finding, uint32_t process, uint32_t position)
{
  assert(process < finding->job->profile.processes_count);
  const struct profile_thread *thread = &finding->job->profile.processes[process].threads[position];
  uint64_t start_ns, end_ns;
  lane_life(&timeline_source_traced(finding->timeline->source, process)->lanes, position, &start_ns, &end_ns);
  if (thread->flags & THREAD_HELPER)
    return false;
  return !position || thread->flags & THREAD_OPENMP ||
         model_sum(thread->work_ns, thread->overhead_ns) >= (end_ns - start_ns) / LEAST_WORK;
}

static bool lane_counts(const struct finding *finding, uint32_t lane)
{
  assert(lane < finding->timeline->lanes_count);
  return counts(finding, finding->timeline->lanes[lane].process, finding->timeline->lanes[lane].thread);
}

ORDER(by_time, uint64_t, COMPARE(*x, *y))

/* The most threads of a process that count and lived at once. */
static uint32_t count_threads(const struct finding *finding, uint32_t number)
{
  assert(number < finding->job->profile.processes_count);
  const struct profile_process *process = &finding->job->profile.processes[number];
  uint64_t *starts = xmalloc(2 * (size_t)process->threads_count * sizeof *starts);
  uint64_t *ends = starts + process->threads_count;
  uint32_t count = 0, ended = 0, most = process->threads_max;
  for (uint32_t i = 0; i < process->threads_count; i++) {
    lane_life(&timeline_source_traced(finding->timeline->source, number)->lanes, i, &starts[count], &ends[count]);
    count += starts[count] < ends[count] && counts(finding, number, i);
  }
  qsort(starts, count, sizeof *starts, by_time);
  qsort(ends, count, sizeof *ends, by_time);
  for (uint32_t i = 0; i < count; i++) {
    while (ends[ended] <= starts[i])
      ended++;
    most = MAX(most, i + 1 - ended);
  }
  free(starts);
  return most;
}

static void finding_init(struct finding *finding, struct job *job, const struct timeline *timeline)
{
  const struct construct_tree *tree = &job->constructs;
  *finding = (struct finding){.job = job,
                              .timeline = timeline,
                              .outermost = xmalloc((size_t)tree->count * sizeof *finding->outermost),
                              .constructs = xcalloc(tree->count, sizeof *finding->constructs),
                              .contexts = xcalloc(job->tree.count, sizeof *finding->contexts)};
  for (uint32_t i = 0; i < tree->count; i++) {
    finding->outermost[i] = i ? finding->outermost[tree->entries[i].parent] : MODEL_NONE;
    if (i && finding->outermost[i] == MODEL_NONE && construct_is_region(tree->entries[i].kind))
      finding->outermost[i] = i;
  }
}

static void finding_release(struct finding *finding)
{
  free(finding->outermost);
  free(finding->constructs);
  free(finding->contexts);
}

static void adding_init(struct adding *adding, const struct finding *finding, uint32_t first_lane,
                        struct phases *phases)
{
  unsigned threads = finding->job->options.threads;
  *adding = (struct adding){.finding = finding,
                            .phases = phases,
                            .sums = xcalloc(threads, sizeof *adding->sums),
                            .lanes = xcalloc(threads, sizeof *adding->lanes),
                            .first_lane = first_lane};
}

static void adding_release(struct adding *adding)
{
  for (unsigned i = 0; i < adding->finding->job->options.threads; i++)
    phases_sums_release(&adding->sums[i]);
  free(adding->sums);
  free(adding->lanes);
}

static void *begin_lane(void *self, uint32_t lane, unsigned worker)
{
  assert(worker < ((struct adding *)self)->finding->job->options.threads);
  struct adding *adding = self;
  adding->lanes[worker] = (struct adding_lane){.phases = lane_counts(adding->finding, lane) ? adding->phases : NULL,
                                               .sums = &adding->sums[worker]};
  return &adding->lanes[worker];
}

static void add_lane(void *argument, uint32_t number, unsigned worker)
{
  struct adding *adding = argument;
  const struct timeline *timeline = adding->finding->timeline;
  uint32_t lane = adding->first_lane + number;
  timeline->each(timeline->source, lane, add_interval, begin_lane(adding, lane, worker));
}

static void adding_finish(struct adding *adding)
{
  const struct job *job = adding->finding->job;
  const struct catalog *catalog = &job->profile.catalog;
  uint64_t period_ns = 0;
  for (uint32_t i = 0; i < catalog->columns_count; i++)
    if (catalog->columns[i].role == COLUMN_WORK)
      period_ns = catalog->columns[i].period;
  phases_finish(adding->phases, adding->sums, job->options.threads, &job->tree, period_ns);
}

/* Adds the lanes of a process, of which the first one is given. */
static void add_lanes(const struct finding *finding, uint32_t first, struct phases *phases)
{
  struct adding adding;
  adding_init(&adding, finding, first, phases);
  uint32_t lanes = timeline_process_end(finding->timeline, first) - first;
  workers_run(finding->job->options.threads, lanes, add_lane, &adding);
  adding_finish(&adding);
  adding_release(&adding);
}

/* The thread that begins the outermost regions: that with the most time in them. */
static uint32_t master_of(const struct profile_process *process)
{
  assert(process->threads || !process->threads_count);
  uint32_t master = 0;
  for (uint32_t i = 0; i < process->threads_count; i++)
    if (process->threads[i].region_ns > process->threads[master].region_ns)
      master = i;
  return master;
}

/* Collects regions and gaps of the thread that begins the outermost regions: those in one of its lanes or, for
 * MODEL_NONE, those of its whole life.  Returns 0 or TOO_MANY. */
static int collect_master(const struct finding *finding, uint32_t process, uint32_t lane,
                          struct phases_regions *regions)
{
  assert(process < finding->job->profile.processes_count);
  struct timeline_source *source = finding->timeline->source;
  uint32_t master = master_of(&finding->job->profile.processes[process]);
  struct collecting collecting = {.outermost = finding->outermost,
                                  .constructs = finding->job->constructs.count,
                                  .numbers = finding->constructs,
                                  .position = master,
                                  .regions = regions};
  uint64_t start_ns, end_ns;
  lane_life(&timeline_source_traced(source, process)->lanes, master, &start_ns, &end_ns);
  int status;
  if (lane == MODEL_NONE)
    status = timeline_source_each(source, process, master, collect, &collecting);
  else
    status = finding->timeline->each(source, lane, collect, &collecting);
  if (!status && regions->count && regions->regions[regions->count - 1].end_ns == end_ns)
    status = collect_gap(regions, end_ns, UINT64_MAX);
  return status;
}

/* Collects the gaps in the wanted part of the process that has those lanes.  Returns the same. */
static int collect_gaps(const struct finding *finding, uint32_t first, struct phases_regions *regions)
{
  assert(first < finding->timeline->lanes_count);
  const struct timeline_lane *lanes = finding->timeline->lanes;
  uint32_t process = lanes[first].process, end = timeline_process_end(finding->timeline, first);
  uint32_t master = master_of(&finding->job->profile.processes[process]);
  struct phases_regions found = {0};
  int status = 0;
  for (uint32_t i = first; i < end && !status; i++)
    if (lanes[i].thread == master)
      status = collect_master(finding, process, i, &found);
  free(found.regions);
  free(regions->gaps);
  regions->gaps = found.gaps;
  regions->gaps_count = found.gaps_count;
  regions->gaps_room = found.gaps_room;
  return status;
}

/* Finds the phases of a process, also outside the wanted part of the run, without their figures.  Returns 0, or
 * TOO_MANY, without phases. */
static int find_phases(const struct finding *finding, uint32_t number, struct phases_regions *regions,
                       struct phases *phases)
{
  const struct profile_process *process = &finding->job->profile.processes[number];
  const struct traced *traced = timeline_source_traced(finding->timeline->source, number);
  if (traced->content != TRACE_READER_STATES)
    return 0;
  uint64_t start_ns = UINT64_MAX, end_ns = 0;
  for (uint32_t i = 0; i < process->threads_count; i++) {
    uint64_t begin_ns, until_ns;
    lane_life(&traced->lanes, i, &begin_ns, &until_ns);
    if (begin_ns < until_ns)
      start_ns = MIN(start_ns, begin_ns);
    end_ns = MAX(end_ns, until_ns);
  }
  if (collect_master(finding, number, MODEL_NONE, regions))
    return TOO_MANY;
  if (start_ns < end_ns)
    phases_find(regions, finding->job->constructs.count, start_ns, end_ns, phases);
  phases->process = number;
  phases->threads = count_threads(finding, number);
  return 0;
}

/* Sets the categories of phases that are cut from the index.  Returns false if it is damaged. */
static bool sum_cut_phases(const struct finding *finding, uint32_t first, struct phases *phases)
{
  struct timeline_source *source = finding->timeline->source;
  uint32_t end = timeline_process_end(finding->timeline, first);
  for (uint32_t i = phases->first; i < phases->end; i++) {
    struct phases_phase *phase = &phases->phases[i];
    for (uint32_t lane = first; lane < end && phase->coverage == PHASES_LENGTH; lane++)
      if (lane_counts(finding, lane) &&
          timeline_source_sum(source, lane, phase->start_ns, phase->end_ns, phase->figures.ns))
        return false;
  }
  return true;
}

/* Takes the phases of a process from its index: if they are cut, with all figures only if a small part is wanted.
 * Returns false if they must be found. */
static bool stored_phases(const struct finding *finding, uint32_t first, struct phases_regions *regions,
                          struct phases *phases)
{
  const struct timeline *timeline = finding->timeline;
  struct job *job = finding->job;
  if (!phase_store_read(timeline->source, timeline->lanes[first].process, &job->tree, phases))
    return false;
  if (!job->options.range.given)
    return true;
  if (finding->small && (!phase_store_regions(timeline->source, timeline->from_ns, timeline->to_ns, regions, phases) ||
                         collect_gaps(finding, first, regions)))
    return false;
  phases->gaps = regions->gaps;
  phases->gaps_count = regions->gaps_count;
  phases_cut(phases, timeline->from_ns, timeline->to_ns, finding->small);
  if (phases->first == phases->end)
    return false;
  if (!finding->small)
    return sum_cut_phases(finding, first, phases);
  add_lanes(finding, first, phases);
  return true;
}

static void report_too_many(struct job *job, uint32_t process)
{
  problems_add(&job->log_problems,
               "%s: more than %d parallel regions, or gaps: its phases are not shown; limit the trace with "
               "'hpcrun-lite --trace-limit'",
               job->profile.processes[process].path, REGIONS_MAX);
  job->time.phases_left_out = true;
}

/* Takes the phases of a process from its index, or finds them. */
static void take_phases(const struct finding *finding, uint32_t first)
{
  assert(first < finding->timeline->lanes_count);
  struct job *job = finding->job;
  const struct timeline *timeline = finding->timeline;
  struct phases *phases = &job->time.phases[job->time.phases_count];
  struct phases_regions *regions = &job->time.regions[job->time.phases_count];
  uint32_t process = timeline->lanes[first].process;
  if (!stored_phases(finding, first, regions, phases)) {
    phases_release(phases);
    regions->count = regions->gaps_count = 0;
    bool found = !find_phases(finding, process, regions, phases);
    if (!found)
      report_too_many(job, process);
    if (found && job->options.range.given)
      phases_cut(phases, timeline->from_ns, timeline->to_ns, true);
    if (found && phases->count)
      add_lanes(finding, first, phases);
  }
  job->time.phases_count += phases->count > 0; /* without states there are none */
}

void phases_of_timeline(struct job *job)
{
  assert(job->report.time.timeline && !job->time.phases);
  const struct timeline *timeline = job->report.time.timeline;
  struct finding finding;
  finding_init(&finding, job, timeline);
  finding.small = job->options.range.given && timeline_source_bytes(timeline->source) <= PART_READ;
  job->time.phases = xcalloc(job->profile.processes_count, sizeof *job->time.phases);
  job->time.regions = xcalloc(job->profile.processes_count, sizeof *job->time.regions);
  for (uint32_t first = 0; first < timeline->lanes_count; first = timeline_process_end(timeline, first))
    if (job->profile.processes[timeline->lanes[first].process].flags & PROCESS_ONLINE)
      take_phases(&finding, first);
  finding_release(&finding);
  job->report.time.phases = job->time.phases;
  job->report.time.phases_count = job->time.phases_count;
}

/* ---- phases in an index ---- */

struct phase_guest {
  struct finding finding;
  struct phases phases;
  struct phases_regions regions;
  struct adding adding;
  struct timeline_index_guest guest;
};

/* Finds a node of some thread for each row of the report. */
static void number_contexts(const struct finding *finding, uint32_t process)
{
  const struct traced *traced = timeline_source_traced(finding->timeline->source, process);
  const struct job *job = finding->job;
  for (uint32_t position = job->profile.processes[process].threads_count; position-- > 0;)
    for (uint32_t node = traced->counts[position]; node-- > 1;) {
      uint32_t row = traced_row(traced, position, node);
      if (row < job->tree.count)
        finding->contexts[row] = UINT64_C(1) << 63 | (uint64_t)position << 32 | node;
    }
}

/* Packs the phases when all lanes were read: the phases, then their regions. */
static uint8_t *pack_phases(void *self, uint32_t part, size_t *size)
{
  struct adding *adding = self;
  const struct finding *finding = adding->finding;
  const struct phase_numbers numbers = {
      .constructs = finding->constructs, .contexts = finding->contexts, .tree = &finding->job->tree};
  uint64_t offset_ns = timeline_source_traced(finding->timeline->source, adding->phases->process)->lanes.offset_ns;
  if (part)
    return phase_store_pack_regions(adding->phases, part - 1, offset_ns, size);
  adding_finish(adding);
  number_contexts(finding, adding->phases->process);
  return phase_store_pack(adding->phases, &numbers, offset_ns, size);
}

struct phase_guest *phase_guest_open(struct job *job, const struct timeline *timeline, uint32_t first_lane)
{
  assert(first_lane < timeline->lanes_count);
  struct phase_guest *guest = xcalloc(1, sizeof *guest);
  guest->phases.process = timeline->lanes[first_lane].process;
  guest->guest = (struct timeline_index_guest){
      .self = &guest->adding, .begin_lane = begin_lane, .visit = add_interval, .end = pack_phases};
  finding_init(&guest->finding, job, timeline);
  adding_init(&guest->adding, &guest->finding, first_lane, &guest->phases);
  return guest;
}

void phase_guest_close(struct phase_guest *guest)
{
  adding_release(&guest->adding);
  free(guest->regions.regions);
  free(guest->regions.gaps);
  phases_release(&guest->phases);
  finding_release(&guest->finding);
  free(guest);
}

void phase_guest_find(struct phase_guest *guest)
{
  uint32_t process = guest->phases.process;
  if (guest->finding.job->profile.processes[process].flags & PROCESS_ONLINE) /* a view of phases reports too many */
    find_phases(&guest->finding, process, &guest->regions, &guest->phases);
}

const struct timeline_index_guest *phase_guest_of_index(const struct phase_guest *guest)
{
  return guest->phases.count ? &guest->guest : NULL;
}
