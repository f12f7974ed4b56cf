import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { COMMANDS } from '#cli/commands.ts';
import { VALIDATION_FORMATS } from '#cli/validate/render/render.ts';
import { createRepository, layer, pool, type TestRepository } from '../cli/support/repository.ts';
import { run } from '../cli/support/run.ts';

const PAGE = 'docs/reference/cli.md';
const written = readFileSync(PAGE, 'utf8');

const sectionOf = (command: string): string =>
  written.split(/^## /m).find((section) => section.startsWith(`${command}\n`)) ?? '';

/** Keys in the first column of the table of `-o json`. */
function keysFor(command: string): readonly string[] {
  const table = sectionOf(command).split('| key of `-o json` |')[1] ?? '';
  const cells = [...table.matchAll(/^\| (`[^|]+`) \|/gm)].map(([, cell = '']) => cell);
  return cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, key = '']) => key));
}

/** The table of commands: what each is for and, where they are special, its exit codes. */
const ROWS = /(?<=^## Commands\n[\s\S]*?^\| --- \| --- \| --- \|\n)(?:\|.*\n)+/m;
const [table = ''] = ROWS.exec(written) ?? [];
const exitCodes: ReadonlyMap<string, string> = new Map(
  [...table.matchAll(/^\| `([a-z-]+)` \| .* \|(.*)\|$/gm)].map(([, name = '', codes = '']) => [name, codes.trim()]),
);

/** Every path to a value that is neither a map nor a list. */
function pathsIn(value: unknown, prefix = ''): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((item) => pathsIn(item, `${prefix}[]`));
  if (typeof value !== 'object' || value === null) return [prefix];
  return Object.entries(value).flatMap(([key, item]) => pathsIn(item, prefix === '' ? key : `${prefix}.${key}`));
}

const covers = (key: string, path: string): boolean =>
  key === path || (key.endsWith('.*') && path.startsWith(key.slice(0, -1)));

