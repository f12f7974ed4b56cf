import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { it } from 'node:test';
import { writeAddresses } from '#sandbox/demo/addresses.ts';
import { DEMO_NODES } from '#sandbox/demo/demo-nodes.ts';
import { startSandbox } from '#sandbox/sandbox.ts';
import { NODES } from '#shared/kube/kube.ts';
import { memberOf } from '#sandbox/api-server/stored-object.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { describeOrSkip } from '../support/describe-or-skip.ts';
import { fencedBlocks } from '../support/fenced-blocks.ts';
import { WITHOUT_GIT } from '../support/required-tools.ts';
import { until } from '../support/until.ts';
import { createWorkspace, runScript } from './support/ci-run.ts';

describeOrSkip('the way into a config repository on the page about installing', { skip: WITHOUT_GIT }, () => {
  it('leads to pools that change nothing, by the commands as they stand', async (t) => {
    const world = await startSandbox({ cluster: 'demo', nodes: DEMO_NODES, log: () => silentLog, pollMs: 1_000 });
    t.after(() => world.stop());
    const program = `#!/bin/sh\nexec node '${resolve('cli/main.ts')}' "$@"\n`;
    const workspace = await createWorkspace({ 'kubelet-gitops': program });
    t.after(() => workspace.remove());
    await writeAddresses(world, workspace.directory);
    const env = { ...workspace.env, KUBECONFIG: join(workspace.directory, 'kubeconfig') };
    const portOf = (name: string): unknown => memberOf(world.api.store.get(NODES, name), 'status', 'daemonEndpoints');
    await until('all are ready', () => DEMO_NODES.every(({ name }) => portOf(name) !== undefined));
    const blocks = fencedBlocks('docs/install.md', 'sh').filter((text) =>
      /^kubelet-gitops (?:import|plan)/m.test(text),
    );
    assert.equal(blocks.length, 2);
    const shown: string[] = [];
    for (const block of blocks) {
      const { code, out } = await runScript(['bash', '-e'], block, workspace.directory, env);
      assert.equal(code, 0, `${block}\n${out}`);
      shown.push(out);
    }
    const [made = '', planned = ''] = shown;
    assert.match(made, /^pool worker: 5 nodes$/m);
    assert.match(made, /^\d pools: nothing found$/m);
    assert.match(planned, /^From nothing to HEAD .*\n\nNothing changes\.$/m);
    const owners = await readFile(join(workspace.directory, 'kubelet-config/CODEOWNERS'), 'utf8');
    assert.match(owners, /^\/pools\/control-plane\/ /m);
  });
});
