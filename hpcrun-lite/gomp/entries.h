/* The functions that libgomp exports, as one table: what is wrapped, and what needs no wrapper.  And some of libomp's.
 *
 * Context: none; only macros, for C and the assembler.  GOMP_WRAPPED(X) is the list of all wrapped functions.  From it
 * come their numbers (gomp.h), the exported entry points (jumps.S) and the table of wrappers (libgomp.c).  Its parts
 * are lists of functions with the same parameters, from which loops.c, exclusion.c and so on generate wrappers.
 * GOMP_PLAIN(X) lists the others with the reason.  tests/gates compares both with what libgomp exports.
 *
 * The parameters are those of the interface between GCC's code and libgomp, which is only ever extended.  Entry points
 * of GCC 13 to 16 are in the lists as well.
 */
#ifndef HPCRUN_LITE_GOMP_ENTRIES_H
#define HPCRUN_LITE_GOMP_ENTRIES_H

/* clang-format off */

/* bool (T start, T end, T increment, T chunk, T *first, T *last) with T = long */
#define GOMP_LOOP_STARTS(X) \
  X(GOMP_loop_static_start) X(GOMP_loop_dynamic_start) X(GOMP_loop_guided_start) \
  X(GOMP_loop_nonmonotonic_dynamic_start) X(GOMP_loop_nonmonotonic_guided_start) \
  X(GOMP_loop_ordered_static_start) X(GOMP_loop_ordered_dynamic_start) X(GOMP_loop_ordered_guided_start)

/* The same without the chunk. */
#define GOMP_LOOP_RUNTIME_STARTS(X) \
  X(GOMP_loop_runtime_start) X(GOMP_loop_nonmonotonic_runtime_start) X(GOMP_loop_maybe_nonmonotonic_runtime_start) \
  X(GOMP_loop_ordered_runtime_start)

/* bool (T *first, T *last) */
#define GOMP_LOOP_NEXTS(X) \
  X(GOMP_loop_static_next) X(GOMP_loop_dynamic_next) X(GOMP_loop_guided_next) X(GOMP_loop_runtime_next) \
  X(GOMP_loop_nonmonotonic_dynamic_next) X(GOMP_loop_nonmonotonic_guided_next) \
  X(GOMP_loop_nonmonotonic_runtime_next) X(GOMP_loop_maybe_nonmonotonic_runtime_next) \
  X(GOMP_loop_ordered_static_next) X(GOMP_loop_ordered_dynamic_next) X(GOMP_loop_ordered_guided_next) \
  X(GOMP_loop_ordered_runtime_next)

/* bool (T start, T end, T increment, long schedule, T chunk, T *first, T *last, uintptr_t *reductions, void **memory) */
#define GOMP_LOOP_GENERIC_STARTS(X) X(GOMP_loop_start) X(GOMP_loop_ordered_start)

/* bool (unsigned count, T *counts, T chunk, T *first, T *last) */
#define GOMP_LOOP_DOACROSS_STARTS(X) \
  X(GOMP_loop_doacross_static_start) X(GOMP_loop_doacross_dynamic_start) X(GOMP_loop_doacross_guided_start)

/* The same with T = unsigned long long.  Those with an increment begin with a parameter bool up. */
#define GOMP_ULL_STARTS(X) \
  X(GOMP_loop_ull_static_start) X(GOMP_loop_ull_dynamic_start) X(GOMP_loop_ull_guided_start) \
  X(GOMP_loop_ull_nonmonotonic_dynamic_start) X(GOMP_loop_ull_nonmonotonic_guided_start) \
  X(GOMP_loop_ull_ordered_static_start) X(GOMP_loop_ull_ordered_dynamic_start) X(GOMP_loop_ull_ordered_guided_start)
#define GOMP_ULL_RUNTIME_STARTS(X) \
  X(GOMP_loop_ull_runtime_start) X(GOMP_loop_ull_nonmonotonic_runtime_start) \
  X(GOMP_loop_ull_maybe_nonmonotonic_runtime_start) X(GOMP_loop_ull_ordered_runtime_start)
