#include "hpcrun-lite/rt/control_events.h"

#include "hpcrun-lite/rt/construct/construct.h"
#include "hpcrun-lite/rt/graph_access.h"
#include "hpcrun-lite/rt/lock_events.h"
#include "hpcrun-lite/rt/marks/marks.h"
#include "hpcrun-lite/rt/span/span.h"

void control_events_pause(bool pause)
{
  struct thread_state *t = rt_thread();
  if (t)
    lock_events_before_other(t);
  if (!t || !graph_enter(t)) {
    rt_pause(pause);
    return;
  }
  construct_pause(t, rt_ticks());
  span_pause(t, pause);
  graph_leave(t);
}

/* A mark or user phase whose name is the argument of omp_control_tool().  Returns 0, or 1 where it is ignored. */
static int add_mark(enum format_mark_kind kind, const char *name)
{
  struct thread_state *t = rt_thread();
  if (!t || (kind == FORMAT_MARK && !name) || !rt_enter(t))
    return 1;
  marks_add(t, kind, name);
  rt_leave(t);
  return 0;
}

int control_events_command(uint64_t command, const char *argument)
{
  enum { START = 1, PAUSE = 2, END = 4, MARK = 64, PHASE = 65 };
  static atomic_bool ended;
  if (command == MARK || command == PHASE)
    return add_mark(command == MARK ? FORMAT_MARK : FORMAT_USER_PHASE, argument);
  if (command == END)
    atomic_store(&ended, true);
  if (command == PAUSE || command == END || (command == START && !atomic_load(&ended)))
    control_events_pause(command != START);
  return 0;
}
