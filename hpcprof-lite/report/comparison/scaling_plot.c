#include "hpcprof-lite/report/comparison/scaling_plot.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { WIDTH = 60, HEIGHT = 13, LABEL = 8 };

struct plot {
  const struct scaling *scaling;
  double most; /* the largest number of threads, as a multiple of the base; also the largest speedup */
  char cells[HEIGHT][WIDTH + 1];
};

/* Where a number from 1 to `most` stands on an axis of that many places. */
static int place(const struct plot *plot, double value, int places)
{
  assert(places > 1 && plot->most >= 1);
  double at = value > 1 ? log(value) / log(plot->most) * (places - 1) : 0;
  return at < places - 1 ? (int)lround(at) : places - 1;
}

static void mark(struct plot *plot, uint32_t threads, double speedup, char sign)
{
  int column = place(plot, (double)threads / plot->scaling->points[0].threads, WIDTH);
  if (isfinite(speedup))
    plot->cells[HEIGHT - 1 - place(plot, speedup, HEIGHT)][column] = sign;
}

static void fill(struct plot *plot)
{
  const struct scaling *scaling = plot->scaling;
  for (int i = 0; i < HEIGHT; i++) {
    memset(plot->cells[i], ' ', WIDTH);
    plot->cells[i][WIDTH] = '\0';
  }
  for (int column = 0; column < WIDTH; column++) {
    double ideal = exp(log(plot->most) * column / (WIDTH - 1));
    plot->cells[HEIGHT - 1 - place(plot, ideal, HEIGHT)][column] = '.';
  }
  for (uint32_t i = 1; i < scaling->points_count; i++)
    mark(plot, scaling->points[i].threads, scaling->points[i].forecast, 'o');
  for (uint32_t i = 1; i < scaling->points_count; i++)
    mark(plot, scaling->points[i].threads, scaling->points[i].forecast_base, 'b');
  for (int i = 0; i < SCALING_LATER && scaling->forecast; i++)
    mark(plot, scaling->later[i].threads, scaling->later[i].speedup, '+');
  for (uint32_t i = 0; i < scaling->points_count; i++)
    mark(plot, scaling->points[i].threads, scaling->points[i].speedup, '*');
}

/* Writes a number below its place unless it would touch the number before it. */
static void label(const struct plot *plot, uint32_t threads, char line[WIDTH + 12])
{
  char text[12];
  int length = snprintf(text, sizeof text, "%" PRIu32, threads);
  int column = place(plot, (double)threads / plot->scaling->points[0].threads, WIDTH);
  for (int i = column ? column - 1 : 0; i <= column + length; i++)
    if (line[i] != ' ')
      return;
  memcpy(line + column, text, (size_t)length);
}

/* The speedup that stands before a line: 1, 2, 4, ..., or 0. */
static unsigned level(const struct plot *plot, int line)
{
  for (unsigned speedup = 1; speedup <= plot->most; speedup *= 2)
    if (HEIGHT - 1 - place(plot, speedup, HEIGHT) == line)
      return speedup;
  return 0;
}

void scaling_plot(const struct report *report)
{
  assert(report->scaling->points_count > 1);
  const struct scaling *scaling = report->scaling;
  char numbers[WIDTH + 12];
  struct plot plot = {.scaling = scaling};
  uint32_t threads = scaling->points[scaling->points_count - 1].threads;
  if (scaling->forecast)
    threads = scaling->later[SCALING_LATER - 1].threads;
  plot.most = (double)threads / scaling->points[0].threads;
  fill(&plot);
  memset(numbers, ' ', sizeof numbers);
  numbers[sizeof numbers - 1] = '\0';
  for (uint32_t i = 0; i < scaling->points_count; i++)
    label(&plot, scaling->points[i].threads, numbers);
  for (int i = 0; i < SCALING_LATER && scaling->forecast; i++)
    label(&plot, scaling->later[i].threads, numbers);
  for (int line = 0; line < HEIGHT; line++) {
    unsigned speedup = level(&plot, line);
    for (size_t end = strlen(plot.cells[line]); end && plot.cells[line][end - 1] == ' '; end--)
      plot.cells[line][end - 1] = '\0';
    if (speedup)
      fprintf(report->stream, "%*u |%s\n", LABEL, speedup, plot.cells[line]);
    else
      fprintf(report->stream, "%*s |%s\n", LABEL, "", plot.cells[line]);
  }
  for (size_t end = strlen(numbers); end && numbers[end - 1] == ' '; end--)
    numbers[end - 1] = '\0';
  fprintf(report->stream, "%*s +", LABEL, "");
  for (int i = 0; i < WIDTH; i++)
    putc('-', report->stream);
  fprintf(report->stream, "\n%*s  %s\n", LABEL, "threads", numbers);
}
