/* The terminal of the live view: its alternate screen, its modes and size, and the lines that are on it.
 *
 * Lines are set one by one; screen_show() then writes those that have changed, in one write.  Whatever ends the process
 * but SIGKILL, the terminal gets back its modes and its screen: handlers do that for signals that end it, for crashes,
 * and while the process is stopped.
 *
 * Context: BATCH, the main thread; one screen at a time. */
#ifndef HPCPROF_LITE_LIVE_SCREEN_H
#define HPCPROF_LITE_LIVE_SCREEN_H

#include "hpcprof-lite/report/terminal.h"

enum { SCREEN_ROWS_MAX = 500, SCREEN_KEYS = 256 };

struct screen {
  struct terminal terminal; /* what it can show, and its width */
  unsigned columns, rows;
  char *next[SCREEN_ROWS_MAX], *shown[SCREEN_ROWS_MAX]; /* NULL: an empty line */
  bool redraw;                                          /* what the terminal shows is not known */
};

/* Takes the terminal that standard input and output are.  Returns NULL, or why it cannot. */
const char *screen_open(struct screen *screen);

/* Gives it back as it was. */
void screen_close(struct screen *screen);

/* The same, before the process ends without returning. */
void screen_abandon(void);

/* Finds out the size.  Returns whether it has changed, or the process was stopped meanwhile. */
bool screen_changed(struct screen *screen);

/* Sets a line to a text with sequences for colours, which is cut at the screen's width. */
void screen_set(struct screen *screen, unsigned row, const char *text);

/* Shows the lines that were set; those that were not are empty.  Returns 0, or ERR_INPUT if the terminal is gone. */
int screen_show(struct screen *screen);

/* Waits for keys at most so long, or for a change of size.  Returns the number of bytes that were read into
 * keys[SCREEN_KEYS], or ERR_INPUT if the terminal is gone. */
int screen_wait(unsigned milliseconds, char keys[SCREEN_KEYS]);

#endif
