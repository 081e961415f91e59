/* The part of OMPT, the tool interface of OpenMP 5.2 (chapter 19), that is used here.  Names and values are those of
 * the specification.  gcc has no omp-tools.h, and clang's include directory must not be on gcc's path. */
#ifndef HPCRUN_LITE_RT_CORE_OMP_TOOLS_H
#define HPCRUN_LITE_RT_CORE_OMP_TOOLS_H

#include <stddef.h>
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

typedef struct ompt_dependence_t {
  ompt_data_t variable;
  int dependence_type;
} ompt_dependence_t;

typedef struct ompt_dispatch_chunk_t {
  uint64_t start, iterations;
} ompt_dispatch_chunk_t;

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
  ompt_callback_target = 8,
  ompt_callback_control_tool = 11,
  ompt_callback_target_data_op = 9,
  ompt_callback_target_submit = 10,
  ompt_callback_device_initialize = 12,
  ompt_callback_device_finalize = 13,
  ompt_callback_sync_region_wait = 16,
  ompt_callback_dependences = 18,
  ompt_callback_work = 20,
  ompt_callback_masked = 21,
  ompt_callback_sync_region = 23,
  ompt_callback_lock_init = 24,
  ompt_callback_lock_destroy = 25,
  ompt_callback_dispatch = 32,
  ompt_callback_mutex_released = 17,
  ompt_callback_mutex_acquire = 26,
  ompt_callback_mutex_acquired = 27,
  ompt_callback_nest_lock = 28,
  ompt_callback_cancel = 30,
  ompt_callback_target_emi = 33,
  ompt_callback_target_data_op_emi = 34,
  ompt_callback_target_submit_emi = 35
};

enum { ompt_scope_begin = 1, ompt_scope_end = 2 };
enum { ompt_thread_initial = 1, ompt_thread_worker = 2 };
enum { ompt_task_initial = 1, ompt_task_implicit = 2, ompt_task_explicit = 4, ompt_task_target = 8 };
/* Numbers that are no device's: the host, as the program has it; the host, because there is no device. */
enum { OMPT_DEVICE_HOST = -1, OMPT_DEVICE_NONE = -2 };
/* OMPT has no kind for target data: libomp announces where it begins as enter data, and its end as exit data. */
enum {
  ompt_target = 1,
  ompt_target_enter_data = 2,
  ompt_target_exit_data = 3,
  ompt_target_update = 4,
  OMPT_TARGET_DATA = 5,
  ompt_target_nowait = 8 /* a bit of the kind */
};
enum {
  ompt_target_data_alloc = 1,
  ompt_target_data_transfer_to_device = 2,
  ompt_target_data_transfer_from_device = 3,
  ompt_target_data_delete = 4,
  ompt_target_data_async = 16 /* a bit of these */
};
enum { ompt_state_wait_barrier = 0x010, ompt_state_wait_taskwait = 0x020, ompt_state_idle = 0x100 };
enum { ompt_cancel_parallel = 0x01, ompt_cancel_activated = 0x10, ompt_cancel_detected = 0x20 };
enum { ompt_task_taskwait = 0x10, ompt_taskwait_complete = 8 };
enum {
  ompt_mutex_lock = 1,
  ompt_mutex_test_lock = 2,
  ompt_mutex_nest_lock = 3,
  ompt_mutex_test_nest_lock = 4,
  ompt_mutex_critical = 5,
  ompt_mutex_atomic = 6,
  ompt_mutex_ordered = 7
};
enum {
  ompt_task_final = 0x20000000,
  ompt_task_undeferred = 0x08000000,
  ompt_task_untied = 0x10000000,
  ompt_task_mergeable = 0x40000000,
  ompt_frame_serial = 0x21, /* enter_frame is a frame pointer of application code: libomp sets this for if(0) only;
                               other bits are uninitialised */
  ompt_parallel_league = 0x40000000
};
enum {
  ompt_task_complete = 1,
  ompt_task_cancel = 3,
  ompt_task_detach = 4,
  ompt_task_early_fulfill = 5,
  ompt_task_late_fulfill = 6,
  ompt_task_switch = 7
};
enum {
  ompt_sync_region_barrier_explicit = 3,
  ompt_sync_region_taskwait = 5,
  ompt_sync_region_taskgroup = 6,
  ompt_sync_region_barrier_implicit_workshare = 8,
  ompt_sync_region_barrier_implicit_parallel = 9
};
enum {
  ompt_work_loop = 1,
  ompt_work_sections = 2,
  ompt_work_single_executor = 3,
  ompt_work_single_other = 4,
  ompt_work_workshare = 5,
  ompt_work_distribute = 6,
  ompt_work_taskloop = 7,
  ompt_work_scope = 8,
  ompt_work_loop_static = 10
};
enum {
  ompt_dispatch_section = 2,
  ompt_dispatch_ws_loop_chunk = 3,
  ompt_dispatch_taskloop_chunk = 4,
  ompt_dispatch_distribute_chunk = 5
};
enum {
  ompt_dependence_type_in = 1,
  ompt_dependence_type_out = 2,
  ompt_dependence_type_inout = 3,
  ompt_dependence_type_mutexinoutset = 4,
  ompt_dependence_type_source = 5,
  ompt_dependence_type_sink = 6,
  ompt_dependence_type_inoutset = 7,
  ompt_dependence_type_out_all_memory = 34,
  ompt_dependence_type_inout_all_memory = 35
};
enum { ompt_set_always = 5 };

