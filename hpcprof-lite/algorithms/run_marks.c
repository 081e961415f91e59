#include "hpcprof-lite/algorithms/run_marks.h"

#include "common/order.h"
#include "common/xalloc.h"

#include <assert.h>
#include <stdlib.h>

/* Marks of one moment stand in the order in which their names were met. */
ORDER(by_start, struct run_mark,
      COMPARE(x->start_ns, y->start_ns) ?: COMPARE(x->process, y->process) ?: COMPARE(x->end_ns, y->end_ns)
                                        ?: COMPARE(x->name, y->name))

/* Adds the marks of a process that lie in the range. */
static void add_process(const struct profile *profile, uint32_t number, uint64_t offset_ns, uint64_t from_ns,
                        uint64_t to_ns, struct run_marks *into)
{
  assert(number < profile->processes_count && from_ns <= to_ns);
  const struct profile_process *process = &profile->processes[number];
  const struct profile_marks *marks = &process->marks;
  for (uint32_t i = 0; i < marks->marks_count; i++) {
    const struct profile_mark *mark = &marks->marks[i];
    uint64_t start_ns = model_sum(offset_ns, profile_corrected_ns(process, mark->at_ns)), end_ns = start_ns;
    if (mark->user_phase)
      end_ns = model_sum(offset_ns, profile_corrected_ns(process, profile_user_phase_end(process, i)));
    bool ends_before = mark->user_phase && end_ns > start_ns ? end_ns <= from_ns : start_ns < from_ns;
    if ((mark->user_phase && !mark->name) || ends_before || start_ns >= to_ns)
      continue;
    into->marks[into->count++] = (struct run_mark){.start_ns = MAX(start_ns, from_ns),
                                                   .end_ns = MIN(end_ns, to_ns),
                                                   .process = number,
                                                   .thread = mark->thread,
                                                   .name = marks->text + mark->name,
                                                   .user_phase = mark->user_phase};
    into->user_phases += mark->user_phase;
  }
}

/* Sorts the positions of marks by process, by counting. */
static void sort_by_process(struct run_marks *marks, uint32_t processes)
{
  for (uint32_t i = 0; i < marks->count; i++)
    marks->begins[marks->marks[i].process + 1]++;
  for (uint32_t i = 0; i < processes; i++)
    marks->begins[i + 1] += marks->begins[i];
  for (uint32_t i = 0; i < marks->count; i++) /* each ends where the next one begins: one too far */
    marks->by_process[marks->begins[marks->marks[i].process]++] = i;
  for (uint32_t i = processes; i > 0; i--)
    marks->begins[i] = marks->begins[i - 1];
  marks->begins[0] = 0;
}

const uint32_t *run_marks_of(const struct run_marks *marks, uint32_t process, uint32_t *count)
{
  assert(!marks || marks->begins[process] <= marks->begins[process + 1]);
  *count = marks ? marks->begins[process + 1] - marks->begins[process] : 0;
  return marks ? marks->by_process + marks->begins[process] : NULL;
}

void run_marks_read(const struct profile *profile, uint64_t from_ns, uint64_t to_ns, struct run_marks *marks)
{
  uint64_t begin_ns = UINT64_MAX;
  size_t all = 0;
  *marks = (struct run_marks){0};
  for (uint32_t i = 0; i < profile->processes_usable; i++) {
    const struct profile_process *process = &profile->processes[i];
    begin_ns = MIN(process->start_ns, begin_ns);
    all += process->marks.marks_count;
  }
  marks->marks = xcalloc(all, sizeof *marks->marks);
  marks->by_process = xcalloc(all, sizeof *marks->by_process);
  marks->begins = xcalloc((size_t)profile->processes_count + 1, sizeof *marks->begins);
  for (uint32_t i = 0; i < profile->processes_usable; i++)
    add_process(profile, i, profile->processes[i].start_ns - begin_ns, from_ns, to_ns, marks);
  qsort(marks->marks, marks->count, sizeof *marks->marks, by_start);
  sort_by_process(marks, profile->processes_count);
}

void run_marks_release(struct run_marks *marks)
{
  free(marks->marks);
  free(marks->by_process);
  free(marks->begins);
  *marks = (struct run_marks){0};
}

/* The user phases of a process, along one of its lanes: they follow each other. */
struct passing {
  struct run_mark **phases;
  uint32_t count, next;
};

static int add_interval(void *context, const struct timeline_interval *interval)
{
  assert(interval->category < TIMELINE_CATEGORIES && interval->start_ns < interval->end_ns);
  struct passing *passing = context;
  while (passing->next < passing->count && passing->phases[passing->next]->end_ns <= interval->start_ns)
    passing->next++;
  for (uint32_t i = passing->next; i < passing->count && passing->phases[i]->start_ns < interval->end_ns; i++) {
    struct run_mark *phase = passing->phases[i];
    uint64_t from = MAX(phase->start_ns, interval->start_ns);
    uint64_t to = MIN(phase->end_ns, interval->end_ns);
    if (from < to)
      model_add(&phase->ns[interval->category], to - from);
  }
  return 0;
}

void run_marks_time(struct run_marks *marks, const struct timeline *timeline)
{
  assert(timeline->each);
  struct passing passing = {.phases = xcalloc(marks->count, sizeof *passing.phases)};
  for (uint32_t lane = 0; lane < timeline->lanes_count; lane++) {
    uint32_t count;
    const uint32_t *of = run_marks_of(marks, timeline->lanes[lane].process, &count);
    passing.count = passing.next = 0;
    for (uint32_t i = 0; i < count; i++)
      if (marks->marks[of[i]].user_phase) {
        marks->marks[of[i]].timed = true;
        passing.phases[passing.count++] = &marks->marks[of[i]];
      }
    if (passing.count)
      timeline->each(timeline->source, lane, add_interval, &passing);
  }
  free(passing.phases);
}
