#!/bin/sh
# A batch job for Slurm that measures a program on two ranks, and writes the summary to the job's output.
#
# Usage: sbatch slurm.sh COMMAND [ARG]...
#
#SBATCH --ntasks=2
#SBATCH --cpus-per-task=1
#SBATCH --time=00:10:00
set -eu
export OMP_NUM_THREADS="$SLURM_CPUS_PER_TASK"
directory=hpcrun-lite-job-$SLURM_JOB_ID
srun --cpus-per-task="$SLURM_CPUS_PER_TASK" hpcrun-lite -o "$directory" "$@"
hpcprof-lite "$directory"