describe('the reference of the command line', () => {
  it('has a row for every command, with the words of its help, and no others (UPDATE_DOCS=1 writes them)', async () => {
    assert.notEqual(table, '');
    const rows = COMMANDS.map(({ name, summary }) => `| \`${name}\` | ${summary} | ${exitCodes.get(name) ?? ''} |`);
    const made = rows.map((row) => `${row.replace(/ {2}\|$/, ' |')}\n`).join('');
    if (process.env['UPDATE_DOCS'] === '1')
      await writeFile(
        PAGE,
        written.replace(ROWS, () => made),
      );
    else assert.equal(table, made);
    const sections = [...written.matchAll(/^## (.+)$/gm)].map(([, heading = '']) => heading);
    const others = sections.filter((heading) => !COMMANDS.some(({ name }) => name === heading));
    assert.deepEqual(others, ['Commands']);
  });

  it('says in the row of a command how its exit codes are special, where its help does', () => {
    const special = COMMANDS.filter(({ about }) => /\bexit code/i.test(about.join(' '))).map(({ name }) => name);
    assert.ok(special.length > 5, special.join(', '));
    for (const name of special) assert.match(exitCodes.get(name) ?? '', /\d: |always \d/, name);
  });

  it('explains every format of validate', () => {
    for (const format of VALIDATION_FORMATS)
      assert.match(sectionOf('validate'), new RegExp(`^\`-o\`: .*\`${format}\``, 'm'));
  });
});

const node = (name: string, labels: Readonly<Record<string, string>>) => ({
  kind: 'Node',
  metadata: { name, labels },
  status: {
    conditions: [{ type: 'Ready', status: 'True' }],
    nodeInfo: { kubeletVersion: 'v1.33.0' },
    capacity: { cpu: '4', pods: '110' },
    allocatable: { cpu: '4', pods: '110' },
  },
});

const absent = (files: Readonly<Record<string, string>>): Readonly<Record<string, null>> =>
  Object.fromEntries(Object.keys(files).map((path) => [path, null]));

describe('the JSON of the commands', () => {
  let repository: TestRepository;
  before(async () => {
    repository = await createRepository();
    const cluster = 'apiVersion: kubelet-gitops.dev/v1alpha1\nkind: ClusterConfig\nspec: {maxUnassign: 0}\n';
    const listed = (versions: string): string => cluster.replace('}', `, kubeletVersions: [${versions}]}`);
    const z = { 'pools/z/pool.yaml': pool('z', 'z'), 'pools/z/kubelet.yaml': layer('eventRecordQPS: 0') };
    await repository.commit('Versions', { ...z, 'clusters/c.yaml': listed('"1.34"') });
    await repository.commit('The next one', { 'clusters/c.yaml': listed('"1.34", "1.35"') });
    await repository.commit('Start', {
      ...absent(z),
      'clusters/c.yaml': cluster,
      'pools/a/pool.yaml': pool('a', 'a'),
      'pools/a/kubelet.yaml': layer('maxPods: 110', 'featureGates: {CPUManager: true}'),
      'pools/b/pool.yaml': pool('b', 'b'),
      'pools/b/kubelet.yaml': layer('maxPods: 110'),
      'pools/d/pool.yaml': pool('d', 'd', 'rollout: {maxUnavailable: 2}'),
      'pools/d/kubelet.yaml': layer('maxPods: 110'),
    });
    await repository.commit('Change', {
      'pools/a/pool.yaml': pool('a', 'a', 'priority: 1'),
      'pools/a/kubelet.yaml': layer(
        'maxPods: 0100',
        'featureGates: {CPUManager: true}',
        'podsPerCore: 5',
        'maxPodz: 1',
      ),
      'pools/b/kubelet.yaml': layer('maxPods: 4', 'featureGates: {CPUManager: true}', 'cpuManagerPolicy: none'),
      'pools/d/pool.yaml': pool('d', 'b'),
      'pools/d/kubelet.yaml': layer('maxPods: 110', 'cgroupDriver: systemd'),
      'clusters/c.yaml': cluster.replace('}', ', suspend: true}'),
    });
    await repository.commit('Settle the conflict', { 'pools/d/pool.yaml': pool('d', 'd') });
    const d = { 'pools/d/pool.yaml': pool('d', 'd'), 'pools/d/kubelet.yaml': layer('maxPods: 110') };
    const e = { 'pools/e/pool.yaml': pool('e', 'd'), 'pools/e/kubelet.yaml': layer('maxPods: 110') };
    const a = layer('maxPods: 100', 'featureGates: {CPUManager: true}');
    await repository.commit('Fix a, rename d', { 'pools/a/kubelet.yaml': a, ...absent(d), ...e });
    await repository.commit('As before', {
      'pools/a/kubelet.yaml': layer('maxPods: 100', 'featureGates: {CPUManager: true}', 'maxPodz: 1'),
      ...absent(e),
      'pools/d/pool.yaml': pool('d', 'd', 'rollout: {maxUnavailable: 2, onFailure: {threshold: 2}}'),
      'pools/d/kubelet.yaml': layer('maxPods: 110', 'cgroupDriver: systemd', 'featureGates: {NodeSwap: true}'),
    });
    const pods = Array.from({ length: 9 }, () => ({ kind: 'Pod', spec: { nodeName: 'n-b' }, status: {} }));
    const away = { ...node('n-c', { pool: 'd' }), spec: { unschedulable: true } };
    const fargate = node('n-f', { pool: 'b', 'eks.amazonaws.com/compute-type': 'fargate' });
    const own = [node('n-a', { pool: 'a' }), node('n-b', { pool: 'b' }), node('n-d', { pool: 'd' })];
    const items = [...own, away, fargate, ...pods];
    await writeFile(join(repository.directory, 'nodes.json'), JSON.stringify({ items }));
    // The last version with the gate that the pools set.
    const nodeInfo = { kubeletVersion: 'v1.32.0' };
    const ready = own.map((each) => ({ ...each, status: { ...each.status, nodeInfo } }));
    await writeFile(join(repository.directory, 'ready.json'), JSON.stringify({ items: ready }));
    await writeFile(join(repository.directory, 'full.json'), JSON.stringify({ items: [...ready, ...pods] }));
  });
  after(() => repository.remove());

  /** Runs of one command that together say everything that it can say without a cluster. */
  const RUNS: Readonly<Record<string, readonly (readonly string[])[]>> = {
    validate: [['validate', '$repo', '--kubelet-version', '1.30', '--kubelet-version', '1.34']],
    plan: [
      ['plan', '--repo', '$repo', '--base', 'HEAD~6', '--head', 'HEAD~5'],
      ['plan', '--repo', '$repo', '--inventory', '$repo/nodes.json', '--base', 'HEAD~4', '--head', 'HEAD~3'],
      ['plan', '--repo', '$repo', '--inventory', '$repo/nodes.json', '--base', 'HEAD~4'],
      ['plan', '--repo', '$repo', '--inventory', '$repo/ready.json', '--base', 'HEAD~4', '--head', 'HEAD~3'],
      ['plan', '--repo', '$repo', '--inventory', '$repo/ready.json', '--base', 'HEAD~4'],
      ['plan', '--repo', '$repo', '--inventory', '$repo/full.json', '--base', 'HEAD~4'],
      ['plan', '--repo', '$repo', '--inventory', '$repo/nodes.json', '--base', 'HEAD~3', '--head', 'HEAD~2'],
      ['plan', '--repo', '$repo', '--inventory', '$repo/nodes.json', '--base', 'HEAD~2', '--head', 'HEAD~1'],
    ],
    render: [['render', 'n-b', '--repo', '$repo', '--inventory', '$repo/nodes.json']],
    why: [
      ['why', 'n-b', 'maxPods', '--repo', '$repo', '--revision', 'HEAD~4', '--inventory', '$repo/nodes.json'],
      ['why', 'n-b', 'maxPods', '--repo', '$repo', '--inventory', '$repo/nodes.json'],
    ],
    foresight: [['foresight', '$repo', '--kubelet-version', '1.32']],
  };
  /** Only with a cluster, or with the notes of one. */
  const ELSEWHERE: readonly string[] = [
    'running',
    'agent.*',
    'inForce',
    'counterparts.*',
    'flags[].flag',
    'flags[].to',
    'flags[].nodes',
    'flagsUnseen',
  ];

  for (const [command, runs] of Object.entries(RUNS)) {
    it(`${command}: has the keys that the reference lists, and no others`, async () => {
      const said = await Promise.all(
        runs.map(async (argv) => {
          const ran = await run(...argv.map((word) => word.replace('$repo', repository.directory)), '-o', 'json');
          assert.notEqual(ran.code, 2, ran.err);
          return pathsIn(JSON.parse(ran.out));
        }),
      );
      const paths = [...new Set(said.flat())];
      const keys = keysFor(command);
      const missing = paths.filter((path) => !keys.some((key) => covers(key, path)));
      assert.deepEqual(missing, [], 'not in the reference');
      const unused = keys.filter((key) => !ELSEWHERE.includes(key) && !paths.some((path) => covers(key, path)));
      assert.deepEqual(unused, [], 'in the reference and nowhere else');
    });
  }
});
