#define _GNU_SOURCE
#include "hpcrun-lite/launch/control/commander.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "common/safe_file.h"

enum { POLL_MS = 1, REPEAT_MS = 50, PATIENCE_MS = 2000 };

/* The command to one process. */
struct order {
  const struct target *target;
  const char *command;
  struct reply *reply;
  int at; /* the measurement directory */
  int fd; /* of the control file, which is locked; -1: over */
  uint32_t id;
  bool behind;        /* the file has a deferred command, of that id, which has to be carried out first */
  char name[320];     /* of the file */
  unsigned signals;   /* sent */
  uint64_t signalled; /* when, in ms */
  unsigned next_thread;
};

static uint64_t now_ms(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void give_up(struct order *order, const char *why, int error)
{
  order->reply->state = CONTROL_SILENT;
  snprintf(order->reply->text, sizeof order->reply->text, "%s%s%s", why, error ? ": " : "",
           error ? strerror(error) : "");
  if (order->fd >= 0)
    close(order->fd);
  order->fd = -1;
}

static void give_up_ended(struct order *order)
{
  give_up(order, "has ended", 0);
  order->reply->ended = true;
}

/* ---- the file ---- */

/* Makes the file, for the owner of the process, which alone may read it.  Returns 0 or errno. */
static int make_file(struct order *order, uid_t user, gid_t group)
{
  order->fd = openat(order->at, order->name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (order->fd < 0)
    return errno;
  if (user == geteuid() || fchown(order->fd, user, group) == 0)
    return 0;
  safe_file_remove(order->at, order->name, order->fd);
  return EACCES;
}

/* Whether the file, which has no magic, is one that another commander has just made: then it is empty, and may still
 * belong to that one. */
static bool is_new(const struct order *order, uid_t user)
{
  struct stat status;
  if (fstatat(order->at, order->name, &status, AT_SYMLINK_NOFOLLOW) != 0)
    return errno == ENOENT;
  return S_ISREG(status.st_mode) && status.st_nlink == 1 && !status.st_size &&
         (status.st_uid == geteuid() || status.st_uid == user);
}

/* Opens the file of an earlier command.  Returns 0, errno, EAGAIN where that one has just begun or ended, or EPERM: it
 * is not a control file of the process. */
static int open_file(struct order *order, uid_t user)
{
  uint64_t magic = 0;
  order->fd = safe_file_open(order->at, order->name, O_RDWR, user);
  int error = order->fd < 0 ? errno : 0;
  if (!error && pread(order->fd, &magic, sizeof magic, 0) == (ssize_t)sizeof magic && magic == CONTROL_MAGIC)
    return 0;
  if (error && error != EPERM && error != ENOENT)
    return error;
  return is_new(order, user) ? EAGAIN : EPERM;
}

/* Opens and locks the file; another commander may hold it for as long as a command takes.  Returns 0, errno, EBUSY, or
 * EPERM: what has its name is not a control file of the process. */
static int lock_file(struct order *order, uid_t user, gid_t group, uint64_t deadline)
{
  enum { LOOKS = 5 };
  for (unsigned looks = 0;;) {
    int error = make_file(order, user, group);
    if (error == EEXIST)
      error = open_file(order, user);
    looks = error == EPERM ? looks + 1 : 0;
    if (looks && looks < LOOKS) /* another commander may have completed it between two looks at it */
      error = EAGAIN;
    if (!error && flock(order->fd, LOCK_EX | LOCK_NB) == 0 && safe_file_is_open_as(order->at, order->name, order->fd))
      return 0;
    if (order->fd >= 0)
      close(order->fd);
    order->fd = -1;
    if (error && error != EAGAIN)
      return error;
    if (now_ms() >= deadline)
      return error ? EPERM : EBUSY;
    nanosleep(&(struct timespec){.tv_nsec = 10 * 1000 * 1000}, NULL);
  }
}

/* The deferred command that the process has not carried out yet. */
static bool read_waiting(const struct order *order, struct control_command *command)
{
  struct control_answer answer;
  return pread(order->fd, command, sizeof *command, 0) == (ssize_t)sizeof *command && command->magic == CONTROL_MAGIC &&
         command->deferred && control_id(command->id) == command->id && command->length < sizeof command->text &&
         pread(order->fd, &answer, sizeof answer, CONTROL_ANSWER_OFFSET) == (ssize_t)sizeof answer &&
         answer.id != command->id;
}

/* Writes the command; the rest of the file is zero.  Returns 0 or errno. */
static int write_command(const struct order *order, const char *command)
{
  static uint8_t file[CONTROL_FILE_SIZE];
  struct control_command head = {.magic = CONTROL_MAGIC, .id = order->id, .length = (uint32_t)strlen(command)};
  if (head.length >= sizeof head.text)
    return E2BIG;
  memcpy(head.text, command, head.length);
  memset(file, 0, sizeof file);
  memcpy(file, &head, sizeof head);
  errno = ENOSPC; /* where less was written */
  if (fchmod(order->fd, 0600) != 0 || pwrite(order->fd, file, sizeof file, 0) != (ssize_t)sizeof file ||
      ftruncate(order->fd, CONTROL_FILE_SIZE) != 0)
    return errno;
  return 0;
}

static void remove_file(struct order *order)
{
  safe_file_remove(order->at, order->name, order->fd);
  close(order->fd);
  order->fd = -1;
}

static uint32_t new_id(void)
{
  uint32_t id = 0;
  if (getrandom(&id, sizeof id, 0) != (ssize_t)sizeof id)
    id = (uint32_t)now_ms() ^ (uint32_t)getpid() << 16;
  return control_id(id);
}

/* Whether a command has its whole effect without an answer. */
static bool can_be_deferred(const char *command)
{
  return !strcmp(command, "start") || !strcmp(command, "stop") || !strncmp(command, "mark ", strlen("mark "));
}

/* Puts the command into the file, unless another one has to be carried out first. */
static void put_command(struct order *order)
{
  struct control_command waiting;
  struct reply *reply = order->reply;
  bool waits = read_waiting(order, &waiting);
  snprintf(reply->waiting, sizeof reply->waiting, "%.*s", waits ? (int)waiting.length : 0, waiting.text);
  order->behind = waits && !can_be_deferred(order->command);
  order->id = order->behind ? waiting.id : new_id();
  int error = order->behind ? 0 : write_command(order, order->command);
  if (!error)
    return;
  remove_file(order);
  give_up(order, "cannot write its control file", error);
}

/* Why there is no control file. */
static void refuse_file(struct order *order, const struct targets *targets, int error)
{
  char why[sizeof order->reply->text];
  if (error == EBUSY) {
    give_up(order, "another command is under way: repeat this one", 0);
    return;
  }
  snprintf(why, sizeof why, "cannot create its control file '%.2000s/%s'%s", targets->directory, order->name,
           error == EPERM ? ": another file has that name, which is left as it is; remove it" : "");
  give_up(order, why, error == EPERM ? 0 : error);
}

static void begin(struct order *order, const struct targets *targets, uint64_t deadline)
{
  uid_t user;
  gid_t group;
  order->at = targets->at;
  snprintf(order->name, sizeof order->name, CONTROL_PREFIX "%s-%ld", order->target->host, (long)order->target->pid);
  if (!target_owner(order->target->pid, &user, &group)) {
    give_up_ended(order);
    return;
  }
  if (user != targets->owner) {
    give_up(order, "belongs to another user than the launch into that directory", 0);
    return;
  }
  int error = lock_file(order, user, group, deadline);
  if (error)
    refuse_file(order, targets, error);
  else
    put_command(order);
}

/* ---- signals ---- */

/* The next one of the process's threads; 0: none. */
static pid_t next_thread(struct order *order)
{
  char path[64];
  pid_t first = 0, found = 0;
  unsigned number = 0;
  snprintf(path, sizeof path, "/proc/%ld/task", (long)order->target->pid);
  DIR *entries = opendir(path);
  for (struct dirent *entry; entries && !found && (entry = readdir(entries));) {
    pid_t tid = (pid_t)atoi(entry->d_name);
    if (tid > 0 && !first)
      first = tid;
    if (tid > 0 && number++ == order->next_thread)
      found = tid;
  }
  if (entries)
    closedir(entries);
  order->next_thread = found ? order->next_thread + 1 : 1;
  return found ? found : first;
}

/* Signals the process, every other time one of its threads: the process's signal may always meet the same thread, which
 * is busy in the tool or does not take part. */
static bool send_signal(struct order *order)
{
  siginfo_t info = {.si_signo = SIGURG, .si_code = SI_QUEUE};
  pid_t pid = order->target->pid, tid = order->signals++ % 2 ? next_thread(order) : 0;
  info.si_pid = getpid();
  info.si_uid = getuid();
  info.si_value.sival_ptr = (void *)(uintptr_t)control_signal_value(order->id);
  order->signalled = now_ms();
  if (tid && syscall(SYS_rt_tgsigqueueinfo, pid, tid, SIGURG, &info) == 0)
    return true;
  return syscall(SYS_rt_sigqueueinfo, pid, SIGURG, &info) == 0;
}

/* ---- the answer ---- */

static enum control_state read_answer(const struct order *order, struct control_answer *answer)
{
  if (pread(order->fd, answer, sizeof *answer, CONTROL_ANSWER_OFFSET) != (ssize_t)sizeof *answer ||
      answer->id != order->id || answer->length > sizeof answer->text || answer->state > CONTROL_REFUSED)
    return CONTROL_SILENT;
  return (enum control_state)answer->state;
}

static void take_answer(struct order *order, const struct control_answer *answer)
{
  order->reply->state = (enum control_state)answer->state;
  snprintf(order->reply->text, sizeof order->reply->text, "%.*s", (int)answer->length, answer->text);
}

/* Takes the last answer to the command, if it is there.  Returns whether that ends the command. */
static bool take_last(struct order *order)
{
  struct control_answer answer;
  enum control_state state = read_answer(order, &answer);
  if (order->behind || (state != CONTROL_DONE && state != CONTROL_REFUSED))
    return false;
  take_answer(order, &answer);
  remove_file(order);
  return true;
}

/* Looks for the answer and repeats the signal.  Returns whether to go on waiting. */
static bool follow(struct order *order)
{
  struct control_answer answer;
  enum control_state state = read_answer(order, &answer);
  if (order->behind && state != CONTROL_SILENT) {
    put_command(order);
    order->signals = 0;
    return order->fd >= 0;
  }
  if (take_last(order))
    return false;
  if (state == CONTROL_PENDING) {
    take_answer(order, &answer);
    return true;
  }
  bool due = !order->signals || state == CONTROL_AGAIN || now_ms() - order->signalled >= REPEAT_MS;
  if (!due)
    return true;
  bool exists = target_exists(order->target->pid);
  if (exists && send_signal(order))
    return true;
  int error = exists ? errno : ESRCH;
  remove_file(order);
  if (error == ESRCH)
    give_up_ended(order);
  else
    give_up(order, "cannot be signalled", error);
  return false;
}

/* Leaves the command in the file for a process that sleeps.  Returns false if it is over: the process has just woken.
 */
static bool defer(struct order *order)
{
  const uint32_t deferred = 1;
  bool marked = pwrite(order->fd, &deferred, sizeof deferred, offsetof(struct control_command, deferred)) ==
                (ssize_t)sizeof deferred;
  if (take_last(order))
    return false;
  send_signal(order); /* the process may have begun it before it was marked */
  order->reply->deferred = marked;
  return marked;
}

/* The time is up.  A process that cannot hear finds the withdrawn command, and removes the file. */
static void end(struct order *order)
{
  static const char *const why[] = {
      [TARGET_STOPPED] = "does not answer: it is stopped; kill -CONT continues it",
      [TARGET_ASLEEP] = "sleeps in a system call: repeat the command when it runs",
      [TARGET_BLOCKING] = "does not answer within 2 s: SIGURG is blocked, by a system call that libc does not see, or "
                          "while hpcrun-lite is busy in it",
      [TARGET_HEARING] = "does not answer within 2 s: hpcrun-lite is busy in it, does not measure it any more, or the "
                         "program takes SIGURG by sigwait()"};
  struct reply *reply = order->reply;
  unsigned threads;
  if (take_last(order)) /* the answer has come since the last look */
    return;
  if (reply->state == CONTROL_PENDING || !target_exists(order->target->pid)) {
    remove_file(order);
    if (reply->state != CONTROL_PENDING)
      give_up_ended(order);
    return;
  }
  enum target_state state = target_state(order->target->pid, SIGURG, &threads);
  reply->asleep = state == TARGET_ASLEEP ? threads : 0;
  bool defers = reply->asleep && can_be_deferred(order->command);
  if (defers && !defer(order) && order->fd < 0)
    return;
  if (!order->behind && !reply->deferred && write_command(order, CONTROL_WITHDRAWN) != 0)
    remove_file(order);
  give_up(order, why[state], 0);
}

bool commander_send(const struct targets *targets, const char *const *commands, struct reply *replies)
{
  struct order *orders = calloc(targets->count, sizeof *orders);
  uint64_t deadline = now_ms() + PATIENCE_MS;
  if (!orders)
    return false;
  for (size_t i = 0; i < targets->count; i++) {
    orders[i] = (struct order){.target = &targets->items[i], .command = commands[i], .reply = &replies[i], .fd = -1};
    if (!targets->items[i].here || !commands[i])
      continue;
    replies[i] = (struct reply){.state = CONTROL_SILENT};
    begin(&orders[i], targets, deadline);
  }
  deadline = now_ms() + PATIENCE_MS;
  for (bool waiting = true; waiting && now_ms() < deadline;) {
    waiting = false;
    for (size_t i = 0; i < targets->count; i++)
      if (orders[i].fd >= 0)
        waiting |= follow(&orders[i]);
    if (waiting)
      nanosleep(&(struct timespec){.tv_nsec = POLL_MS * 1000 * 1000}, NULL);
  }
  for (size_t i = 0; i < targets->count; i++)
    if (orders[i].fd >= 0)
      end(&orders[i]);
  free(orders);
  return true;
}
