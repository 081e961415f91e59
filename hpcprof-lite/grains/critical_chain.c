#include "hpcprof-lite/grains/critical_chain.h"

#include "common/order.h"
#include "common/xalloc.h"
#include "hpcprof-lite/grains/tape.h"
#include "hpcprof-lite/replay/replay.h"

#include <assert.h>
#include <stdlib.h>

/* The first pass, which follows the log. */
struct recording {
  struct tape tape;
  const struct task_graph *graph; /* of the replay */
  uint64_t begin_ticks;           /* of the last fragment on the tape */
  uint32_t end;                   /* clock: the end of the program */
};

/* ---- the first pass ---- */

/* Whether raising a clock to another one changes it. */
static bool raises(const struct recording *recording, uint32_t clock, uint32_t other)
{
  assert(clock && other);
  const struct vector_clocks *clocks = &recording->graph->clocks;
  return vector_clock_at(clocks, other)->element[0].time > vector_clock_at(clocks, clock)->element[0].time;
}

static void clock_changed(void *context, enum vector_clock_change change, uint32_t clock, uint32_t other)
{
  struct recording *recording = context;
  if (change == VECTOR_CLOCK_FREE)
    TAPE_PUT(&recording->tape, TAPE_FREE, clock);
  else if (change == VECTOR_CLOCK_SET || raises(recording, clock, other))
    TAPE_PUT(&recording->tape, TAPE_SET, clock, other);
}

/* Keeps a fragment, unless the replay leaves it out. */
static void keep_fragment(void *context, const struct graph_event *event)
{
  struct recording *recording = context;
  const struct log_reader_record *next = event->next;
  uint64_t ticks = next->end_ticks - next->begin_ticks;
  if (!event->counts || !event->work)
    return;
  TAPE_PUT(&recording->tape, TAPE_FRAGMENT, task_graph_task(recording->graph, event->running)->now, next->thread,
           tape_zigzag(next->begin_ticks - recording->begin_ticks), ticks, tape_zigzag(event->work - ticks));
  recording->begin_ticks = next->begin_ticks;
}

static void begin(void *context, const struct task_graph *graph)
{
  ((struct recording *)context)->graph = graph;
}

static int end(void *context)
{
  struct recording *recording = context;
  recording->end = recording->graph->program_end;
  return tape_end(&recording->tape);
}

/* Sets *whole to whether the log is complete and consistent. */
static int record(struct recording *recording, const struct profile_process *process, struct log_reader *log,
                  bool *whole)
{
  struct graph_sink sink = {.clocks = {clock_changed, recording}, .begin = begin, .after = keep_fragment, .end = end};
  struct replay_request request = {.directives = process->workspan.directives_count, .sink = &sink};
  struct replay_result result;
  int status = replay_log(&request, log, &result);
  *whole = !status && !result.lost.invalid && !result.lost.tasks && !result.lost.joins && !log_reader_forced(log) &&
           !log_reader_damaged(log);
  replay_result_release(&result);
  return status;
}

/* ---- backwards ---- */

/* Extends an interval to one before it, if that is of the same thread and near enough. */
static bool join(struct critical_interval *interval, const struct critical_interval *before, uint64_t gap_ticks)
{
  assert(interval->begin_ticks >= before->end_ticks && before->begin_ticks <= before->end_ticks);
  if (interval->thread != before->thread || interval->begin_ticks - before->end_ticks > gap_ticks)
    return false;
  interval->begin_ticks = before->begin_ticks;
  interval->work += before->work;
  return true;
}

/* Joins intervals, with longer and longer gaps, until half of them are left or no gap is too long.  They are in
 * backward order. */
static void join_all(struct critical_chain *chain)
{
  assert(chain->count);
  enum { FIRST_GAP = 256 };
  size_t most = chain->count / 2;
  while (chain->count > most && chain->gap_ticks < UINT64_MAX / 2) {
    size_t kept = 0;
    chain->gap_ticks = chain->gap_ticks ? 2 * chain->gap_ticks : FIRST_GAP;
    for (size_t i = 1; i < chain->count; i++)
      if (!join(&chain->intervals[kept], &chain->intervals[i], chain->gap_ticks))
        chain->intervals[++kept] = chain->intervals[i];
    chain->count = kept + 1;
  }
}

/* Adds what is before all that the chain has. */
static void add_before(struct critical_chain *chain, struct critical_interval before, size_t *most)
{
  assert(*most >= CRITICAL_CHAIN_MAX && chain->count <= *most);
  struct critical_interval *next = chain->count ? &chain->intervals[chain->count - 1] : NULL;
  if (next)
    before.end_ticks = MIN(before.end_ticks, next->begin_ticks);
  before.begin_ticks = MIN(before.begin_ticks, before.end_ticks);
  if (next && join(next, &before, chain->gap_ticks))
    return;
  if (chain->count == *most) {
    join_all(chain);
    *most = MAX(2 * chain->count, CRITICAL_CHAIN_MAX);
  }
  *XAPPEND(chain->intervals, chain->count, chain->room) = before;
}

/* Follows the chain from the clock of its end to its beginning. */
static int follow(struct recording *recording, struct critical_chain *chain)
{
  struct tape_record record;
  uint64_t clock = recording->end, begin_ticks = recording->begin_ticks;
  size_t most = CRITICAL_CHAIN_MAX;
  while (clock && tape_back(&recording->tape, &record)) {
    const uint64_t *operand = record.operand;
    if (record.op == TAPE_FRAGMENT) {
      struct critical_interval interval = {.thread = (uint32_t)operand[1],
                                           .begin_ticks = begin_ticks,
                                           .end_ticks = begin_ticks + operand[3],
                                           .work = operand[3] + tape_unzigzag(operand[4])};
      begin_ticks -= tape_unzigzag(operand[2]);
      if (operand[0] == clock)
        add_before(chain, interval, &most);
    } else if (operand[0] == clock) {
      clock = record.op == TAPE_SET ? operand[1] : 0; /* what a clock was before it was freed is another one */
    }
  }
  return tape_failed(&recording->tape);
}

static void reverse(struct critical_chain *chain)
{
  for (size_t i = 0, j = chain->count; i + 1 < j; i++) {
    struct critical_interval swapped = chain->intervals[i];
    chain->intervals[i] = chain->intervals[--j];
    chain->intervals[j] = swapped;
  }
}

int critical_chain_find(const struct profile_process *process, struct problems *problems, struct critical_chain *chain)
{
  struct recording recording = {0};
  bool whole = false;
  *chain = (struct critical_chain){0};
  struct log_reader *log = log_reader_open(process->path, problems);
  if (!log)
    return 0;
  log_reader_limit(log, process);
  tape_init(&recording.tape, problems);
  int status = record(&recording, process, log, &whole);
  if (whole)
    status = follow(&recording, chain);
  chain->known = !status && whole;
  if (!status && !whole && !process->unfinished)
    problems_add(problems, "%s: the graph log is incomplete or contradicts itself: its critical path is not shown",
                 process->path);
  reverse(chain);
  tape_release(&recording.tape);
  log_reader_close(log);
  return status;
}

void critical_chain_release(struct critical_chain *chain)
{
  free(chain->intervals);
  *chain = (struct critical_chain){0};
}
