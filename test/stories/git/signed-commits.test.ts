import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { templateFiles, withFields } from '#sandbox/demo/template-repository.ts';
import { startSandbox, type Sandbox } from '#sandbox/sandbox.ts';
import { silentLog, type Log } from '#shared/runtime/log.ts';
import {
  type CommitOptions,
  type SigningRepository,
  startSigning,
  WITHOUT_GIT,
  WITHOUT_SSH,
} from '../../reconciler/git/trust/signing.ts';
import { describeOrSkip } from '../../support/describe-or-skip.ts';
import { PATIENCE_MS } from '../support.ts';

const POOL = 'pools/general/kubelet.yaml';

describeOrSkip('a cluster that wants signed commits', { skip: WITHOUT_GIT || WITHOUT_SSH }, () => {
  let world: Sandbox;
  let people: SigningRepository;
  let ada: string;
  let stranger: string;
  let layer: string;
  const warnings: Record<string, unknown>[] = [];

  before(async () => {
    people = await startSigning();
    [ada, stranger] = [await people.sshKey('ada', '-t', 'ed25519'), await people.sshKey('stranger', '-t', 'ed25519')];
    const trustedKeysDir = join(people.directory, 'trusted');
    await mkdir(trustedKeysDir);
    await writeFile(join(trustedKeysDir, 'allowed_signers'), `ada@example.com ${await people.publicLine(ada)}\n`);
    const log: Log = Object.assign(Object.create(silentLog) as Log, {
      warn: (fields: Record<string, unknown>) => void warnings.push(fields),
    });
    world = await startSandbox({
      cluster: 'demo',
      nodes: [{ name: 'worker-1', labels: { 'node-role.kubernetes.io/worker': '' } }],
      log: (program) => (program === 'reconciler' ? log : silentLog),
      pollMs: 100,
      trustedKeysDir,
    });
    const files = await templateFiles({ trial: '200ms', soak: '0s', startTimeout: '30s' });
    layer = files[POOL] ?? '';
    // The commit that says in its own files that nothing has to be signed: nobody asks it.
    await put({ ...files, 'clusters/demo.yaml': files['clusters/demo.yaml'] ?? '' });
  });
  after(async () => {
    await world.stop();
    await people.remove();
  });

  async function put(files: Readonly<Record<string, string>>): Promise<void> {
    for (const [path, content] of Object.entries(files).filter(([, text]) => text !== '')) {
      await mkdir(join(people.git.directory, path, '..'), { recursive: true });
      await writeFile(join(people.git.directory, path), content);
    }
    await people.git('add', '-A');
  }

  async function push(options: CommitOptions): Promise<string> {
    const oid = await people.commit(options);
    await people.git('push', '--quiet', world.git.url, 'HEAD:refs/heads/main');
    return oid;
  }

  const refused = (oid: string) =>
    world.until('the commit is refused', ({ source }) => source.refusedCommit === oid, PATIENCE_MS);
  const inForce = (oid: string) =>
    world.until('the commit is in force', ({ source }) => source.commit === oid, PATIENCE_MS);

  async function noted(oid: string): Promise<string> {
    await world.until('there is a note', async () => (await world.git.readNotes(world.notesRef)).has(oid), PATIENCE_MS);
    return (await world.git.readNotes(world.notesRef)).get(oid) ?? '';
  }

  it('refuses one without a signature, and says so in status, log and note', async () => {
    const oid = await push({});
    const { source, nodes } = await refused(oid);
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
    const oid = await push({ ssh: ada });
    const { source } = await inForce(oid);
    assert.match(source.signedBy, /^ada@example\.com \(SHA256:/);
    assert.equal(source.refusedCommit, '');
  });

  it('keeps what it has when the next one is signed by somebody unknown', async () => {
    const { source: before } = await world.status();
    await put({ [POOL]: withFields(layer, { maxPods: 123 }) });
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
