import { waitForLock } from '#agent/lock.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { silentLog } from '#shared/runtime/log.ts';

// An agent as far as its lock goes: waits for the one named, says that it has it, and holds it until it is killed.
const lock = await waitForLock(process.argv[2] ?? '', systemClock, silentLog, new AbortController().signal);
process.stdout.write(lock === null ? 'none\n' : 'held\n');
setInterval(() => undefined, 1_000_000);
