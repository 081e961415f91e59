#include "hpcprof-lite/live/screen.h"

#include "common/order.h"
#include "common/xalloc.h"
#include "hpcprof-lite/model/model.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

/* The alternate screen, without a cursor, and without wrapping of lines. */
static const char enter[] = "\033[?1049h\033[?25l\033[?7l", leave[] = "\033[0m\033[?7h\033[?25h\033[?1049l";

/* Signals that end the process, also those of crashes. */
static const int ending[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGALRM, SIGABRT, SIGSEGV,
                             SIGBUS, SIGFPE, SIGILL,  SIGTRAP, SIGSYS,  SIGXCPU};

/* What the handlers need.  The main thread writes it, before it installs them. */
static struct termios before;
static sigset_t mask;
static pid_t owner; /* a child that reads symbols inherits the handlers, but not the terminal */
static volatile sig_atomic_t is_open, resized;

/* ---- modes ---- */

/* Writes all of it, unless the terminal is gone. */
static bool put(const char *text, size_t length)
{
  assert(text);
  while (length) {
    ssize_t written = write(STDOUT_FILENO, text, length);
    if (written < 0 && errno == EAGAIN) /* another program has made the terminal non-blocking */
      poll(&(struct pollfd){.fd = STDOUT_FILENO, .events = POLLOUT}, 1, -1);
    else if (written < 0 && errno != EINTR)
      return false;
    else if (written > 0) {
      text += written;
      length -= (size_t)written;
    }
  }
  return true;
}

/* Keys come one by one and are not echoed; those that send signals do so as before. */
static void take_modes(void)
{
  struct termios modes = before;
  modes.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
  modes.c_cc[VMIN] = 0;
  modes.c_cc[VTIME] = 0;
  tcsetattr(STDIN_FILENO, TCSADRAIN, &modes);
  put(enter, sizeof enter - 1);
}

static void give_back(void)
{
  put(leave, sizeof leave - 1);
  tcsetattr(STDIN_FILENO, TCSADRAIN, &before);
}

void screen_abandon(void)
{
  if (is_open && getpid() == owner)
    give_back();
  is_open = 0;
}

static void end(int number)
{
  screen_abandon();
  signal(number, SIG_DFL);
  raise(number); /* it is delivered when the handler returns */
}

/* Whether the terminal belongs to another job, such as the shell that has gone on with this one in the background. */
static bool in_background(void)
{
  pid_t foreground = tcgetpgrp(STDIN_FILENO);
  return foreground > 0 && foreground != getpgrp();
}

/* Goes on only with the terminal, which is the shell's or another job's meanwhile. */
static void stop(int number)
{
  int error = errno;
  (void)number;
  if (getpid() == owner && is_open)
    give_back();
  do
    raise(SIGSTOP);
  while (getpid() == owner && is_open && in_background());
  if (getpid() == owner && is_open)
    take_modes();
  resized = 1;
  errno = error;
}

static void note_size(int number)
{
  (void)number;
  resized = 1;
}

static void install_handlers(void)
{
  struct sigaction action = {.sa_handler = end};
  sigfillset(&action.sa_mask);
  for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
    sigaction(ending[i], &action, NULL);
  action.sa_handler = stop;
  sigaction(SIGTSTP, &action, NULL);
  action.sa_handler = note_size;
  sigaction(SIGWINCH, &action, NULL);
  sigset_t size; /* comes only in screen_wait() */
  sigemptyset(&size);
  sigaddset(&size, SIGWINCH);
  sigprocmask(SIG_BLOCK, &size, &mask);
  sigdelset(&mask, SIGWINCH);
}

/* ---- the screen ---- */

static void find_size(struct screen *screen)
{
  struct winsize size = {0};
  terminal_init(&screen->terminal, stdout);
  ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
  screen->columns = size.ws_col ? size.ws_col : 80;
  screen->rows = size.ws_row ? MIN(size.ws_row, SCREEN_ROWS_MAX) : 24;
}