#define GOMP_ULL_NEXTS(X) \
  X(GOMP_loop_ull_static_next) X(GOMP_loop_ull_dynamic_next) X(GOMP_loop_ull_guided_next) \
  X(GOMP_loop_ull_runtime_next) X(GOMP_loop_ull_nonmonotonic_dynamic_next) \
  X(GOMP_loop_ull_nonmonotonic_guided_next) X(GOMP_loop_ull_nonmonotonic_runtime_next) \
  X(GOMP_loop_ull_maybe_nonmonotonic_runtime_next) X(GOMP_loop_ull_ordered_static_next) \
  X(GOMP_loop_ull_ordered_dynamic_next) X(GOMP_loop_ull_ordered_guided_next) X(GOMP_loop_ull_ordered_runtime_next)
#define GOMP_ULL_GENERIC_STARTS(X) X(GOMP_loop_ull_start) X(GOMP_loop_ull_ordered_start)
#define GOMP_ULL_DOACROSS_STARTS(X) \
  X(GOMP_loop_ull_doacross_static_start) X(GOMP_loop_ull_doacross_dynamic_start) \
  X(GOMP_loop_ull_doacross_guided_start)

/* void (void (*function)(void *), void *data, unsigned threads, long start, long end, long increment, long chunk,
 *       unsigned flags) */
#define GOMP_PARALLEL_LOOPS(X) \
  X(GOMP_parallel_loop_static) X(GOMP_parallel_loop_dynamic) X(GOMP_parallel_loop_guided) \
  X(GOMP_parallel_loop_nonmonotonic_dynamic) X(GOMP_parallel_loop_nonmonotonic_guided)

/* The same without the chunk. */
#define GOMP_PARALLEL_RUNTIME_LOOPS(X) \
  X(GOMP_parallel_loop_runtime) X(GOMP_parallel_loop_nonmonotonic_runtime) \
  X(GOMP_parallel_loop_maybe_nonmonotonic_runtime)

/* The same without the flags: code of GCC before 4.9, which calls the function and GOMP_parallel_end() itself. */
#define GOMP_PARALLEL_LOOP_STARTS(X) \
  X(GOMP_parallel_loop_static_start) X(GOMP_parallel_loop_dynamic_start) X(GOMP_parallel_loop_guided_start)

/* void (void *lock), those with `test`: int (void *lock).  Names that end in an underscore are Fortran's.  libgomp has
 * each of them twice: in version OMP_1.0 with another layout of the lock, and in version OMP_3.0. */
#define GOMP_LOCKS(X) \
  X(omp_set_lock) X(omp_test_lock) X(omp_unset_lock) X(omp_init_lock) X(omp_destroy_lock) \
  X(omp_set_lock_) X(omp_test_lock_) X(omp_unset_lock_) X(omp_init_lock_) X(omp_destroy_lock_) \
  X(omp_set_nest_lock) X(omp_test_nest_lock) X(omp_unset_nest_lock) X(omp_init_nest_lock) X(omp_destroy_nest_lock) \
  X(omp_set_nest_lock_) X(omp_test_nest_lock_) X(omp_unset_nest_lock_) X(omp_init_nest_lock_) \
  X(omp_destroy_nest_lock_)

