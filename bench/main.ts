import { parseArgs } from 'node:util';
import { type BenchOptions, FULL, QUICK } from './options.ts';
import { renderMeasurements, type Measurement } from './report.ts';

interface Benchmark {
  readonly measure: (options: BenchOptions) => Promise<readonly Measurement[]>;
}

/** Each takes its own baseline in the same run. All but `git`, `notes`, `validate`, `programs`, `churn`, `commits`, `peak`, `packs`, `fleet`, `page`, `managed-fields`, `planner` and `classes` need root on Debian 12. */
const BENCHMARKS: Readonly<Record<string, () => Promise<Benchmark>>> = {
  git: () => import('./git.ts'),
  notes: () => import('./notes.ts'),
  validate: () => import('./validate.ts'),
  programs: () => import('./programs.ts'),
  kubelet: () => import('./kubelet.ts'),
  'bad-configs': () => import('./bad-configs.ts'),
  systemd: () => import('./systemd.ts'),
  idle: () => import('./idle.ts'),
  churn: () => import('./churn.ts'),
  commits: () => import('./commits.ts'),
  peak: () => import('./peak.ts'),
  packs: () => import('./packs.ts'),
  page: () => import('./page.ts'),
  fleet: () => import('./fleet.ts'),
  'fleet-real': () => import('./fleet-real.ts'),
  scale: () => import('./scale.ts'),
  'managed-fields': () => import('./managed-fields.ts'),
  planner: () => import('./planner.ts'),
  classes: () => import('./classes.ts'),
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
