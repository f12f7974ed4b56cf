import { spawnSync } from 'node:child_process';
import { globSync, readdirSync } from 'node:fs';
import { parseArgs } from 'node:util';

/**
 * Runs what needs a real cluster: `node scripts/test-cluster.ts [--kubernetes MINOR]`. Without a minor everything runs on 1.20, where
 * there is a real kubelet, and what asks only a real API server (`test/cluster/api-server`) on the newest minor as well, with what older ones do not have
 * (`test/cluster/since-1.30`).
 */
const { values } = parseArgs({ options: { kubernetes: { type: 'string' } } });
const OLDEST = '1.20';
const BUILT = readdirSync('test/support/go-programs')
  .flatMap((name) => /^kubernetes-(1\.\d+)$/.exec(name)?.[1] ?? [])
  .toSorted((one, other) => Number(one.slice(2)) - Number(other.slice(2)));
const API_SERVER = 'test/cluster/api-server/*.test.ts';

function test(kubernetes: string): boolean {
  const others = kubernetes === OLDEST ? 'test/cluster/*.test.ts' : 'test/cluster/since-1.30/*.test.ts';
  const files = globSync([others, API_SERVER]).toSorted();
  console.log(`\nKubernetes ${kubernetes}: ${files.length} files of tests`);
  const args = ['--test', '--test-concurrency=1', '--test-reporter=spec', ...files];
  return (
    spawnSync(process.execPath, args, { stdio: 'inherit', env: { ...process.env, KUBERNETES: kubernetes } }).status ===
    0
  );
}

const minors = values.kubernetes === undefined ? [OLDEST, ...BUILT.slice(-1)] : [values.kubernetes];
const unknown = minors.find((minor) => minor !== OLDEST && !BUILT.includes(minor));
if (unknown === undefined) {
  // One that fails does not keep the other from running.
  const passed = minors.map(test);
  process.exitCode = passed.every(Boolean) ? 0 : 1;
} else {
  console.error(`--kubernetes ${unknown}: there is no recipe for it, but for ${[OLDEST, ...BUILT].join(', ')}`);
  process.exitCode = 2;
}
