// Two threads that throw and catch exceptions through some frames: the unwinder of the language meets samples.
#include <cstdio>
#include <stdexcept>

static __attribute__((noinline)) int fall(int depth, int i)
{
  if (!depth)
    throw std::runtime_error("bottom");
  return fall(depth - 1, i) + i;
}

int main()
{
  long caught = 0;
#pragma omp parallel for num_threads(2) reduction(+ : caught)
  for (int i = 0; i < 1000000; i++)
    try {
      caught += fall(i % 8, i);
    } catch (const std::runtime_error &error) {
      caught++;
    }
  std::printf("%ld\n", caught);
}