/* Each has a wrapper of its own. */
#define GOMP_OTHER_ENTRIES(X) \
  X(GOMP_parallel) X(GOMP_parallel_reductions) X(GOMP_parallel_sections) X(GOMP_teams_reg) \
  X(GOMP_parallel_start) X(GOMP_parallel_loop_runtime_start) X(GOMP_parallel_sections_start) X(GOMP_parallel_end) \
  X(GOMP_barrier) X(GOMP_barrier_cancel) X(GOMP_workshare_task_reduction_unregister) \
  X(GOMP_loop_end) X(GOMP_loop_end_cancel) X(GOMP_loop_end_nowait) \
  X(GOMP_loop_doacross_runtime_start) X(GOMP_loop_doacross_start) \
  X(GOMP_loop_ull_doacross_runtime_start) X(GOMP_loop_ull_doacross_start) \
  X(GOMP_sections_start) X(GOMP_sections2_start) X(GOMP_sections_next) \
  X(GOMP_sections_end) X(GOMP_sections_end_cancel) X(GOMP_sections_end_nowait) \
  X(GOMP_single_start) X(GOMP_single_copy_start) X(GOMP_single_copy_end) \
  X(GOMP_ordered_start) X(GOMP_ordered_end) \
  X(GOMP_doacross_post) X(GOMP_doacross_wait) X(GOMP_doacross_ull_post) X(GOMP_doacross_ull_wait) \
  X(GOMP_critical_start) X(GOMP_critical_end) X(GOMP_critical_name_start) X(GOMP_critical_name_end) \
  X(GOMP_atomic_start) X(GOMP_atomic_end) \
  X(GOMP_task) X(GOMP_taskloop) X(GOMP_taskloop_ull) X(GOMP_taskwait) X(GOMP_taskwait_depend) \
  X(GOMP_taskwait_depend_nowait) X(GOMP_taskgroup_start) X(GOMP_taskgroup_end) \
  X(omp_fulfill_event) X(omp_fulfill_event_) \
  X(GOMP_target_ext) X(GOMP_target_data_ext) X(GOMP_target_end_data) X(GOMP_target_update_ext) \
  X(GOMP_target_enter_exit_data)

#define GOMP_WRAPPED(X) \
  GOMP_LOOP_STARTS(X) GOMP_LOOP_RUNTIME_STARTS(X) GOMP_LOOP_NEXTS(X) GOMP_LOOP_GENERIC_STARTS(X) \
  GOMP_LOOP_DOACROSS_STARTS(X) GOMP_ULL_STARTS(X) GOMP_ULL_RUNTIME_STARTS(X) GOMP_ULL_NEXTS(X) \
  GOMP_ULL_GENERIC_STARTS(X) GOMP_ULL_DOACROSS_STARTS(X) GOMP_PARALLEL_LOOPS(X) GOMP_PARALLEL_RUNTIME_LOOPS(X) \
  GOMP_PARALLEL_LOOP_STARTS(X) GOMP_OTHER_ENTRIES(X)

/* Wrapped functions that are needed only for work and span. */
#define GOMP_GRAPH_ONLY(X) \
  GOMP_LOOP_STARTS(X) GOMP_LOOP_RUNTIME_STARTS(X) GOMP_LOOP_NEXTS(X) GOMP_LOOP_GENERIC_STARTS(X) \
  GOMP_LOOP_DOACROSS_STARTS(X) GOMP_ULL_STARTS(X) GOMP_ULL_RUNTIME_STARTS(X) GOMP_ULL_NEXTS(X) \
  GOMP_ULL_GENERIC_STARTS(X) GOMP_ULL_DOACROSS_STARTS(X) X(GOMP_loop_doacross_runtime_start) \
  X(GOMP_loop_doacross_start) X(GOMP_loop_ull_doacross_runtime_start) X(GOMP_loop_ull_doacross_start) \
  X(GOMP_loop_end_nowait) X(GOMP_sections_start) X(GOMP_sections2_start) X(GOMP_sections_next) \
  X(GOMP_sections_end_nowait) X(GOMP_single_start) X(GOMP_doacross_post) X(GOMP_doacross_wait) \
  X(GOMP_doacross_ull_post) X(GOMP_doacross_ull_wait)

/* Functions of libomp that create tasks: with -p log, their time is measured (creation.c). */
#define KMPC_TIMED(X) X(__kmpc_omp_task) X(__kmpc_omp_task_with_deps)

