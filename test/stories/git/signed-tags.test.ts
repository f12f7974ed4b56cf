import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { withFields } from '#sandbox/demo/template-repository.ts';
import { WITHOUT_GIT, WITHOUT_SSH } from '../../reconciler/git/trust/signing.ts';
import { describeOrSkip } from '../../support/describe-or-skip.ts';
import { type SignedWorld, startSignedWorld } from '../signed-world.ts';

const POOL = 'pools/general/kubelet.yaml';

describeOrSkip('a cluster that wants signed tags', { skip: WITHOUT_GIT || WITHOUT_SSH }, () => {
  let signed: SignedWorld;
  before(async () => {
    signed = await startSignedWorld({ trust: { signatureOn: 'tag', signedTags: 'demo/' } });
  });
  after(() => signed.stop());

  async function tag(name: string, oid: string): Promise<void> {
    const { people, world, ada } = signed;
    const settings = ['-c', 'gpg.format=ssh', '-c', `user.signingKey=${ada}`];
    await people.git(...settings, 'tag', '-s', '-m', 'Reviewed', name, oid);
    await people.git('push', '--quiet', '--force', world.git.url, `refs/tags/${name}`);
  }

  it('takes a commit up once it is tagged, and no signed work in progress that somebody pushes to the branch', async () => {
    const { ada, files, put, push, refused, inForce } = signed;
    const layer = files[POOL] ?? '';
    const first = await push();
    assert.match((await refused(first)).source.refusedBecause, /no signed tag demo\/… points at it/);
    await tag('demo/1', first);
    assert.match((await inForce(first)).source.signedBy, /^ada@example\.com, by the tag demo\/1 \(SHA256:/);
    // Ada signs all her commits; nobody reviewed this one.
    await put({ [POOL]: withFields(layer, { maxPods: 17 }) });
    const unfinished = await push({ ssh: ada });
    assert.equal((await refused(unfinished)).source.commit, first);
    await tag('v1', unfinished);
    await put({ [POOL]: withFields(layer, { maxPods: 123 }) });
    const reviewed = await push();
    await refused(reviewed);
    await tag('demo/2', reviewed);
    await inForce(reviewed);
  });

  it('is not played back to a commit that was tagged before', async () => {
    const { world, people, refused } = signed;
    const { source } = await world.status();
    const before = await people.git('rev-parse', 'demo/1^{commit}');
    assert.notEqual(source.commit, before);
    await world.git.setRef('refs/heads/main', before);
    const { source: now } = await refused(before);
    assert.deepEqual([now.commit, now.refusedReason], [source.commit, 'history-rewritten']);
  });
});
