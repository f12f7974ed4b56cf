import { parseArgs } from 'node:util';
import { renderMeasurements, type Measurement } from './report.ts';

/** Each takes its own baseline in the same run. `kubelet` needs root on Debian 12. */
const BENCHMARKS: Readonly<Record<string, () => Promise<{ readonly measure: () => Promise<readonly Measurement[]> }>>> =
  {
    git: () => import('./git.ts'),
    programs: () => import('./programs.ts'),
    kubelet: () => import('./kubelet.ts'),
  };

const { positionals } = parseArgs({ allowPositionals: true });
const chosen = positionals.length === 0 ? Object.keys(BENCHMARKS) : positionals;
let broken = false;
for (const name of chosen) {
  const load = BENCHMARKS[name];
  if (load === undefined) {
    console.error(`there is no benchmark ${name}: ${Object.keys(BENCHMARKS).join(', ')}`);
    process.exit(2);
  }
  const { measure } = await load();
  const measurements = await measure();
  console.log(`\n${name}\n${renderMeasurements(measurements)}`);
  broken ||= measurements.some(({ promise }) => promise?.kept === false);
}
process.exit(broken ? 1 : 0);
