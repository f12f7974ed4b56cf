import { parseArgs } from 'node:util';
import { type BenchOptions, FULL, QUICK } from './bench-options.ts';
import { renderMeasurements, type Measurement } from './render-measurements.ts';

interface Benchmark {
  readonly measure: (options: BenchOptions) => Promise<readonly Measurement[]>;
}

/** Each takes its own baseline in the same run. All but `git`, `validate`, `churn`, `commits`, `peak`, `heavy-commits`, `fleet`, `planner` and `audit` need root on Debian 12. */
const BENCHMARKS: Readonly<Record<string, () => Promise<Benchmark>>> = {
  git: () => import('./git.bench.ts'),
  validate: () => import('./validate.bench.ts'),
  kubelet: () => import('./kubelet.bench.ts'),
  'bad-configs': () => import('./bad-configs.bench.ts'),
  systemd: () => import('./systemd.bench.ts'),
  idle: () => import('./idle.bench.ts'),
  churn: () => import('./churn.bench.ts'),
  commits: () => import('./commits.bench.ts'),
  peak: () => import('./peak.bench.ts'),
  'heavy-commits': () => import('./heavy-commits.bench.ts'),
  fleet: () => import('./fleet.bench.ts'),
  'fleet-real': () => import('./fleet-real.bench.ts'),
  scale: () => import('./scale.bench.ts'),
  planner: () => import('./planner.bench.ts'),
  audit: () => import('./audit.bench.ts'),
};

const { positionals, values } = parseArgs({ allowPositionals: true, options: { full: { type: 'boolean' } } });
/** Not `scale`, which takes half an hour on a Kubernetes that has to be built. */
const chosen = positionals.length === 0 ? Object.keys(BENCHMARKS).filter((name) => name !== 'scale') : positionals;
const options = values.full === true ? FULL : QUICK;
let broken = false;
for (const name of chosen) {
  const load = BENCHMARKS[name];
  if (load === undefined) {
    console.error(`there is no benchmark ${name}: ${Object.keys(BENCHMARKS).join(', ')}`);
    process.exit(2);
  }
  const { measure } = await load();
  const measurements = await measure(options);
  console.log(`\n${name}\n${renderMeasurements(measurements)}`);
  broken ||= measurements.some(({ promise }) => promise?.kept === false);
}
process.exit(broken ? 1 : 0);
