/* A library whose thread-local storage of STORAGE bytes must be in the static block. */
static __thread volatile char storage[STORAGE] __attribute__((tls_model("initial-exec")));

int storage_last(void)
{
  return storage[STORAGE - 1];
}
