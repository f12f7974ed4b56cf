import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { after, before, it } from 'node:test';
import type { StatusView } from '#cli/status/render.ts';
import { CONFIG_HEALTH, type KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import { writeAddresses } from '#sandbox/demo/addresses.ts';
import { AUTHOR, demoCommits } from '#sandbox/demo/demo-commits.ts';
import { DEMO_NODES } from '#sandbox/demo/demo-nodes.ts';
import { templateFiles } from '#sandbox/demo/template-repository.ts';
import { startSandbox, type Sandbox } from '#sandbox/sandbox.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { runIn } from '../cli/support/run.ts';
import { describeOrSkip } from '../support/describe-or-skip.ts';
import { WITHOUT_GIT } from '../support/required-tools.ts';
import { assertSamePage, replay } from './support/replay.ts';
import { createWorkspace, type Ran, runScript, type Workspace } from './support/ci-run.ts';

const PAGE = 'docs/tutorial.md';
const PATIENCE_MS = 300_000;
const KUBECONFIG = { KUBECONFIG: '.kubelet-gitops/kubeconfig' };

/**
 * What differs from one run to the next: names of commits, ports, how long ago something was, and how often a kubelet that restarts
 * all the time had ended when the agent saw it.
 */
const withoutChance = (text: string): string =>
  text
    .replaceAll(/\b[0-9a-f]{7,40}\b/g, 'COMMIT')
    .replaceAll(/127\.0\.0\.1:\d+/g, 'HOST')
    .replaceAll(/\b(?:\d+(?:ms|h|m|s))+\b/g, 'AGO')
    .replaceAll(/\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?Z?)?/g, 'DATE')
    .replaceAll(/\bended (?:[2-9]|\d{2,}) times\b/g, 'ended N times')
    .replaceAll(/ +/g, ' ')
    .replaceAll(/-{3,}/g, '---');

/**
 * The commit that was pushed is in force, and nothing of what a command prints will change by itself: a pool is settled while its
 * last nodes still soak, and the note of a commit is written later than the statuses of its pools.
 */
function isCalm({ source, pools, nodes }: StatusView, commit: string | undefined): boolean {
  if (source.commit !== commit) return false;
  const isHalted = pools.some(({ status }) => status?.phase === 'Halted');
  // Of a halted commit more may be said at any time; the outcome of any other is recorded once its note stands.
  return (isHalted || source.outcome !== '') && pools.every(isDone) && nodes.every(isAtRest);
}

const isDone = ({ status }: KubeletPool): boolean =>
  status?.phase === 'Halted' || (status?.phase === 'Settled' && status.rollout?.finishedAt !== undefined);

const isAtRest = ({ status }: KubeletNode): boolean =>
  status?.phase === 'Idle' &&
  status.conditions?.every(({ type, status: is }) => type !== CONFIG_HEALTH || is === 'True') === true;

describeOrSkip('the tutorial', { skip: WITHOUT_GIT }, () => {
  const checkout = process.cwd();
  const written = readFileSync(PAGE, 'utf8');
  let world: Sandbox;
  let workspace: Workspace;
  before(async () => {
    world = await startSandbox({ cluster: 'demo', nodes: DEMO_NODES, log: () => silentLog, pollMs: 200 });
    // The tutorial goes on where the demo's story ends.
    for (const { changed, message } of demoCommits(await templateFiles())) {
      await world.git.commit({ files: changed, message, author: AUTHOR });
    }
    const npx = `#!/bin/sh\n[ "$1" = kubelet-gitops ] || exit 2\nshift\nexec node '${resolve('cli/main.ts')}' "$@"\n`;
    workspace = await createWorkspace({ npx });
    await mkdir(join(workspace.directory, 'checkout'));
    await writeAddresses(world, join(workspace.directory, 'checkout/.kubelet-gitops'));
    await workspace.git('clone', '-q', world.git.url, 'my-config');
    process.chdir(join(workspace.directory, 'checkout'));
  });
  after(async () => {
    process.chdir(checkout);
    await world.stop();
    await workspace.remove();
  });

  const script = (command: string): Promise<Ran> =>
    runScript(['bash', '-e'], command, process.cwd(), { ...workspace.env, ...KUBECONFIG });

  /**
   * A call of the program and nothing else is made in this process: to start another one takes longer than most of them. Only
   * `history` is run as a reader runs it.
   */
  function program(command: string): Promise<Ran> | null {
    const [, words] = /^npx kubelet-gitops ((?:"[^"]*"|[\w./:=-]+| )+)$/.exec(command) ?? [];
    if (words === undefined || command.includes('history')) return null;
    const argv = [...words.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
    return runIn(KUBECONFIG, argv).then(({ code, out, err }) => ({ code, out: `${out}${err}` }));
  }

  async function run(command: string): Promise<{ code: number; out: string; err: string }> {
    if (command.startsWith('npx kubelet-gitops status')) {
      await world.until('calm', async (view) => isCalm(view, (await world.git.log(1))[0]?.oid), PATIENCE_MS);
    }
    const { code, out } = await (program(command) ?? script(command));
    assert.ok(code === 0 || (code === 1 && command.startsWith('npx ')), `${command}: exit code ${code}\n${out}`);
    return { code, out, err: '' };
  }

  it('shows what happens (UPDATE_DOCS=1 writes it)', async () => {
    const made = await replay(written, {
      reset: () => Promise.resolve(),
      async patch(file, old, now) {
        const path = join(workspace.directory, 'my-config', file);
        const text = await readFile(path, 'utf8');
        assert.equal(text.split(old).length, 2, `${file} does not have once:\n${old}`);
        await writeFile(
          path,
          text.replace(old, () => now),
        );
      },
      run,
    });
    if (process.env['UPDATE_DOCS'] === '1') await writeFile(join(checkout, PAGE), made);
    else assertSamePage(withoutChance(made), withoutChance(written));
  });
});
