import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { withFields } from '#sandbox/demo/template-repository.ts';
import { silentLog, type Log } from '#shared/runtime/log.ts';
import { WITHOUT_GIT, WITHOUT_SSH } from '../../reconciler/git/trust/signing.ts';
import { describeOrSkip } from '../../support/describe-or-skip.ts';
import { type SignedWorld, startSignedWorld } from '../signed-world.ts';

const POOL = 'pools/general/kubelet.yaml';

describeOrSkip('a cluster that wants signed commits', { skip: WITHOUT_GIT || WITHOUT_SSH }, () => {
  let signed: SignedWorld;
  const warnings: Record<string, unknown>[] = [];

  before(async () => {
    const log: Log = Object.assign(Object.create(silentLog) as Log, {
      warn: (fields: Record<string, unknown>) => void warnings.push(fields),
    });
    signed = await startSignedWorld({ log: (program) => (program === 'reconciler' ? log : silentLog) });
  });
  after(() => signed.stop());

  async function noted(oid: string): Promise<string> {
    const { world } = signed;
    await world.until('there is a note', async () => (await world.git.readNotes(world.notesRef)).has(oid));
    return (await world.git.readNotes(world.notesRef)).get(oid) ?? '';
  }

  it('refuses one without a signature, and says so in status, log and note', async () => {
    const oid = await signed.push();
    const { source, nodes } = await signed.refused(oid);
    assert.match(source.refusedBecause, /it is not signed/);
    assert.equal(source.commit, '');
    assert.equal(
      nodes.some(({ spec }) => (spec?.configSource ?? null) !== null),
      false,
    );
    assert.match(await noted(oid), /^demo: refused \(it is not signed/);
    const line = warnings.find(({ commit }) => commit === oid);
    assert.equal(line?.['reason'], 'commit-unsigned');
  });

  it('takes a signed one up that stands on it: its signature is over all of it', async () => {
    const oid = await signed.push({ ssh: signed.ada });
    const { source } = await signed.inForce(oid);
    assert.match(source.signedBy, /^ada@example\.com \(SHA256:/);
    assert.equal(source.refusedCommit, '');
  });

  it('keeps what it has when the next one is signed by somebody unknown', async () => {
    const { world, people, ada, files, put, push, refused, inForce } = signed;
    const stranger = await people.sshKey('stranger', '-t', 'ed25519');
    const { source: before } = await world.status();
    await put({ [POOL]: withFields(files[POOL] ?? '', { maxPods: 123 }) });
    const oid = await push({ ssh: stranger });
    const { source } = await refused(oid);
    assert.equal(source.commit, before.commit);
    assert.match(source.refusedBecause, /of a key that is not trusted, SHA256:/);
    assert.match(await noted(oid), /refused/);
    await world.restartReconciler();
    const { source: again } = await refused(oid);
    assert.equal(again.commit, before.commit);
    await inForce(await push({ ssh: ada }));
  });
});
