// Loaded into a process with --import: on SIGUSR2 it writes to a file what keeps its event loop busy.
import { renameSync, writeFileSync } from 'node:fs';

process.on('SIGUSR2', () => {
  const file = process.env.RESOURCES_FILE;
  writeFileSync(`${file}.part`, JSON.stringify(process.getActiveResourcesInfo()));
  renameSync(`${file}.part`, file);
});
