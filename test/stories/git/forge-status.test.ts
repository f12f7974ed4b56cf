import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { withFields } from '#sandbox/demo/template-repository.ts';
import type { Sandbox } from '#sandbox/sandbox.ts';
import { type ForgeServer, REPOSITORY, startForge } from '../../support/forge-server.ts';
import { quickFiles, startWorld } from '../support.ts';

const POOL = 'pools/general/kubelet.yaml';

describe('a commit on its forge', () => {
  let world: Sandbox;
  let forge: ForgeServer;
  let directory: string;
  let files: Readonly<Record<string, string>>;

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'statuses-'));
    forge = await startForge('github');
    forge.knows = () => true;
    const tokenFile = join(directory, 'token');
    await writeFile(tokenFile, forge.token);
    files = await quickFiles();
    world = await startWorld({
      forge: (gitUrl) => ({
        kind: 'github',
        gitUrl,
        apiUrl: forge.api,
        repository: REPOSITORY,
        tokenFile,
        link: undefined,
        caFile: undefined,
      }),
    });
  });
  after(async () => {
    await world.stop();
    await forge.close();
    await rm(directory, { recursive: true, force: true });
  });

  const is = (commit: string, context: string, state: string) =>
    world.until(`${context} is ${state}`, () => forge.latest(commit).get(context)?.state === state);

  it('turns green when it settled, and red when it breaks a kubelet', async () => {
    const good = await world.git.commit({ files, message: 'Start' });
    await is(good, 'kubelet-gitops/demo/general', 'success');
    await is(good, 'kubelet-gitops/demo', 'success');
    const bad = await world.git.commit({
      files: { [POOL]: withFields(files[POOL] ?? '', { maxPods: 'many' }) },
      message: 'Break it',
    });
    await is(bad, 'kubelet-gitops/demo/general', 'failure');
    assert.match(
      forge.latest(bad).get('kubelet-gitops/demo/general')?.description ?? '',
      /^kept as it was: pools\/general/,
    );
    assert.equal(
      forge.requests.some(({ status }) => status >= 400),
      false,
    );
  });

  it('says nothing twice when the reconciler starts again', async () => {
    const [bad = ''] = (await world.git.log(1)).map(({ oid }) => oid);
    const isSaid = (): boolean => {
      const states = [...forge.latest(bad).values()].map(({ state }) => state);
      return states.length === 4 && !states.includes('pending');
    };
    await world.until('all of it is said', isSaid);
    const before = forge.posted.length;
    const asked = forge.requests.length;
    await world.restartReconciler();
    await world.until('it asked what stands there', () => forge.requests.length > asked);
    const next = await world.git.commit({ files, message: 'Fix it' });
    await is(next, 'kubelet-gitops/demo', 'success');
    const again = forge.posted.slice(before).filter(({ commit }) => commit !== next);
    assert.deepEqual(again, []);
  });
});
