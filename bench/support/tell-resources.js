// Loaded into a process with --import: on SIGUSR2 it writes to a file what keeps its event loop busy.
import { writeFileSync } from 'node:fs';

process.on('SIGUSR2', () => {
  writeFileSync(process.env.RESOURCES_FILE, JSON.stringify(process.getActiveResourcesInfo()));
});
