/* The views messages and wait-states as text, and their tables.  Context: BATCH. */
#include "hpcprof-lite/report/views.h"

#include "hpcprof-lite/messages/wait_state_rows.h"
#include "hpcprof-lite/model/names.h"
#include "hpcprof-lite/report/legend.h"
#include "hpcprof-lite/report/text_table.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>

/* ---- messages ---- */

static void fill_pair(const void *context, const void *which, struct cell *cell)
{
  const struct wait_pair *row = which;
  (void)context;
#define COLUMN COLUMN_CELL
#include "hpcprof-lite/report/messages.def"
#undef COLUMN
}

#define COLUMN COLUMN_ENTRY
static const struct table_column pair_columns[] = {
#include "hpcprof-lite/report/messages.def"
};
#undef COLUMN
static const struct schema messages_schema = SCHEMA(pair_columns, fill_pair);

REPORT_EACH(each_pair, report->messages->states.pairs, report->list.count)

void messages_table(const struct report *report, struct table *table)
{
  table->each = each_pair;
  table->source = report;
  table_add(table, &messages_schema, NULL);
}

/* How the clocks of several hosts were corrected, and what that leaves. */
static void print_clocks(FILE *stream, const struct job_messages *messages)
{
  char text[256];
  struct terminal terminal;
  terminal_init(&terminal, stream);
  profile_clocks_text(&messages->clocks, text, sizeof text);
  terminal_wrapf(&terminal, stream, "", "", "%c%s.", toupper((unsigned char)*text), text + 1);
  if (messages->early)
    fprintf(stream,
            "Moved, so that nothing arrives before it was sent: %" PRIu64 " operations, by %.3f us on\n"
            "average, %.3f us at most.\n",
            messages->early, messages->early_ns / (double)messages->early / 1e3, messages->earliest_ns / 1e3);
}

