import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createMemoryFs } from '#reconciler/git/objects/memory-fs.ts';
import { WITHOUT_GIT } from '../../support/required-tools.ts';
import { soon, start } from './support/start.ts';

/** Bytes of memory that cannot be freed while these are kept. */
const heldBy = (kept: readonly Uint8Array[]): number =>
  [...new Set(kept.map(({ buffer }) => buffer))].reduce((sum, { byteLength }) => sum + byteLength, 0);

describe('the memory that is held', () => {
  it('for files of a branch is that of their bytes, after many commits as well', { skip: WITHOUT_GIT }, async (t) => {
    const { repository, source } = await start(t);
    const files = new Map(Array.from({ length: 8 }, (_, pool) => [`pools/p${pool}/kubelet.yaml`, 'maxPods: 1\n']));
    const reader = source();
    for (const path of files.keys()) {
      files.set(path, `# ${path}\nmaxPods: 2\n`);
      await repository.commitFiles(Object.fromEntries(files));
      const snapshot = await reader.snapshot(null, soon());
      const kept = [...snapshot.files.values()].map(({ bytes }) => bytes);
      const texts = new Set(files.values());
      assert.equal(heldBy(kept), [...texts].join('').length);
    }
  });

  it('for what is written to the file system in memory is that of its bytes', async () => {
    const { promises: fs } = createMemoryFs();
    const kept: Uint8Array[] = [];
    for (const [path, content] of [
      ['/git/HEAD', 'ref: refs/heads/main\n'],
      ['/git/objects/00/1', Buffer.from('a few bytes')],
    ] as const) {
      await fs.writeFile(path, content);
      kept.push(await fs.readFile(path));
      assert.equal(Buffer.from(await fs.readFile(path)).toString(), content.toString());
    }
    assert.equal(heldBy(kept), 'ref: refs/heads/main\na few bytes'.length);
  });
});
