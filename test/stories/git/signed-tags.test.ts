import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { templateFiles, withFields } from '#sandbox/demo/template-repository.ts';
import { startSandbox, type Sandbox } from '#sandbox/sandbox.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { type SigningRepository, startSigning, WITHOUT_GIT, WITHOUT_SSH } from '../../reconciler/git/trust/signing.ts';
import { describeOrSkip } from '../../support/describe-or-skip.ts';
import { PATIENCE_MS } from '../support.ts';

const POOL = 'pools/general/kubelet.yaml';

describeOrSkip('a cluster that wants signed tags', { skip: WITHOUT_GIT || WITHOUT_SSH }, () => {
  let world: Sandbox;
  let people: SigningRepository;
  let ada: string;
  let layer: string;

  before(async () => {
    people = await startSigning();
    ada = await people.sshKey('ada', '-t', 'ed25519');
    const trustedKeysDir = join(people.directory, 'trusted');
    await mkdir(trustedKeysDir);
    await writeFile(join(trustedKeysDir, 'signers'), `ada@example.com ${await people.publicLine(ada)}\n`);
    world = await startSandbox({
      cluster: 'demo',
      nodes: [{ name: 'worker-1', labels: { 'node-role.kubernetes.io/worker': '' } }],
      log: () => silentLog,
      pollMs: 100,
      trustedKeysDir,
      trust: { signatureOn: 'tag', signedTags: 'demo/' },
    });
    const files = await templateFiles({ trial: '200ms', soak: '0s', startTimeout: '30s' });
    layer = files[POOL] ?? '';
    await put(files);
  });
  after(async () => {
    await world.stop();
    await people.remove();
  });

  async function put(files: Readonly<Record<string, string>>): Promise<void> {
    for (const [path, content] of Object.entries(files)) {
      await mkdir(join(people.git.directory, path, '..'), { recursive: true });
      await writeFile(join(people.git.directory, path), content);
    }
    await people.git('add', '-A');
  }

  const push = async (refspec: string): Promise<void> =>
    void (await people.git('push', '--quiet', '--force', world.git.url, refspec));
  const tag = async (name: string, oid: string): Promise<void> => {
    const settings = ['-c', 'gpg.format=ssh', '-c', `user.signingKey=${ada}`];
    await people.git(...settings, 'tag', '-s', '-m', 'Reviewed', name, oid);
    await push(`refs/tags/${name}`);
  };
  const refused = (oid: string) =>
    world.until('the commit is refused', ({ source }) => source.refusedCommit === oid, PATIENCE_MS);
  const inForce = (oid: string) =>
    world.until('the commit is in force', ({ source }) => source.commit === oid, PATIENCE_MS);

  it('takes a commit up once it is tagged, and no signed work in progress that somebody pushes to the branch', async () => {
    const first = await people.commit();
    await push('HEAD:refs/heads/main');
    assert.match((await refused(first)).source.refusedBecause, /no signed tag demo\/… points at it/);
    await tag('demo/1', first);
    assert.match((await inForce(first)).source.signedBy, /^ada@example\.com, by the tag demo\/1 \(SHA256:/);
    // Ada signs all her commits; nobody reviewed this one.
    await put({ [POOL]: withFields(layer, { maxPods: 17 }) });
    const unfinished = await people.commit({ ssh: ada });
    await push('HEAD:refs/heads/main');
    assert.equal((await refused(unfinished)).source.commit, first);
    await tag('v1', unfinished);
    await put({ [POOL]: withFields(layer, { maxPods: 123 }) });
    const reviewed = await people.commit();
    await push('HEAD:refs/heads/main');
    await refused(reviewed);
    await tag('demo/2', reviewed);
    await inForce(reviewed);
  });

  it('is not played back to a commit that was tagged before', async () => {
    const { source } = await world.status();
    const before = await people.git('rev-parse', 'demo/1^{commit}');
    assert.notEqual(source.commit, before);
    await world.git.setRef('refs/heads/main', before);
    const { source: now } = await refused(before);
    assert.deepEqual([now.commit, now.refusedReason], [source.commit, 'history-rewritten']);
  });
});
