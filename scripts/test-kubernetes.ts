import { spawnSync } from 'node:child_process';
import { globSync, readdirSync } from 'node:fs';
import { parseArgs } from 'node:util';

/**
 * Runs what needs real programs of Kubernetes: `node scripts/test-kubernetes.ts cluster|node|machines [--kubernetes MINOR] [--all]`. Without a minor
 * everything runs on the oldest that is supported, and on the newest as well what could be otherwise there: in `cluster` what asks only a
 * real API server (`api-server`) with what older ones do not have (`since-1.30`), in `node` the whole life of a node, and
 * configs that it starts with (`newest`), all of them with `--all`. `machines` runs on the newest alone, and with `--all` what is too slow to
 * run in CI as well.
 */
const OLDEST = '1.20';
const SUITES: Readonly<Record<string, (isOldest: boolean, isAll: boolean) => readonly string[]>> = {
  cluster: (isOldest) => [
    isOldest ? 'test/cluster/*.test.ts' : 'test/cluster/since-1.30/*.test.ts',
    'test/cluster/api-server/*.test.ts',
  ],
  node: (isOldest) =>
    isOldest ? ['test/node/*.test.ts'] : ['test/node/real-node.test.ts', 'test/node/newest/*.test.ts'],
  machines: (_, isAll) => ['test/machines/*.test.ts', ...(isAll ? ['test/machines/all/*.test.ts'] : [])],
};
const BUILT = readdirSync('test/support/go-programs')
  .flatMap((name) => /^kubernetes-(1\.\d+)$/.exec(name)?.[1] ?? [])
  .toSorted((one, other) => Number(one.slice(2)) - Number(other.slice(2)));

const {
  values,
  positionals: [suite = ''],
} = parseArgs({
  options: { kubernetes: { type: 'string' }, all: { type: 'boolean', default: false } },
  allowPositionals: true,
});

function test(kubernetes: string): boolean {
  const files = globSync([...(SUITES[suite]?.(kubernetes === OLDEST, values.all) ?? [])]).toSorted();
  console.log(`\nKubernetes ${kubernetes}: ${files.length} ${files.length === 1 ? 'file' : 'files'} of tests`);
  const args = ['--test', '--test-concurrency=1', '--test-reporter=spec', ...files];
  const env = { ...process.env, KUBERNETES: kubernetes, ...(values.all ? { EVERY_POINT: '1' } : {}) };
  return spawnSync(process.execPath, args, { stdio: 'inherit', env }).status === 0;
}

const usual = suite === 'machines' ? BUILT.slice(-1) : [OLDEST, ...BUILT.slice(-1)];
const minors = values.kubernetes === undefined ? usual : [values.kubernetes];
const unknown = minors.find((minor) => minor !== OLDEST && !BUILT.includes(minor));
if (SUITES[suite] === undefined) {
  console.error(`usage: test-kubernetes.ts ${Object.keys(SUITES).join('|')} [--kubernetes MINOR] [--all]`);
  process.exitCode = 2;
} else if (unknown === undefined) {
  // One that fails does not keep the other from running.
  const passed = minors.map(test);
  process.exitCode = passed.every(Boolean) ? 0 : 1;
} else {
  console.error(`--kubernetes ${unknown}: there is no recipe for it, but for ${[OLDEST, ...BUILT].join(', ')}`);
  process.exitCode = 2;
}