/* The trace of a device. */
typedef void ompt_device_t;
typedef void ompt_buffer_t;
typedef uint64_t ompt_buffer_cursor_t, ompt_device_time_t, ompt_id_t;

enum { ompt_record_ompt = 1, ompt_record_native = 2, ompt_record_invalid = 3 };
enum { ompt_set_sometimes = 3 }; /* the least result that promises some records */

typedef struct ompt_record_target_data_op_t {
  ompt_id_t host_op_id;
  int optype;
  void *src_addr;
  int src_device_num;
  void *dest_addr;
  int dest_device_num;
  size_t bytes;
  ompt_device_time_t end_time;
  const void *codeptr_ra;
} ompt_record_target_data_op_t;

typedef struct ompt_record_target_kernel_t {
  ompt_id_t host_op_id;
  unsigned requested_num_teams, granted_num_teams;
  ompt_device_time_t end_time;
} ompt_record_target_kernel_t;

typedef struct ompt_record_ompt_t {
  int type; /* as of a callback */
  ompt_device_time_t time;
  ompt_id_t thread_id, target_id;
  union {
    ompt_record_target_data_op_t target_data_op;
    ompt_record_target_kernel_t target_kernel;
  } record;
} ompt_record_ompt_t;

typedef void (*ompt_callback_buffer_request_t)(int device_num, ompt_buffer_t **buffer, size_t *bytes);
typedef void (*ompt_callback_buffer_complete_t)(int device_num, ompt_buffer_t *buffer, size_t bytes,
                                                ompt_buffer_cursor_t begin, int buffer_owned);
typedef ompt_device_time_t (*ompt_get_device_time_t)(ompt_device_t *device);
typedef int (*ompt_set_trace_ompt_t)(ompt_device_t *device, unsigned enable, unsigned type);
typedef int (*ompt_start_trace_t)(ompt_device_t *device, ompt_callback_buffer_request_t request,
                                  ompt_callback_buffer_complete_t complete);
typedef int (*ompt_trace_command_t)(ompt_device_t *device); /* ompt_flush_trace, ompt_stop_trace */
typedef int (*ompt_advance_buffer_cursor_t)(ompt_device_t *device, ompt_buffer_t *buffer, size_t size,
                                            ompt_buffer_cursor_t current, ompt_buffer_cursor_t *next);
typedef int (*ompt_get_record_type_t)(ompt_buffer_t *buffer, ompt_buffer_cursor_t current);
typedef ompt_record_ompt_t *(*ompt_get_record_ompt_t)(ompt_buffer_t *buffer, ompt_buffer_cursor_t current);

#endif
