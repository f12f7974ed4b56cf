import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { fc } from '../../../support/property.ts';
import { isSha1CollisionAttack } from '#reconciler/git/objects/sha1-collision.ts';
import { openPack } from '#reconciler/git/objects/pack.ts';
import { loadRepo } from '#reconciler/policy/config-repo/load-repo.ts';
import { createObjectStore } from '#reconciler/git/objects/git-object-store.ts';
import { writePack } from '../support/write-pack.ts';
import { failsWith } from '../support/start.ts';

/** How the two files of the first known collision begin (Stevens and others, "The first collision for full SHA-1", 2017). */
const COMMON =
  '255044462d312e330a25e2e3cfd30a0a0a312030206f626a0a3c3c2f57696474682032203020522f4865696768742033203020522f547970652034203020522f' +
  '537562747970652035203020522f46696c7465722036203020522f436f6c6f7253706163652037203020522f4c656e6774682038203020522f42697473506572' +
  '436f6d706f6e656e7420383e3e0a73747265616d0affd8fffe00245348412d3120697320646561642121212121852fec092339759c39b1a1c63c4c97e1fffe01';
const FIRST =
  '7f46dc93a6b67e013b029aaa1db2560b45ca67d688c7f84b8c4c791fe02b3df614f86db1690901c56b45c1530afedfb76038e972722fe7ad728f0e4904e046c2' +
  '30570fe9d41398abe12ef5bc942be33542a4802d98b5d70f2a332ec37fac3514e74ddc0f2cc1a874cd0c78305a21566461309789606bd0bf3f98cda8044629a1';
const MADE = Buffer.from(COMMON + FIRST, 'hex');
const BLOCK = 64;
const never = () => undefined;

describe('bytes that were made for a collision of SHA-1', () => {
  it('are those of the known one', () => {
    assert.equal(createHash('sha1').update(MADE).digest('hex'), 'f92d74e3874587aaf443d1db961d4e26dde13e9c');
  });

  it('are found, whatever stands behind them', async () => {
    assert.equal(await isSha1CollisionAttack(MADE, never), true);
    assert.equal(await isSha1CollisionAttack(Buffer.concat([MADE, Buffer.from('anything')]), never), true);
  });

  it('are none any more where a bit is another one', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(MADE.length * 8 - 1), async (bit) => {
        const other = Buffer.from(MADE);
        other[bit >> 3] = (other[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        assert.equal(await isSha1CollisionAttack(other, never), false);
      }),
      { numRuns: 100 },
    );
  });

  it('are not found where nobody made any', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 4 * BLOCK }), async (bytes) => {
        assert.equal(await isSha1CollisionAttack(bytes, never), false);
      }),
    );
  });

  it('are looked for in slices', async () => {
    let told = 0;
    await isSha1CollisionAttack(Buffer.alloc(100 * BLOCK), (bytes) => {
      told += bytes;
      return undefined;
    });
    assert.ok(told > 100 * BLOCK * 50, `${told}`);
  });
});

describe('a file that was made for a collision of SHA-1', () => {
  const LAYER = 'pools/workers/kubelet.yaml';
  const pool =
    'apiVersion: kubelet-gitops.dev/v1alpha1\nkind: KubeletPool\nmetadata: { name: workers }\n' +
    'spec: { nodeSelector: { matchLabels: { pool: workers } }, layers: [./kubelet.yaml] }\n';
  const load = (bytes: Buffer) => {
    const files = { 'pools/workers/pool.yaml': Buffer.from(pool), [LAYER]: bytes };
    const named = Object.entries(files).map(([path, content]) => [path, { path, oid: path, bytes: content }] as const);
    return loadRepo(new Map(named), { cluster: 'demo' }).pools[0];
  };
  const config = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPods: 7\n';

  it('is not read as configuration, wherever in a file it stands', () => {
    assert.equal(load(Buffer.from(config))?.status, 'valid', 'without it');
    const blocks = Buffer.from(FIRST, 'hex');
    for (const before of [
      '',
      '#',
      `${config}#`,
      `${config}volumePluginDir: "`,
      `# ${config.replaceAll('\n', '\n# ')}`,
    ]) {
      for (const behind of ['', '\n', `\n${config}`, '"\n']) {
        const read = load(Buffer.concat([Buffer.from(before), blocks, Buffer.from(behind)]));
        assert.equal(read?.status, 'invalid', JSON.stringify([before, behind]));
      }
    }
  });
});

describe('the objects of a pack', () => {
  it('tell of all the work that they make', async () => {
    const bodies = Array.from({ length: 50 }, (_, index) => Buffer.alloc(1_000, `${index} `));
    let [told, times] = [0, 0];
    await openPack(writePack(bodies.map((body) => ({ type: 'blob', body }))), (bytes) => {
      told += bytes;
      times += 1;
      return undefined;
    });
    assert.ok(told >= 2 * 50 * 1_000 && times >= 100, `${told} ${times}`);
  });

  it('are not read where a commit, a tree or a tag was made for a collision, by all that its name is of', async () => {
    const asked: string[] = [];
    const store = createObjectStore((bytes) => {
      asked.push(Buffer.from(bytes).toString());
      return Promise.resolve(true);
    });
    const types = ['commit', 'tree', 'tag', 'blob'] as const;
    const [commit = '', tree = '', tag = '', blob = ''] = await store.addPack(
      writePack(types.map((type) => ({ type, body: Buffer.from(`the ${type}`) }))),
    );
    await assert.rejects(store.read(commit, 'commit'), failsWith('GIT_DAMAGED', /a collision of SHA-1/));
    await assert.rejects(store.read(tree, 'tree'), failsWith('GIT_DAMAGED', /a collision of SHA-1/));
    await assert.rejects(store.read(tag, 'tag'), failsWith('GIT_DAMAGED', /a collision of SHA-1/));
    assert.equal((await store.read(blob, 'blob')).toString(), 'the blob');
    assert.deepEqual(asked, ['commit 10\0the commit', 'tree 8\0the tree', 'tag 7\0the tag']);
  });

  it('may be here already, in another pack', async () => {
    const store = createObjectStore();
    const pack = writePack([{ type: 'tree', body: Buffer.alloc(0) }]);
    const [oid = ''] = await store.addPack(pack);
    await store.addPack(pack);
    assert.equal((await store.read(oid, 'tree')).length, 0);
    await assert.rejects(store.read(oid, 'commit'), failsWith('GIT_DAMAGED', /is no commit/));
  });
});
