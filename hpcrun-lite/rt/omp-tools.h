/* The part of OpenMP 5.2's tool interface (OMPT, chapter 19) that is used here.  gcc has no omp-tools.h of its own, and
 * clang's directory must not be on gcc's path.  Names and values are the specification's. */
#ifndef HPCRUN_LITE_RT_OMP_TOOLS_H
#define HPCRUN_LITE_RT_OMP_TOOLS_H

#include <stdint.h>

typedef union ompt_data_t {
  uint64_t value;
  void *ptr;
} ompt_data_t;

typedef struct ompt_frame_t {
  ompt_data_t exit_frame, enter_frame;
  int exit_frame_flags, enter_frame_flags;
} ompt_frame_t;

typedef void (*ompt_interface_fn_t)(void);
typedef ompt_interface_fn_t (*ompt_function_lookup_t)(const char *name);
typedef void (*ompt_callback_t)(void);
typedef int (*ompt_set_callback_t)(int event, ompt_callback_t callback);
typedef int (*ompt_get_state_t)(uint64_t *wait_id);
typedef int (*ompt_get_task_info_t)(int level, int *flags, ompt_data_t **task_data, ompt_frame_t **frame,
                                    ompt_data_t **parallel_data, int *thread_number);

typedef int (*ompt_initialize_t)(ompt_function_lookup_t lookup, int initial_device, ompt_data_t *tool_data);
typedef void (*ompt_finalize_t)(ompt_data_t *tool_data);

typedef struct ompt_start_tool_result_t {
  ompt_initialize_t initialize;
  ompt_finalize_t finalize;
  ompt_data_t tool_data;
} ompt_start_tool_result_t;

enum {
  ompt_callback_thread_begin = 1,
  ompt_callback_thread_end = 2,
  ompt_callback_parallel_begin = 3,
  ompt_callback_parallel_end = 4,
  ompt_callback_task_create = 5,
  ompt_callback_task_schedule = 6,
  ompt_callback_implicit_task = 7,
  ompt_callback_sync_region_wait = 16,
  ompt_callback_mutex_released = 17,
  ompt_callback_mutex_acquire = 26,
  ompt_callback_mutex_acquired = 27,
  ompt_callback_nest_lock = 28
};

enum { ompt_scope_begin = 1, ompt_scope_end = 2 };
enum { ompt_thread_initial = 1, ompt_thread_worker = 2 };
enum { ompt_task_initial = 1, ompt_task_implicit = 2, ompt_task_explicit = 4 };
enum { ompt_state_wait_barrier = 0x010, ompt_state_wait_taskwait = 0x020, ompt_state_idle = 0x100 };
enum { ompt_task_taskwait = 0x10, ompt_taskwait_complete = 8 };
enum { ompt_sync_region_taskgroup = 6 };
enum { ompt_mutex_test_lock = 2, ompt_mutex_test_nest_lock = 4 };
enum { ompt_set_always = 5 };

#endif