/* Says what of the job could not be matched, each kind if there is any. */
static void print_unmatched(const struct report *report)
{
  const struct job_messages *messages = report->messages;
  const struct wait_states *states = &messages->states;
  const struct {
    uint64_t count;
    const char *text;
  } all[] = {{states->unreceived, "Messages whose receive is in no log"},
             {states->unsent, "Messages whose send is in no log"},
             {states->unfinished, "Receives without a message"},
             {states->cancelled, "Operations that were cancelled, or failed"},
             {states->ambiguous, "Operations whose order is not known"},
             {states->unknown, "Operations on communicators that are not followed"},
             {states->incomplete, "Collective operations without some of their ranks"},
             {states->unseen, "Calls that are not followed, in which ranks can wait for each other"}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (all[i].count)
      fprintf(report->stream, "%s: %" PRIu64 "\n", all[i].text, all[i].count);
  if (messages->ranks > messages->logs)
    fprintf(report->stream, "The job has %" PRIu32 " ranks; %" PRIu32 " %s measured with a log.\n", messages->ranks,
            messages->logs, messages->logs == 1 ? "was" : "were");
  if (messages->several_hosts && !messages->clocks.corrected)
    fputs("Clocks of several hosts are not corrected: waits between hosts are not exact.\n", report->stream);
  else if (messages->several_hosts)
    print_clocks(report->stream, messages);
}

void messages_text(const struct report *report)
{
  struct text_table text;
  text_table_init(&text, report, messages_table);
  if (report->messages->states.pairs_count)
    text_table_heading(&text);
  else
    fputs("No messages between ranks were logged.\n", report->stream);
  for (uint32_t i = 0; i < report->list.count; i++)
    text_table_row(&text, &report->messages->states.pairs[i]);
  print_unmatched(report);
  legend_print(report, "Messages between two ranks; see --legend and --view wait-states\n",
               "From, To: ranks in MPI_COMM_WORLD.  Messages, Bytes, Mean B: what was sent, by\n"
               "the arguments of the sends.  Late sender: how long the receiver waited in MPI\n"
               "before the send began.  Late receiver: how long the sender waited in MPI before\n"
               "the receive began; only sends that wait for their receiver have such time.\n");
  legend_omitted(report);
  text_table_release(&text);
}

/* ---- wait states ---- */

enum { PLACE_TEXT_MAX = 4096 };

/* "MPI_Recv in main at a.c:7", or what is known of it; "" if nothing is. */
static const char *place_text(const char *call, const struct call_place *place, char out[PLACE_TEXT_MAX])
{
  const char *in = *call && *place->function ? " in " : "";
  if (*place->file && place->line)
    snprintf(out, PLACE_TEXT_MAX, "%s%s%s at %s:%" PRIu32, call, in, place->function, names_base(place->file),
             place->line);
  else
    snprintf(out, PLACE_TEXT_MAX, "%s%s%s", call, in, place->function);
  return out;
}

static void fill_state(const void *context, const void *which, struct cell *cell)
{
  const struct wait_state_row *row = which;
  static char where[PLACE_TEXT_MAX]; /* until the next row is filled */
  (void)context;
  place_text(row->call, &row->place, where);
#define COLUMN COLUMN_CELL
#include "hpcprof-lite/report/wait_states.def"
#undef COLUMN
}

#define COLUMN COLUMN_ENTRY
static const struct table_column state_columns[] = {
#include "hpcprof-lite/report/wait_states.def"
};
#undef COLUMN
static const struct schema wait_states_schema = SCHEMA(state_columns, fill_state);

REPORT_EACH(each_state, report->wait_states->rows, report->list.count)

void wait_states_table(const struct report *report, struct table *table)
{
  table->each = each_state;
  table->source = report;
  table_add(table, &wait_states_schema, NULL);
}

/* What the late rank did; its share, if others were late in the same code. */
static void print_late(const struct text_table *text, const struct wait_state_row *row)
{
  enum { WHOLE = 100 };
  char late[PLACE_TEXT_MAX], share[32] = "";
  place_text(row->late_call, &row->late_place, late);
  double percent = row->ns > 0 ? WHOLE * row->late_rank_ns / row->ns : WHOLE;
  if (percent < WHOLE - 0.05)
    snprintf(share, sizeof share, "%.1f %% of it ", percent);
  if (row->late_rank >= 0)
    terminal_wrapf(&text->terminal, text->report->stream, "    ", "      ", "%sfor rank %" PRId64 ", %s %s", share,
                   row->late_rank, row->late_before ? "before" : "in", *late ? late : "code that is not known");
  else
    terminal_wrap(&text->terminal, text->report->stream, "    ", "      ", "for a rank and code that are not known");
}

void wait_states_text(const struct report *report)
{
  enum { SHOWN_LEAST = 1000 }; /* a row is shown if it has more than the sum divided by this */
  const struct wait_state_rows *states = report->wait_states;
  struct text_table text;
  uint32_t small = 0;
  text_table_init(&text, report, wait_states_table);
  text_table_heading(&text);
  for (uint32_t i = 0; i < report->list.count; i++) {
    const struct wait_state_row *row = &states->rows[i];
    if (row->ns * SHOWN_LEAST < states->ns) {
      small++;
      continue;
    }
    text_table_row(&text, row);
    if (!report->chosen_count)
      print_late(&text, row);
  }
  fprintf(report->stream, "All waits together: %.4g s.", states->ns / 1e9);
  if (small)
    fprintf(report->stream, "  Rows below 0.1 %% of that, which are not shown: %" PRIu32, small);
  fputc('\n', report->stream);
  print_unmatched(report);
  legend_print(report, "Wait s: time in MPI before the awaited operation began; see --legend\n",
               "State:\n"
               "  late sender: a receive waited until its send began\n"
               "  wrong order: the same, while another message waited to be received\n"
               "  late receiver: a send waited until its receive began\n"
               "  wait at barrier, wait at all-to-all: a rank waited for the last one\n"
               "  wait at neighbours: a rank waited for the last of its neighbours\n"
               "  late broadcast: a rank waited for the root\n"
               "  early reduce: the root waited for the last of the others\n"
               "  early scan: a rank waited for a lower one\n"
               "Waits: calls that this delayed longest; each call counts in one row, its time\n"
               "can be in several.  Wait s: how long calls waited because of this, until the\n"
               "awaited operation began.  Rank: the one that waited longest; others can have\n"
               "waited, too.\n"
               "Below the call: the rank that was late longest, and what it ran meanwhile, by\n"
               "samples.  If a late rank waited in MPI itself, it is the rank for which that one\n"
               "waited.  \"before\" a call: there are no samples of what the rank ran until then.\n");
  legend_omitted(report);
  text_table_release(&text);
}
