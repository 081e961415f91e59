/* A dynamic loader that loads nothing: prints the LD_PRELOAD of the program that it is started for, and ends with
 * status 7.  Built as a library without libc, for x86-64 or (-m32) for i386. */
#ifdef __x86_64__
#define SYSTEM_CALL "syscall"
#define NUMBER_WRITE 1L
#define NUMBER_EXIT 231L
__asm__(".globl _start\n.hidden start\n_start: mov %rsp, %rdi\nand $-16, %rsp\ncall start\n");
#else
#define SYSTEM_CALL "int $0x80"
#define NUMBER_WRITE 4L
#define NUMBER_EXIT 252L
__asm__(".globl _start\n.hidden start\n_start: mov %esp, %eax\nand $-16, %esp\nsub $12, %esp\npush %eax\ncall start\n");
#endif

static long call(long number, long a, long b, long c)
{
  long result;
#ifdef __x86_64__
  __asm__ volatile(SYSTEM_CALL : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
#else
  __asm__ volatile(SYSTEM_CALL : "=a"(result) : "a"(number), "b"(a), "c"(b), "d"(c) : "memory");
#endif
  return result;
}

static long length_of(const char *text)
{
  long length = 0;
  while (text[length])
    length++;
  return length;
}

static void print(const char *text)
{
  call(NUMBER_WRITE, 1, (long)text, length_of(text));
}

__attribute__((visibility("hidden"))) void start(long *stack)
{
  static const char name[] = "LD_PRELOAD=";
  char **environment = (char **)(stack + stack[0] + 2);
  for (; *environment; environment++) {
    long i = 0;
    while (name[i] && (*environment)[i] == name[i])
      i++;
    if (!name[i]) {
      print(*environment + i);
      print("\n");
    }
  }
  print("loaded\n");
  call(NUMBER_EXIT, 7, 0, 0);
}

int loader_version_marker;
