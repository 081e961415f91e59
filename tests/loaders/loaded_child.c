/* Prints its LD_PRELOAD, each occurrence, and ends with status 7. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

int main(void)
{
  for (char **at = environ; *at; at++)
    if (!strncmp(*at, "LD_PRELOAD=", 11))
      printf("%s\n", *at + 11);
  printf("loaded\n");
  return 7;
}
