/* Constructs in templates, lambdas, member functions and constructors, see place_forms.py: every line that ends in
 * "@ KIND" has a construct of that kind. */
#include "burn.h"

#include <vector>

static int place_sink;

static inline void spend(int amount)
{
  burn(0.002);
#pragma omp atomic
  place_sink += amount;
}

namespace grid
{
template <typename Number> struct Block {
  std::vector<Number> cells;

  explicit Block(int count) : cells(count)
  {
#pragma omp parallel for schedule(dynamic, 2) // @ parallel for
    for (int i = 0; i < count; i++) {
      spend(i);
      cells[i] = Number(i);
    }
  }

  Number sum() const
  {
    Number total = 0;
#pragma omp parallel reduction(+ : total) // @ parallel
    {
#pragma omp for schedule(dynamic, 2) // @ for
      for (std::size_t i = 0; i < cells.size(); i++) {
        spend(1);
        total += cells[i];
      }
#pragma omp critical // @ critical
      spend(2);
    }
    return total;
  }

  template <typename Action> void each(Action action)
  {
#pragma omp parallel // @ parallel
#pragma omp single // @ single
    for (std::size_t i = 0; i < cells.size(); i++) {
#pragma omp task firstprivate(i) // @ task
      action(cells[i]);
    }
  }

  ~Block()
  {
#pragma omp parallel // @ parallel
    spend(3);
  }
};
} // namespace grid

template <typename Number> static int tree(int depth)
{
  int left = 0, right = 0;
  if (depth == 0) {
    spend(int(sizeof(Number)));
    return 1;
  }
#pragma omp task shared(left) // @ task
  left = tree<Number>(depth - 1);
#pragma omp task shared(right) // @ task
  right = tree<Number>(depth - 1);
#pragma omp taskwait // @ taskwait
  return left + right;
}

int main()
{
  grid::Block<int> whole(6);
  grid::Block<double> real(6);
  double sum = real.sum() + whole.sum();
  whole.each([](int cell) { spend(cell); });
  real.each([&](double cell) {
    spend(int(cell));
#pragma omp task // @ task
    spend(5);
  });
  auto region = [&](int count) {
#pragma omp parallel // @ parallel
    {
      spend(count);
#pragma omp barrier // @ barrier
      spend(count + 1);
    }
  };
  region(1);
  region(2);
#pragma omp parallel // @ parallel
#pragma omp single // @ single
  {
    tree<int>(2);
    tree<double>(2);
#pragma omp taskloop grainsize(1) // @ taskloop
    for (int i = 0; i < 3; i++)
      spend(i);
  }
  return sum == 30 ? 0 : 1;
}
