/* The second half of awkward_waits.c: queues, children, threads, asynchronous input. */

/* ---- System V and POSIX queues and semaphores ---- */

struct message {
  long type;
  char text[1024];
};

static int queue = -1, semaphores = -1;
static mqd_t posix_queue;

static void make_ipc(void)
{
  queue = msgget(IPC_PRIVATE, 0600);
  semaphores = semget(IPC_PRIVATE, 1, 0600);
  struct mq_attr attributes = {.mq_maxmsg = 1, .mq_msgsize = 8};
  snprintf(path, sizeof path, "/awkward-%d", (int)getpid());
  posix_queue = mq_open(path, O_RDWR | O_CREAT, 0600, &attributes);
  mq_unlink(path);
  if (queue < 0 || semaphores < 0)
    exit(3);
}

static void remove_ipc(void)
{
  msgctl(queue, IPC_RMID, NULL);
  semctl(semaphores, 0, IPC_RMID);
}

static bool receive(void)
{
  struct message message;
  return msgrcv(queue, &message, sizeof message.text, 0, 0) >= 0;
}

static bool send_until_full(void)
{
  struct message message = {.type = 1};
  while (msgsnd(queue, &message, sizeof message.text, IPC_NOWAIT) == 0)
    ;
  return msgsnd(queue, &message, sizeof message.text, 0) == 0;
}

static void send_message(void) { msgsnd(queue, &(struct message){.type = 1}, 1, 0); }
static void take_message(void) { receive(); }

static void post(void)
{
  struct sembuf up = {0, 1, 0};
  semop(semaphores, &up, 1);
}

static bool by_semop(void) { return semop(semaphores, &(struct sembuf){0, -1, 0}, 1) == 0; }
static bool by_semtimedop(void) { return fails_with(semtimedop(semaphores, &(struct sembuf){0, -1, 0}, 1, &little), EAGAIN); }
static bool raw_semtimedop(void) { return fails_with(syscall(SYS_semtimedop, semaphores, &(struct sembuf){0, -1, 0}, 1, &little), EAGAIN); }

static bool by_mq_receive(void)
{
  return posix_queue == (mqd_t)-1 || mq_receive(posix_queue, got, 8, NULL) == 1;
}

static bool by_mq_timedreceive(void)
{
  struct timespec when = soon(CLOCK_REALTIME);
  return posix_queue == (mqd_t)-1 || fails_with(mq_timedreceive(posix_queue, got, 8, NULL, &when), ETIMEDOUT);
}

static void mq_put(void)
{
  if (posix_queue != (mqd_t)-1)
    mq_send(posix_queue, "x", 1, 0);
}

/* ---- children ---- */

static pid_t new_child(void)
{
  fflush(stdout);
  pid_t child = fork();
  if (!child) {
    struct timespec nap = {0, 4000000};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL);
    _exit(6);
  }
  return child;
}

static bool is_six(int status) { return WIFEXITED(status) && WEXITSTATUS(status) == 6; }

static bool by_wait4(void)
{
  int status;
  pid_t child = new_child();
  return wait4(child, &status, 0, NULL) == child && is_six(status);
}

static bool by_waitid(void)
{
  siginfo_t info;
  pid_t child = new_child();
  return waitid(P_PID, (id_t)child, &info, WEXITED) == 0 && info.si_status == 6;
}

static bool by_wait(void)
{
  int status;
  pid_t child = new_child();
  return wait(&status) == child && is_six(status);
}

/* ---- threads ---- */

static sem_t semaphore;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static uint32_t word;

static void post_one(void) { sem_post(&semaphore); }
static bool by_sem_wait(void) { return sem_wait(&semaphore) == 0; }

static bool by_sem_timedwait(void)
{
  struct timespec when = soon(CLOCK_REALTIME);
  return fails_with(sem_timedwait(&semaphore, &when), ETIMEDOUT);
}

static bool by_sem_clockwait(void)
{
  struct timespec when = soon(CLOCK_MONOTONIC);
  return fails_with(sem_clockwait(&semaphore, CLOCK_MONOTONIC, &when), ETIMEDOUT);
}

static bool by_condition(void)
{
  struct timespec when = soon(CLOCK_REALTIME);
  pthread_mutex_lock(&mutex);
  int error;
  while (!(error = pthread_cond_timedwait(&condition, &mutex, &when)))
    ;
  pthread_mutex_unlock(&mutex);
  return error == ETIMEDOUT;
}

static void wake_futex(void)
{
  __atomic_store_n(&word, 1, __ATOMIC_RELEASE);
  syscall(SYS_futex, &word, 129, 1, NULL, NULL, 0);
}

static bool by_futex(void)
{
  long result = syscall(SYS_futex, &word, 128, 0, NULL, NULL, 0);
  __atomic_store_n(&word, 0, __ATOMIC_RELEASE);
  return result == 0 || errno == EAGAIN;
}

static bool by_futex_limited(void) { return fails_with(syscall(SYS_futex, &word, 128, 0, &little, NULL, 0), ETIMEDOUT); }

/* ---- asynchronous input ---- */

static aio_context_t events;

static void make_aio(void)
{
  make_pipe();
  syscall(SYS_io_setup, 8, &events);
}

static bool by_io_getevents(void)
{
  struct io_event event;
  struct timespec time = little;
  return syscall(SYS_io_getevents, events, 1, 1, &event, &time) == 0;
}

static bool by_aio_suspend(void)
{
  static struct aiocb block;
  const struct aiocb *list[] = {&block};
  block = (struct aiocb){.aio_fildes = from[0], .aio_buf = got, .aio_nbytes = 1};
  aio_read(&block);
  bool good = fails_with(aio_suspend(list, 1, &little), EAGAIN);
  put_one();
  while (aio_error(&block) == EINPROGRESS)
    sched_yield();
  return aio_return(&block) == 1 && good;
}
