#include "hpcrun-lite/rt/target_events.h"

#include "hpcrun-lite/rt/code_address.h"
#include "hpcrun-lite/rt/construct_events.h"
#include "hpcrun-lite/rt/graph_access.h"
#include "hpcrun-lite/rt/span/directive.h"
#include "hpcrun-lite/rt/span/span.h"
#include "hpcrun-lite/rt/span/worksharing.h"

static enum format_directive_kind directive_kind(int kind)
{
  switch (kind & ~ompt_target_nowait) {
  case ompt_target_enter_data:
    return FORMAT_DIRECTIVE_TARGET_ENTER_DATA;
  case ompt_target_exit_data:
    return FORMAT_DIRECTIVE_TARGET_EXIT_DATA;
  case ompt_target_update:
    return FORMAT_DIRECTIVE_TARGET_UPDATE;
  case OMPT_TARGET_DATA:
    return FORMAT_DIRECTIVE_TARGET_DATA;
  default:
    return FORMAT_DIRECTIVE_TARGET;
  }
}

void target_events(struct thread_state *t, int kind, bool begin, const ompt_data_t *task_data, const void *codeptr)
{
  enum format_directive_kind directive = directive_kind(kind);
  uint32_t row = 0;
  if (!graph_enter(t))
    return;
  if (begin)
    codeptr = code_of_construct(t, task_data, codeptr);
  if (directive == FORMAT_DIRECTIVE_TARGET && begin) { /* it ends when all tasks in it have ended */
    row = span_taskgroup_begin(t, span_of(t)->task, directive, codeptr);
  } else if (directive == FORMAT_DIRECTIVE_TARGET) {
    span_taskgroup_end(t, span_of(t)->task);
  } else if (begin) {
    row = directive_row(t, directive, codeptr);
    worksharing_block(t, row);
  } else {
    worksharing_block_end(t);
  }
  construct_events_scope(t, directive, row, begin);
  graph_leave(t);
}

void target_events_operation(struct thread_state *t, uint32_t kind, bool begin, uint64_t bytes)
{
  if (!graph_enter(t))
    return;
  construct_events_operation(t, kind, begin, bytes);
  graph_leave(t);
}
