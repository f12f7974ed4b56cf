import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { COMMANDS } from '#cli/commands.ts';
import { commandHelp, programHelp } from '#cli/help.ts';
import { parseCommandLine } from '#cli/parse.ts';
import { VALIDATION_FORMATS } from '#cli/validate/render/render.ts';
import { createRepository, layer, pool, type TestRepository } from '../cli/support/repository.ts';
import { run } from '../cli/support/run.ts';
import { assertSamePage, replay } from './support/replay.ts';

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

/** Every path to a value that is neither a map nor a list. */
function pathsIn(value: unknown, prefix = ''): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((item) => pathsIn(item, `${prefix}[]`));
  if (typeof value !== 'object' || value === null) return [prefix];
  return Object.entries(value).flatMap(([key, item]) => pathsIn(item, prefix === '' ? key : `${prefix}.${key}`));
}

const covers = (key: string, path: string): boolean =>
  key === path || (key.endsWith('.*') && path.startsWith(key.slice(0, -1)));

describe('the reference of the command line', () => {
  it('has a section with the help of every command (UPDATE_DOCS=1 writes it)', async () => {
    const made = await replay(written, {
      reset: () => Promise.resolve(),
      patch: () => Promise.reject(new Error('nothing to patch here')),
      run(command) {
        const parsed = parseCommandLine(command.split(' ').slice(1), COMMANDS);
        assert.ok(parsed.line === 'help', command);
        const out = parsed.command === undefined ? programHelp(COMMANDS) : commandHelp(parsed.command);
        return Promise.resolve({ code: 0, out, err: '' });
      },
    });
    if (process.env['UPDATE_DOCS'] === '1') await writeFile(PAGE, made);
    else assertSamePage(made, written);
    for (const { name } of COMMANDS)
      assert.match(sectionOf(name), new RegExp(`^\\$ kubelet-gitops ${name} --help$`, 'm'));
  });

  it('explains every format of validate', () => {
    for (const format of VALIDATION_FORMATS)
      assert.match(sectionOf('validate'), new RegExp(`^\\| \`${format}\` \\|`, 'm'));
  });
});

const node = (name: string, labels: Readonly<Record<string, string>>) => ({
  kind: 'Node',
  metadata: { name, labels },
  status: {
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
    await repository.commit('Start', {
      'clusters/c.yaml': cluster,
      'pools/a/pool.yaml': pool('a', 'a'),
      'pools/a/kubelet.yaml': layer('maxPods: 110', 'featureGates: {CPUManager: true}'),
      'pools/b/pool.yaml': pool('b', 'b'),
      'pools/b/kubelet.yaml': layer('maxPods: 110'),
      'pools/d/pool.yaml': pool('d', 'd'),
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
      ...d,
      'pools/d/kubelet.yaml': layer('maxPods: 110', 'cgroupDriver: systemd'),
    });
    const pods = Array.from({ length: 9 }, () => ({ kind: 'Pod', spec: { nodeName: 'n-b' }, status: {} }));
    const items = [node('n-a', { pool: 'a' }), node('n-b', { pool: 'b' }), node('n-d', { pool: 'd' }), ...pods];
    await writeFile(join(repository.directory, 'nodes.json'), JSON.stringify({ items }));
  });
  after(() => repository.remove());

  /** Runs of one command that together say everything that it can say without a cluster. */
  const RUNS: Readonly<Record<string, readonly (readonly string[])[]>> = {
    validate: [['validate', '$repo', '--kubelet-version', '1.30', '--kubelet-version', '1.34']],
    plan: [
      ['plan', '--repo', '$repo', '--inventory', '$repo/nodes.json', '--base', 'HEAD~4', '--head', 'HEAD~3'],
      ['plan', '--repo', '$repo', '--inventory', '$repo/nodes.json', '--base', 'HEAD~4'],
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
  /** Only with a cluster. */
  const ELSEWHERE: readonly string[] = ['running', 'agent.*', 'inForce'];

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
