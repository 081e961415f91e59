// C++ with templates, an inlined hot function, and a region in a member function of a template.
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

#include "burn.h"

namespace grid
{

template <typename T> struct Block {
  std::vector<T> values;
  T sum = 0;

  inline __attribute__((always_inline)) T hot_inlined(double seconds)
  {
    return static_cast<T>(burn(seconds));
  }

  NOINLINE T reduce(double seconds)
  {
    T total = 0;
#pragma omp parallel for reduction(+ : total) num_threads(2)
    for (int i = 0; i < 2; i++)
      total += hot_inlined(seconds) + static_cast<T>(values.size());
    return total;
  }
};

} // namespace grid

int main()
{
  grid::Block<float> a{{1, 2, 3}};
  grid::Block<double> b{{1, 2, 3}};
  double sum = 0;
  for (int i = 0; i < 4; i++)
    sum += a.reduce(0.05) + b.reduce(0.1);
  std::printf("%d\n", sum > 0);
  return 0;
}
