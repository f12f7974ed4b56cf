import { parseArgs } from 'node:util';
import { type BenchOptions, FULL, QUICK } from './bench-options.ts';
import { renderMeasurements, type Measurement } from './render-measurements.ts';

interface Benchmark {
  readonly measure: (options: BenchOptions) => Promise<readonly Measurement[]>;
}

/** Each takes its own baseline in the same run. All but `git`, `notes`, `validate`, `programs`, `churn`, `commits`, `peak`, `packs`, `fleet`, `page`, `managed-fields`, `planner` and `classes` need root on Debian 12. */
const BENCHMARKS: Readonly<Record<string, () => Promise<Benchmark>>> = {
  git: () => import('./git.bench.ts'),
  notes: () => import('./notes.bench.ts'),
  validate: () => import('./validate.bench.ts'),
  programs: () => import('./programs.bench.ts'),
  kubelet: () => import('./kubelet.bench.ts'),
  'bad-configs': () => import('./bad-configs.bench.ts'),
  systemd: () => import('./systemd.bench.ts'),
  idle: () => import('./idle.bench.ts'),
  churn: () => import('./churn.bench.ts'),
  commits: () => import('./commits.bench.ts'),
  peak: () => import('./peak.bench.ts'),
  packs: () => import('./packs.bench.ts'),
  page: () => import('./page.bench.ts'),
  fleet: () => import('./fleet.bench.ts'),
  'fleet-real': () => import('./fleet-real.bench.ts'),
  scale: () => import('./scale.bench.ts'),
  'managed-fields': () => import('./managed-fields.bench.ts'),
  planner: () => import('./planner.bench.ts'),
  classes: () => import('./classes.bench.ts'),
};

const { positionals, values } = parseArgs({ allowPositionals: true, options: { full: { type: 'boolean' } } });
/** Run only when they are named: on a Kubernetes that has to be built; `scale` takes half an hour. */
const ONLY_NAMED = ['scale', 'managed-fields'];
const chosen =
  positionals.length === 0 ? Object.keys(BENCHMARKS).filter((name) => !ONLY_NAMED.includes(name)) : positionals;
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
