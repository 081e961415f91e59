#include "hpcprof-lite/report/timeline/timeline_rows.h"

#include "common/order.h"
#include "common/xalloc.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *const timeline_line_names[] = {
    [TIMELINE_THREADS] = "thread", [TIMELINE_PROCESSES] = "process", [TIMELINE_NODES] = "node"};

/* Whether another process has the same rank, such as one that it has started.  Processes of a rank follow one another.
 */
static bool shares_rank(const struct profile *profile, uint32_t number)
{
  assert(number < profile->processes_usable);
  const struct profile_process *process = &profile->processes[number];
  uint32_t first = number ? number - 1 : 0;
  for (uint32_t i = first; i <= number + 1 && i < profile->processes_usable; i++) {
    const struct profile_process *other = &profile->processes[i];
    if (i != number && other->rank == process->rank && !strcmp(other->host, process->host))
      return true;
  }
  return false;
}

void timeline_rows_process(const struct profile *profile, uint32_t number, char name[TIMELINE_PROCESS_MAX])
{
  const struct profile_process *process = &profile->processes[number];
  if (process->rank >= 0 && shares_rank(profile, number))
    snprintf(name, TIMELINE_PROCESS_MAX, "%" PRId32 "/%" PRIu32, process->rank, process->pid);
  else
    snprintf(name, TIMELINE_PROCESS_MAX, "%" PRId64, process->rank >= 0 ? process->rank : (int64_t)process->pid);
}

/* Whether lanes of several processes are shown. */
static bool several_processes(const struct report *report)
{
  const struct timeline *timeline = report->time.timeline;
  return timeline->lanes_count && timeline->lanes[0].process != timeline->lanes[timeline->lanes_count - 1].process;
}

void timeline_rows_device(const struct report *report, uint32_t process, uint32_t device, const char *mark,
                          char label[TIMELINE_LABEL_MAX])
{
  char number[TIMELINE_PROCESS_MAX] = "";
  bool several = several_processes(report);
  if (several)
    timeline_rows_process(report->profile, process, number);
  snprintf(label, TIMELINE_LABEL_MAX, "%s%sd%" PRIu32 "%s", number, several ? "." : "", device - 1, mark);
}

/* The longest label that a device can have; 0: there is none. */
static unsigned device_width(const struct report *report)
{
  const struct profile_workspan *workspan = &report->profile->workspan;
  uint32_t most = 0;
  unsigned widest = 0;
  for (uint32_t i = 0; i < workspan->directives_count; i++)
    if (workspan->directives[i].device != DEVICE_NONE)
      most = MAX(most, workspan->directives[i].device);
  for (uint32_t i = 0; most && i < report->time.timeline->lanes_count; i++) {
    char label[TIMELINE_LABEL_MAX];
    timeline_rows_device(report, report->time.timeline->lanes[i].process, most,
                         report->time.timeline->devices_recorded ? ">" : "", label);
    widest = MAX((unsigned)strlen(label), widest);
  }
  return widest;
}

/* "3" of a thread; "7.3" with several processes, by rank or process id, or "2/7.3" by both; "7" of a process, and the
 * name of a node. */
static void write_label(const struct report *report, uint32_t lane, char label[TIMELINE_LABEL_MAX])
{
  const struct profile_process *process = report_lane_process(report, lane);
  uint32_t index = process->threads[report->time.timeline->lanes[lane].thread].index;
  char number[TIMELINE_PROCESS_MAX];
  timeline_rows_process(report->profile, report->time.timeline->lanes[lane].process, number);
  if (report->time.lanes == TIMELINE_NODES)
    snprintf(label, TIMELINE_LABEL_MAX, "%.20s", process->host);
  else if (report->time.lanes == TIMELINE_PROCESSES)
    snprintf(label, TIMELINE_LABEL_MAX, "%s", number);
  else if (several_processes(report))
    snprintf(label, TIMELINE_LABEL_MAX, "%s.%" PRIu32, number, index);
  else
    snprintf(label, TIMELINE_LABEL_MAX, "%" PRIu32, index);
}

