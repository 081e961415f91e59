/* What completions and the manual list of the columns of views.
 *
 * Context: BATCH, while the programs are built.  Columns are those of a run in which time was sampled and nothing was
 * counted.  All functions print to standard output; without memory, if a column has no help, or if two columns of a
 * table have the same name, the process ends with a message.
 */
#ifndef COMPLETIONS_VIEW_COLUMNS_H
#define COMPLETIONS_VIEW_COLUMNS_H

#include <stdbool.h>

/* The branches of a case of shells: for the words OPTION:VIEW, each sets `values` to the columns that the option takes
 * in that view; a view that does not have the option gets none, and any other word gets those of a default view. */
void view_columns_branches(void);

/* The metrics of --fail-if, but for those of further events, with a space before each. */
void view_columns_conditions(void);

/* The items of the manual's list of the columns of a view.  Returns whether there is such a list: NAME is a view,
 * "grain-groups", "timeline-json" or "scaling". */
bool view_columns_items(const char *name);

#endif
