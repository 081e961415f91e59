/* The categories of threads' time: names, and colours that are the same in every tab (page.css). */

export const categories = [
  { key: "work", title: "Work", colour: "--work" },
  { key: "overhead", title: "Overhead", colour: "--overhead" },
  { key: "lock_wait", title: "Lock wait", colour: "--lock-wait" },
  { key: "idle", title: "Idle", colour: "--idle" },
];

/* Those that are shown where there is any such time. */
export const otherStates = [
  { key: "mpi", title: "MPI", colour: "--mpi" },
  { key: "device", title: "Waiting for a device", colour: "--device" },
  { key: "blocked", title: "Blocked in calls", colour: "--blocked" },
  { key: "core_wait", title: "Ready without a core", colour: "--core-wait" },
  { key: "waiting_no_core", title: "Waiting for a thread without a core", colour: "--no-core" },
  { key: "tool", title: "This tool", colour: "--tool" },
  { key: "gap", title: "Not recorded", colour: "--gap" },
];
