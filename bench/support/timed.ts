/** Milliseconds of this thread's CPU: others work on the machine as well. */
export function timed(act: () => unknown): number {
  const before = process.threadCpuUsage();
  act();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}
