#include "hpcprof-lite/report/html/html_page.h"

#include "hpcprof-lite/report/html/html_table.h"
#include "hpcprof-lite/report/row_writer.h"

#include "hpcprof-lite/report/html/html_sources.h" /* made from page/ by bundle.py */

#include <assert.h>

/* Writes text that cannot be markup. */
static void write_escaped(FILE *stream, const char *text)
{
  static const char *const entities[UINT8_MAX + 1] = {['<'] = "&lt;", ['>'] = "&gt;", ['&'] = "&amp;"};
  row_writer_replaced(stream, text, entities);
}

void html_page_open(const struct report *report)
{
  fwrite(html_before_title, 1, sizeof html_before_title, report->stream);
  write_escaped(report->stream, report->totals->command);
  fwrite(html_before_data, 1, sizeof html_before_data, report->stream);
}

void html_page_open_table(FILE *stream, const char *name)
{
  fprintf(stream, "<script type=\"application/octet-stream\" id=\"table-%s\">", name);
}

void html_page_close_table(FILE *stream)
{
  fputs("</script>\n", stream);
}

void html_page_write_table(FILE *stream, const struct table *table)
{
  struct html_table html = {0};
  html_table_add(&html, table);
  html_table_write(&html, stream);
  html_table_release(&html);
}

static int each_row(const void *source, table_take *take, void *to)
{
  const struct html_part *part = source;
  for (size_t i = 0; i < part->count; i++)
    take(to, (const char *)part->rows + i * part->size);
  return 0;
}

void html_page_next_table(FILE *stream, const struct html_part *part, const void *context)
{
  assert(part->name && part->schema);
  struct table table = {.each = each_row, .source = part};
  html_page_close_table(stream);
  html_page_open_table(stream, part->name);
  table_add(&table, part->schema, context);
  html_page_write_table(stream, &table);
  table_release(&table);
}

void html_page_spoil_table(FILE *stream)
{
  fputc('!', stream);
}

void html_page_close(FILE *stream)
{
  fwrite(html_after_data, 1, sizeof html_after_data, stream);
}
