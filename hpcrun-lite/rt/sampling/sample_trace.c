#include "hpcrun-lite/rt/sampling/sample_trace.h"

#include "hpcrun-lite/rt/construct/trace.h"
#include "hpcrun-lite/rt/sampling/times.h"

enum {
  WEIGHT_PART = 2,    /* weights are written where their sum is off by this part of a period */
  TOOL_PART = 16,     /* time in the tool is written where it is more than this part of one */
  DELAY_PART = 32,    /* the kernel is asked for more than this part of a sample */
  ASK_TICKS = 1 << 21 /* and a file is opened no more often: about a millisecond */
};

static void keep_switches(struct sample_trace *trace, const struct sys_usage *usage)
{
  trace->given_up = usage->given_up;
  trace->switched_out = usage->switched_out;
}

/* How much of that time, in which the thread did not run, it waited for a processor: all of it if the thread never gave
 * up its processor; otherwise a file of the kernel shows it. */
static uint64_t delay_within(struct thread_state *t, uint64_t now, uint64_t ns)
{
  struct sample_trace *trace = &sampling_of(t)->sample_trace;
  struct sys_usage usage;
  bool known = sys_usage(&usage);
  if (known && usage.given_up == trace->given_up) {
    bool waited = usage.switched_out != trace->switched_out;
    trace->switched_out = usage.switched_out;
    return waited ? ns : 0;
  }
  if (now - trace->asked_at < ASK_TICKS)
    return 0;
  trace->asked_at = now;
  if (known)
    keep_switches(trace, &usage);
  uint64_t all = times_run_delay_ns(t), delay = all > trace->delay_ns ? all - trace->delay_ns : 0;
  return delay < ns ? delay : ns; /* a later sample states the rest */
}

/* Measuring was paused since the last sample: what the thread waited until now is in no sample. */
static void forget_delay(struct thread_state *t, uint64_t now)
{
  struct sample_trace *trace = &sampling_of(t)->sample_trace;
  struct sys_usage usage;
  if (now - trace->asked_at < ASK_TICKS)
    return;
  trace->asked_at = now;
  if (sys_usage(&usage))
    keep_switches(trace, &usage);
  uint64_t all = times_run_delay_ns(t);
  trace->delay_ns = all > trace->delay_ns ? all : trace->delay_ns;
}

/* How long the thread waited for a processor since the last sample.  Asks the kernel only if the time since then is
 * longer than what the sample stands for and what was spent in the tool. */
static uint64_t delay_since(struct thread_state *t, uint64_t now, uint64_t weight)
{
  const struct sample_trace *trace = &sampling_of(t)->sample_trace;
  uint64_t elapsed = rt_ticks_to_ns(now - trace->sampled_at);
  uint64_t known = weight + t->record->tool_ns - trace->sampled_tool_ns;
  return elapsed > known + weight / DELAY_PART ? delay_within(t, now, elapsed - known) : 0;
}

static uint64_t new_delay(struct thread_state *t, uint64_t now, uint64_t weight)
{
  struct sample_trace *trace = &sampling_of(t)->sample_trace;
  uint64_t delay = 0;
  uint32_t pauses = atomic_load_explicit(&rt.pauses, memory_order_relaxed);
  if (sampling_process.time_event >= 0 && !sampling_process.wall) {
    if (pauses != trace->pauses)
      forget_delay(t, now);
    else
      delay = delay_since(t, now, weight);
  }
  trace->delay_ns += delay;
  if (delay)
    t->record->run_delay_ns = trace->delay_ns; /* a killed process does not find it at the end */
  trace->sampled_tool_ns = t->record->tool_ns;
  trace->sampled_at = now;
  trace->pauses = pauses;
  return delay;
}

void sample_trace_start(struct thread_state *t)
{
  struct sample_trace *trace = &sampling_of(t)->sample_trace;
  *trace = (struct sample_trace){.pauses = atomic_load(&rt.pauses), .sampled_at = t->record->construct_since};
  if (trace_of(t)->on)
    trace->delay_ns = times_run_delay_ns(t);
}

/* Weights differ a little from the period.  Their difference is kept until it is worth writing, so that the sum of all
 * weights is right.  Returns the weight to be written; 0: none. */
static uint64_t weight_to_write(struct thread_state *t, uint64_t weight, uint64_t nominal)
{
  int64_t most = (int64_t)(nominal / WEIGHT_PART),
          difference = sampling_of(t)->sample_trace.weight_left + (int64_t)(weight - nominal);
  bool write = (difference > most || difference < -most) && (int64_t)nominal + difference > 0;
  sampling_of(t)->sample_trace.weight_left = write ? 0 : difference;
  return write ? (uint64_t)((int64_t)nominal + difference) : 0;
}

void sample_trace_put(struct thread_state *t, enum tracelog_sample_kind kind, uint32_t node, uint64_t weight,
                      uint64_t nominal)
{
  struct trace_stream *trace = trace_of(t);
  struct sample_trace *sampled = &sampling_of(t)->sample_trace;
  if (!trace->on)
    return;
  uint64_t now = rt_ticks(), clock = now >> TRACELOG_SAMPLE_SHIFT, operands[5];
  uint64_t written = weight_to_write(t, weight, nominal), delay = new_delay(t, now, weight) >> TRACELOG_NS_SHIFT;
  uint64_t tool = (t->record->tool_ns - sampled->tool_ns) >> TRACELOG_NS_SHIFT;
  unsigned op = TRACELOG_SAMPLE | kind, count = 0;
  operands[count++] = clock > trace->sample_clock ? clock - trace->sample_clock : 0;
  operands[count++] = node;
  if (written) {
    op |= TRACELOG_SAMPLE_WEIGHT;
    operands[count++] = written;
  }
  if (tool << TRACELOG_NS_SHIFT > nominal / TOOL_PART) {
    sampled->tool_ns += tool << TRACELOG_NS_SHIFT;
    op |= TRACELOG_SAMPLE_TOOL;
    operands[count++] = tool;
  }
  if (delay) {
    op |= TRACELOG_SAMPLE_DELAY;
    operands[count++] = delay;
  }
  trace_put_op(t, (enum tracelog_op)op, count, operands);
  trace->sample_clock += operands[0];
}

void sample_trace_charge(struct thread_state *t, uint32_t node, const struct blame *blame)
{
  const uint64_t operands[] = {node, blame->samples, blame->time_ns, blame->per_busy_ns, blame->in_use_ns};
  trace_put_op(t, TRACELOG_CHARGE, sizeof operands / sizeof *operands, operands);
}