const char *screen_open(struct screen *screen)
{
  assert(!is_open);
  const char *term = getenv("TERM");
  *screen = (struct screen){.redraw = true};
  if (!isatty(STDOUT_FILENO))
    return "standard output is no terminal: the live view draws on one; for a report of what is measured so far leave "
           "--live out";
  if (!isatty(STDIN_FILENO) || tcgetattr(STDIN_FILENO, &before))
    return "standard input is no terminal, from which the live view takes its keys";
  if (!term || !*term || !strcmp(term, "dumb"))
    return "the terminal cannot move its cursor (TERM is 'dumb' or not set): leave --live out";
  find_size(screen);
  owner = getpid();
  is_open = 1;
  install_handlers();
  take_modes();
  return NULL;
}

void screen_close(struct screen *screen)
{
  if (is_open)
    give_back();
  is_open = 0;
  for (unsigned i = 0; i < SCREEN_ROWS_MAX; i++) {
    free(screen->next[i]);
    free(screen->shown[i]);
  }
  *screen = (struct screen){0};
}

bool screen_changed(struct screen *screen)
{
  if (!resized)
    return false;
  resized = 0;
  find_size(screen);
  screen->redraw = true;
  return true;
}

/* The bytes of the character at *text, and its columns; a sequence for a colour takes none. */
static size_t character(const char *text, unsigned *columns)
{
  wchar_t wide;
  mbstate_t state = {0};
  *columns = 0;
  if (*text == '\033')
    return strcspn(text, "m") + (strchr(text, 'm') != NULL);
  size_t length = mbrtowc(&wide, text, strlen(text), &state);
  *columns = 1;
  if (length == (size_t)-1 || length == (size_t)-2 || !length)
    return 1;
  int width = wcwidth(wide);
  *columns = width > 0 ? (unsigned)width : 1;
  return length;
}

void screen_set(struct screen *screen, unsigned row, const char *text)
{
  assert(row < SCREEN_ROWS_MAX);
  unsigned used = 0, columns;
  size_t length = 0;
  if (row >= screen->rows)
    return;
  while (text[length] && text[length] != '\n') {
    size_t bytes = character(text + length, &columns);
    if (used + columns > screen->columns)
      break;
    used += columns;
    length += bytes;
  }
  free(screen->next[row]);
  screen->next[row] = xstrndup(text, length);
}

/* Whether the line fills the screen's width: then nothing may be erased behind it. */
static bool is_full(const struct screen *screen, const char *text)
{
  unsigned used = 0, columns;
  while (*text) {
    text += character(text, &columns);
    used += columns;
  }
  return used >= screen->columns;
}

int screen_show(struct screen *screen)
{
  char *frame = NULL;
  size_t size = 0;
  FILE *stream = xopen_memstream(&frame, &size);
  if (screen->redraw)
    fputs("\033[0m\033[2J", stream);
  for (unsigned i = 0; i < SCREEN_ROWS_MAX; i++) {
    const char *text = screen->next[i] ? screen->next[i] : "";
    const char *old = screen->shown[i] && !screen->redraw ? screen->shown[i] : "";
    if (i < screen->rows && strcmp(text, old) != 0)
      fprintf(stream, "\033[%u;1H%s\033[0m%s", i + 1, text, is_full(screen, text) ? "" : "\033[K");
    free(screen->shown[i]);
    screen->shown[i] = screen->next[i];
    screen->next[i] = NULL;
  }
  screen->redraw = false;
  xclose(stream, &frame);
  bool shown = put(frame, size);
  free(frame);
  return shown ? 0 : ERR_INPUT;
}

int screen_wait(unsigned milliseconds, char keys[SCREEN_KEYS])
{
  struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
  const struct timespec most = {.tv_sec = milliseconds / 1000, .tv_nsec = milliseconds % 1000 * 1000000L};
  if (resized || ppoll(&input, 1, &most, &mask) <= 0)
    return 0;
  if (!(input.revents & POLLIN))
    return ERR_INPUT;
  ssize_t length = read(STDIN_FILENO, keys, SCREEN_KEYS);
  if (length > 0)
    return (int)length;
  if (length < 0 && (errno == EINTR || errno == EAGAIN))
    return 0;
  return !length && !(input.revents & (POLLHUP | POLLERR)) ? 0 : ERR_INPUT;
}