uint32_t timeline_rows_columns(const struct report *report, unsigned width)
{
  unsigned widest = device_width(report);
  for (uint32_t i = 0; i < report->time.timeline->lanes_count; i++) {
    char label[TIMELINE_LABEL_MAX];
    write_label(report, i, label);
    widest = MAX((unsigned)strlen(label), widest);
  }
  return width > widest + 1 + 8 ? width - widest - 1 : 8;
}

/* Returns the row that a lane shares with lanes before it; MODEL_NONE: it gets a row of its own. */
static uint32_t row_of(const struct report *report, const struct timeline_rows *rows, uint32_t lane)
{
  for (uint32_t i = rows->count; i-- > 0 && report->time.lanes != TIMELINE_THREADS;) {
    const struct profile_process *process = report_lane_process(report, lane),
                                 *other = report_lane_process(report, rows->rows[i].lane);
    if (process == other || (report->time.lanes == TIMELINE_NODES && !strcmp(process->host, other->host)))
      return i;
    if (report->time.lanes == TIMELINE_PROCESSES)
      break; /* lanes of a process follow each other */
  }
  return MODEL_NONE;
}

void timeline_rows_join(struct timeline_cell *into, const struct timeline_cell *from, uint32_t columns)
{
  for (uint32_t i = 0; i < columns; i++) {
    for (unsigned c = 0; c < TIMELINE_CATEGORIES; c++)
      model_add(&into[i].ns[c], from[i].ns[c]);
    model_add(&into[i].critical_ns, from[i].critical_ns);
  }
}

void timeline_rows_read(const struct report *report, uint32_t columns, struct timeline_rows *rows)
{
  assert(columns);
  const struct timeline *timeline = report->time.timeline;
  uint32_t lanes = timeline->lanes_count;
  *rows = (struct timeline_rows){.report = report,
                                 .from_ns = UINT64_MAX,
                                 .columns = columns,
                                 .label_width = device_width(report),
                                 .rows = xcalloc(lanes, sizeof *rows->rows),
                                 .cells = xcalloc((size_t)lanes * columns, sizeof *rows->cells),
                                 .times = xcalloc(lanes, sizeof *rows->times),
                                 .lane_times = xcalloc(lanes, sizeof *rows->lane_times)};
  for (uint32_t i = 0; i < lanes; i++) {
    rows->from_ns = MIN(timeline->lanes[i].start_ns, rows->from_ns);
    rows->to_ns = MAX(timeline->lanes[i].end_ns, rows->to_ns);
  }
  if (lanes)
    timeline->cells(timeline->source, rows->from_ns, rows->to_ns, columns, rows->cells);
  for (uint32_t i = 0; i < lanes; i++) {
    uint32_t number = row_of(report, rows, i);
    struct timeline_cell *cells = rows->cells + (size_t)i * columns;
    state_times_add(&rows->lane_times[i], cells, columns);
    state_times_join(&rows->times[number != MODEL_NONE ? number : rows->count], &rows->lane_times[i]);
    if (number != MODEL_NONE) {
      timeline_rows_join(rows->rows[number].cells, cells, columns);
      rows->rows[number].lanes++;
      rows->rows[number].critical_known &= timeline->lanes[i].critical_known;
      continue;
    }
    struct timeline_row *row = &rows->rows[rows->count++];
    *row = (struct timeline_row){
        .lane = i, .lanes = 1, .critical_known = timeline->lanes[i].critical_known, .cells = cells};
    write_label(report, i, row->label);
    rows->label_width = MAX((unsigned)strlen(row->label), rows->label_width);
  }
}

void timeline_rows_release(struct timeline_rows *rows)
{
  free(rows->rows);
  free(rows->cells);
  free(rows->times);
  free(rows->lane_times);
  *rows = (struct timeline_rows){0};
}