/* The same for those of a taskloop, which may be none: the entry point also notes that the task that was allocated is
 * for them. */
#define KMPC_TASKLOOP_CALLS(X) X(__kmpc_taskloop) X(__kmpc_taskloop_5)

/* The one that allocates them: its entry point also notes the place in the source. */
#define KMPC_ALLOCATION(X) X(__kmpc_omp_task_alloc)

/* The same; libomp reads the frame of this one's caller, so it has no wrapper.  The entry point notes its caller. */
#define KMPC_UNWRAPPED(X) X(__kmpc_omp_task_begin_if0)

#define KMPC_CREATIONS(X) KMPC_TIMED(X) KMPC_TASKLOOP_CALLS(X) KMPC_ALLOCATION(X) KMPC_UNWRAPPED(X)

/* Begins a taskgroup.  It has no wrapper: the entry point notes the place in the source. */
#define KMPC_GROUP(X) X(__kmpc_taskgroup)

/* Functions of libomp that hand out the iterations of loops: wrapped for a libomp that announces no chunks (chunks.c).
 * Clang's code calls the first one for sections, too: its entry point notes where that call stores them.  Those that
 * begin a loop note its schedule, too; 4 and 8: bytes of a chunk's size. */
#define KMPC_SECTIONS(X) X(__kmpc_for_static_init_4)
#define KMPC_INITS_4(X) X(__kmpc_dispatch_init_4) X(__kmpc_dispatch_init_4u)
#define KMPC_INITS_8(X) X(__kmpc_dispatch_init_8) X(__kmpc_dispatch_init_8u)
#define KMPC_STATIC_INITS_4(X) X(__kmpc_for_static_init_4u)
#define KMPC_STATIC_INITS_8(X) X(__kmpc_for_static_init_8) X(__kmpc_for_static_init_8u)
#define KMPC_DIST_INITS_4(X) X(__kmpc_dist_dispatch_init_4) X(__kmpc_dist_dispatch_init_4u)
#define KMPC_DIST_INITS_8(X) X(__kmpc_dist_dispatch_init_8) X(__kmpc_dist_dispatch_init_8u)
#define KMPC_OTHER_CHUNKS(X) \
  X(__kmpc_dispatch_next_4) X(__kmpc_dispatch_next_4u) X(__kmpc_dispatch_next_8) X(__kmpc_dispatch_next_8u) \
  X(__kmpc_dist_for_static_init_4) X(__kmpc_dist_for_static_init_4u) X(__kmpc_dist_for_static_init_8) \
  X(__kmpc_dist_for_static_init_8u)
#define KMPC_CHUNKS(X) \
  KMPC_INITS_4(X) KMPC_INITS_8(X) KMPC_STATIC_INITS_4(X) KMPC_STATIC_INITS_8(X) KMPC_DIST_INITS_4(X) \
  KMPC_DIST_INITS_8(X) KMPC_OTHER_CHUNKS(X)

/* Functions of libomp that test a lock: wrapped, because releases 14 to 16 announce them as if they could wait
 * (exclusion.c). */
#define KMPC_TESTS(X) X(__kmpc_test_lock) X(__kmpc_test_nest_lock)

/* The function of libomp that waits for an iteration of a doacross loop: it announces only that it has waited. */
#define KMPC_DOACROSS(X) X(__kmpc_doacross_wait)

/* Functions of libomp that begin the combination of a reduction.  They have no wrappers: the entry point notes when,
 * and the place. */
#define KMPC_REDUCTIONS(X) X(__kmpc_reduce) X(__kmpc_reduce_nowait)

/* Functions of LLVM's library for devices that clang's code calls for target constructs: wrapped for a library that
 * does not announce these (device_calls.c).  X(name, kind, parameters): the kind is OMPT's, with a bit for nowait. */
