// Loaded into a process with --import: at its end it writes to a file how much CPU time it used and the most memory that it had in RAM
// since its start (VmHWM, proc(5)); `ru_maxrss` would count what its parent had as well.
import { readFileSync, writeFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

if (isMainThread) {
  process.on('exit', () => {
    const { user, system } = process.cpuUsage();
    const peakKiB = Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]);
    writeFileSync(process.env.USE_FILE, JSON.stringify({ cpuMs: (user + system) / 1000, peakMiB: peakKiB / 1024 }));
  });
}
