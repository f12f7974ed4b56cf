import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { withFields } from '#sandbox/demo/template-repository.ts';
import type { Sandbox } from '#sandbox/sandbox.ts';
import { pushTo, SECRET, SENDERS } from '../../reconciler/git/webhook/deliveries.ts';
import { quickFiles, settled, startWorld } from '../support.ts';

const AN_HOUR_MS = 60 * 60_000;

describe('a push that the forge tells of', () => {
  let world: Sandbox;
  let directory: string;
  let files: Readonly<Record<string, string>>;

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'webhook-'));
    const webhookSecretFile = join(directory, 'secret');
    await writeFile(webhookSecretFile, SECRET);
    files = await quickFiles();
    // Polling would find a commit in an hour: what is found before that, the webhook has brought.
    world = await startWorld({ pollMs: AN_HOUR_MS, webhookSecretFile });
  });
  after(async () => {
    await world.stop();
    await rm(directory, { recursive: true, force: true });
  });

  async function tell(commit: string, secret = SECRET): Promise<number> {
    const url = await world.webhookUrl();
    assert.ok(url !== null);
    const body = pushTo('main', { after: commit });
    const headers = SENDERS['GitHub']?.(body, secret, Date.now(), commit) ?? {};
    return (await fetch(url, { method: 'POST', headers, body })).status;
  }

  it('is taken up and assigned to the first node, though nobody polls', async (t) => {
    for (const maxPods of [101, 102, 103]) {
      const path = 'pools/general/kubelet.yaml';
      const content = withFields(files[path] ?? '', { maxPods });
      const commit = await world.git.commit({ files: { ...files, [path]: content }, message: `Allow ${maxPods}` });
      const begun = performance.now();
      assert.equal(await tell(commit), 202);
      const answered = performance.now() - begun;
      await world.until(
        'the commit is assigned',
        ({ source, nodes }) => source.commit === commit && nodes[0]?.spec?.commit === commit,
      );
      const assigned = performance.now() - begun;
      // Figures are for information: they depend on the machine.
      t.diagnostic(`answered after ${Math.round(answered)} ms, assigned after ${Math.round(assigned)} ms`);
    }
  });

  it('by somebody who does not know the secret changes nothing', async () => {
    // Notes are pushed to the same server: nothing may be left to say before requests are counted.
    const last = (await world.git.log(1))[0]?.oid ?? '';
    const isTold = async () =>
      (await world.git.readNotes(world.notesRef)).get(last)?.startsWith('demo: settled') === true;
    await world.until('the last commit is settled, and told', (view) => settled(view) && isTold());
    const before = world.git.requests();
    const commit = await world.git.commit({ files: { 'base/other.yaml': '{}\n' }, message: 'Unheard of' });
    assert.equal(await tell(commit, 'not the secret of ours'), 401);
    assert.notEqual((await world.status()).source.commit, commit);
    assert.equal(world.git.requests(), before);
  });
});
