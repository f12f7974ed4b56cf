// Loaded into a process with --import: on SIGUSR2 it collects garbage and writes to a file what memory is in use then.
import { renameSync, writeFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');

process.on('SIGUSR2', async () => {
  // Finalizers and what they free take a turn each.
  for (let turn = 0; turn < 5; turn += 1) {
    collect();
    await new Promise((resolve) => setImmediate(resolve));
  }
  const file = process.env.MEMORY_FILE;
  writeFileSync(`${file}.part`, JSON.stringify(process.memoryUsage()));
  renameSync(`${file}.part`, file);
});
