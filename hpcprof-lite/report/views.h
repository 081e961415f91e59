/* The functions of the views (../views.def): what prints one as text, and what describes its table.
 *
 * Context: BATCH.  Each is defined in the module of its view.
 */
#ifndef HPCPROF_LITE_REPORT_VIEWS_H
#define HPCPROF_LITE_REPORT_VIEWS_H

#include "hpcprof-lite/report/report.h"

typedef void view_text(const struct report *report);
view_text summary_text, tree_view_text, tree_view_path_text, threads_text, processes_text, locks_text, ranks_text,
    mpi_text, efficiency_view_text, parallelism_text, whatif_view_text, speedup_view_text, regions_view_text,
    regions_view_tree_text, overheads_view_text, tasks_view_text, phases_view_text, marks_view_text, advice_view_text,
    try_view_text, source_view_text, timeline_text, grains_view_text, user_counters_text, messages_text,
    wait_states_text, devices_text, compare_view_summary, compare_view_tree, compare_list_view_threads,
    scaling_view_text;

table_maker summary_facts_table, tree_view_table, tree_view_path_table, threads_table, processes_table, locks_table,
    ranks_table, mpi_table, efficiency_view_table, parallelism_table, whatif_view_table, speedup_view_table,
    regions_table, region_tree_table, overheads_table, tasks_table, phases_view_table, marks_view_table,
    user_counters_table, advice_view_table, try_view_table, source_view_table, scaling_view_table, messages_table,
    wait_states_table, devices_table;

/* What options choose among: single grains, whose rows are struct grain_row, or groups of them, as JSON with the array
 * "curve"; intervals, marks and counts of the timeline, or tiles, which are read at once. */
table_maker grains_table, grain_groups_table, timeline_table, timeline_tiles_table;

/* Those of comparisons. */
table_maker compare_view_summary_table, compare_list_view_table;

extern const struct schema tree_view_schema, tree_view_mpi_schema, regions_schema;

#endif
