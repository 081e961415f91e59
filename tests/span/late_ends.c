/* Many short regions, which end while tasks are pending: workers leave the last barrier while the master ends the
 * region. */
static volatile double kept;

static void work(int n)
{
  double sum = 0;
  for (int i = 0; i < n; i++)
    sum += i * 0.5;
  kept = sum;
}

int main(void)
{
  char x[5] = {0};
  for (int region = 0; region < 40; region++) {
#pragma omp parallel num_threads(8)
    {
#pragma omp for schedule(dynamic, 1) nowait
      for (int i = 0; i < 30; i++)
        for (int j = 0; j < 5; j++) {
#pragma omp task depend(inout : x[j])
          work(1000);
        }
#pragma omp single nowait
      for (int j = 0; j < 50; j++) {
#pragma omp task
        work(1000);
      }
    }
  }
  return x[0];
}
