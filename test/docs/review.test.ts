import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { templateFiles } from '#sandbox/demo/template-repository.ts';
import { createRepository, type TestRepository } from '../cli/support/repository.ts';
import { run } from '../cli/support/run.ts';
import { assertSamePage, replay } from './support/replay.ts';

const PAGE = 'docs/review.md';

const node = (name: string, labels: Readonly<Record<string, string>>, zone: string) => ({
  kind: 'Node',
  metadata: { name, labels: { ...labels, 'topology.kubernetes.io/zone': zone } },
  status: {
    nodeInfo: { kubeletVersion: 'v1.34.2' },
    capacity: { cpu: '8', memory: '32Gi', pods: '110', 'ephemeral-storage': '100Gi' },
    allocatable: { cpu: '7800m', memory: '31Gi', pods: '110', 'ephemeral-storage': '88Gi' },
    conditions: [{ type: 'Ready', status: 'True' }],
  },
});
const worker = { 'node-role.kubernetes.io/worker': '' };
const gpu = { ...worker, accelerator: 'nvidia' };
const NODES = [
  node('worker-1', worker, 'a'),
  node('worker-2', worker, 'a'),
  node('worker-3', worker, 'b'),
  node('gpu-1', gpu, 'a'),
  node('gpu-2', gpu, 'b'),
  node('cp-1', { 'node-role.kubernetes.io/control-plane': '' }, 'a'),
  ...[52, 31, 18].flatMap((count, index) =>
    Array.from({ length: count }, () => ({
      kind: 'Pod',
      spec: { nodeName: `worker-${index + 1}` },
      status: { phase: 'Running' },
    })),
  ),
];

/** Commits are named by their content: any change of the template changes these, and nothing else in the page. */
const withoutCommits = (text: string): string => text.replaceAll(/\b[0-9a-f]{12}\b/g, 'COMMIT');

describe('the page about reviewing', () => {
  const checkout = process.cwd();
  const written = readFileSync(PAGE, 'utf8');
  let repository: TestRepository;
  let files: Readonly<Record<string, string>>;
  before(async () => {
    const kept = { trial: '10m', startTimeout: '2m', soak: '2m' };
    files = await templateFiles(kept);
    repository = await createRepository();
    await repository.commit('Start from the template', files);
    await writeFile(join(repository.directory, 'nodes.json'), JSON.stringify({ items: NODES }));
    process.chdir(repository.directory);
  });
  after(async () => {
    process.chdir(checkout);
    await repository.remove();
  });

  it('shows what the commands print (UPDATE_DOCS=1 writes it)', async () => {
    const made = await replay(written, {
      reset: () => repository.write(files),
      async patch(file, old, now) {
        const path = join(repository.directory, file);
        const text = await readFile(path, 'utf8');
        assert.equal(text.split(old).length, 2, `${file} does not have once:\n${old}`);
        await writeFile(
          path,
          text.replace(old, () => now),
        );
      },
      async run(command) {
        const [program, ...argv] = command.split(' ');
        assert.equal(program, 'kubelet-gitops');
        return run(...argv);
      },
    });
    if (process.env['UPDATE_DOCS'] === '1') await writeFile(join(checkout, PAGE), made);
    else assertSamePage(withoutCommits(made), withoutCommits(written));
  });
});
