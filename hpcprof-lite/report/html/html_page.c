#include "hpcprof-lite/report/html/html_page.h"

#include "hpcprof-lite/report/row_writer.h"

#include "hpcprof-lite/html_sources.h" /* made from page/ by bundle.py */

/* Writes text that can be no markup. */
static void write_escaped(FILE *stream, const char *text)
{
  while (*text) {
    const char *entity = *text == '<' ? "&lt;" : *text == '>' ? "&gt;" : *text == '&' ? "&amp;" : NULL;
    if (entity) {
      fputs(entity, stream);
      text++;
    } else {
      text = row_writer_character(stream, text);
    }
  }
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

void html_page_spoil_table(FILE *stream)
{
  fputc('!', stream);
}

void html_page_close(FILE *stream)
{
  fwrite(html_after_data, 1, sizeof html_after_data, stream);
}