#define TGT_TARGETS(X) \
  X(__tgt_target_mapper, ompt_target, 10) \
  X(__tgt_target_nowait_mapper, ompt_target | ompt_target_nowait, 14) \
  X(__tgt_target_teams_mapper, ompt_target, 12) \
  X(__tgt_target_teams_nowait_mapper, ompt_target | ompt_target_nowait, 16) \
  X(__tgt_target_kernel, ompt_target, 6) \
  X(__tgt_target_kernel_nowait, ompt_target | ompt_target_nowait, 10)
#define TGT_DATA(X) \
  X(__tgt_target_data_begin_mapper, ompt_target_enter_data, 9) \
  X(__tgt_target_data_begin_nowait_mapper, ompt_target_enter_data | ompt_target_nowait, 13) \
  X(__tgt_target_data_end_mapper, ompt_target_exit_data, 9) \
  X(__tgt_target_data_end_nowait_mapper, ompt_target_exit_data | ompt_target_nowait, 13) \
  X(__tgt_target_data_update_mapper, ompt_target_update, 9) \
  X(__tgt_target_data_update_nowait_mapper, ompt_target_update | ompt_target_nowait, 13)
#define TGT_CALLS(X) TGT_TARGETS(X) TGT_DATA(X)

/* Task functions by which the taskloops of a libomp without chunks are distinguished (chunks.c). */
#define KMPC_TASKLOOPS 256

/* Task functions of GCC's code that need no header in their blocks (tasks.c). */
#define GOMP_TASK_BODIES 512

/* X(name, reason).  A name that ends in * stands for all that begin so, if they are not wrapped. */
#define GOMP_PLAIN(X) \
  X("GOMP_cancel", "what it ends is seen where it ends") \
  X("GOMP_cancellation_point", "what it ends is seen where it ends") \
  X("GOMP_taskyield", "libgomp does nothing there") \
  X("GOMP_taskgroup_reduction_*", "only names the private copies of a reduction") \
  X("GOMP_task_reduction_remap", "only looks for the private copies of a reduction") \
  X("GOMP_scope_start", "a scope has no events but the barrier at its end") \
  X("GOMP_teams", "only limits the number of threads, in a target region") \
  X("GOMP_teams4", "only limits the number of threads, in a target region") \
  X("GOMP_target*", "code of GCC 4.9, and names of functions on devices") \
  X("GOMP_offload_*", "names code for devices") \
  X("GOMP_PLUGIN_*", "for plugins of libgomp") \
  X("GOMP_interop", "access to a device's own queues") \
  X("GOMP_alloc", "memory") \
  X("GOMP_add_alloc", "memory") \
  X("GOMP_is_alloc", "memory") \
  X("GOMP_free", "memory") \
  X("GOMP_error", "prints the program's message") \
  X("GOMP_warning", "prints the program's message") \
  X("omp_get_*", "a query") \
  X("omp_in_*", "a query") \
  X("omp_is_*", "a query") \
  X("omp_capture_affinity*", "a query") \
  X("omp_display_*", "prints the runtime's settings") \
  X("omp_set_num_threads*", "a setting") \
  X("omp_set_dynamic*", "a setting") \
  X("omp_set_nested*", "a setting") \
  X("omp_set_schedule*", "a setting") \
  X("omp_set_max_active_levels*", "a setting") \
  X("omp_set_affinity_format*", "a setting") \
  X("omp_set_default_*", "a setting") \
  X("omp_set_num_teams*", "a setting") \
  X("omp_set_teams_thread_limit*", "a setting") \
  X("omp_alloc", "memory") \
  X("omp_aligned_*", "memory") \
  X("omp_calloc", "memory") \
  X("omp_realloc", "memory") \
  X("omp_free", "memory") \
  X("omp_init_allocator*", "memory") \
  X("omp_destroy_allocator*", "memory") \
  X("omp_pause_resource*", "threads that end are seen") \
  X("omp_target_*", "memory of devices") \
  X("omp_interop_*", "access to a device's own queues")

#endif
