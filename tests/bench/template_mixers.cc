// C++ whose hot code is in templates and inlined calls, below regions and tasks.
#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

namespace
{

template <typename T, unsigned N> struct Mixer {
  static T mix(T value)
  {
    return Mixer<T, N - 1>::mix(value * static_cast<T>(N) + static_cast<T>(1));
  }
};

template <typename T> struct Mixer<T, 0> {
  static T mix(T value)
  {
    return value;
  }
};

template <typename T> std::vector<T> fill(std::size_t size)
{
  std::vector<T> values(size);
#pragma omp parallel for num_threads(2)
  for (std::size_t i = 0; i < size; i++)
    values[i] = Mixer<T, 24>::mix(static_cast<T>(i * 7919 % size));
  return values;
}

template <typename T> void sort(T *begin, T *end)
{
  if (end - begin < 20000) {
    std::sort(begin, end, [](const T &a, const T &b) { return a < b; });
    return;
  }
  T *middle = begin + (end - begin) / 2;
#pragma omp task
  sort(begin, middle);
#pragma omp task
  sort(middle, end);
#pragma omp taskwait
  std::inplace_merge(begin, middle, end);
}

template <typename T> T run(std::size_t size)
{
  auto values = fill<T>(size);
#pragma omp parallel num_threads(2)
#pragma omp single
  sort(values.data(), values.data() + values.size());
  std::map<T, std::string> names;
  for (std::size_t i = 0; i < size; i += 50)
    names.emplace(values[i], std::to_string(i));
  return names.begin()->first;
}

} // namespace

int main()
{
  unsigned long sum = 0;
  for (int i = 0; i < 3; i++)
    sum += run<unsigned>(1000000) + static_cast<unsigned long>(run<double>(1000000)) + run<unsigned long>(1000000);
  std::printf("%d\n", sum > 1);
  return 0;
}
