import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../support/property.ts';
import { type CommitGraph, mergeBases } from '#reconciler/git/merge-verification/commit-graph.ts';
import { verifyMergedTrees } from '#reconciler/git/merge-verification/merged-trees.ts';
import { createObjectStore, type ObjectStore } from '#reconciler/git/objects/git-object-store.ts';
import { formatTree } from '#reconciler/git/objects/tree.ts';

const PATHS = ['README', 'base/a', 'base/b', 'pools/x/a', 'pools/x/b', 'pools/y/a'] as const;
/** What stands at each path; null for nothing. */
type Files = Readonly<Record<string, string | null>>;

const blob = (content: string): string => content.repeat(40);
const entry = (mode: string, name: string, oid: string) => ({ mode, name: Buffer.from(name), oid });

/** Writes directories and what is in them. @returns the name of the tree; null for an empty one, which git has none of */
async function treeOf(files: Files, store: ObjectStore): Promise<string | null> {
  const names = new Map<string, Record<string, string | null>>();
  const entries = [];
  for (const [path, content] of Object.entries(files)) {
    const [name = '', ...rest] = path.split('/');
    if (rest.length > 0) names.set(name, { ...names.get(name), [rest.join('/')]: content });
    else if (content !== null) entries.push(entry('100644', name, blob(content)));
  }
  for (const [name, inside] of names) {
    const oid = await treeOf(inside, store);
    if (oid !== null) entries.push(entry('40000', name, oid));
  }
  return entries.length === 0 ? null : store.write('tree', formatTree(entries));
}

async function wrong(merge: Files, base: Files, ours: Files, theirs: Files): Promise<string | undefined> {
  const store = createObjectStore();
  const reading = { store, fetchTrees: () => Promise.reject(new Error('all are here')), mostEntries: 1_000 };
  const of = (files: Files) => treeOf(files, store);
  return verifyMergedTrees(
    { merge: await of(merge), base: await of(base), ours: await of(ours), theirs: await of(theirs) },
    reading,
  );
}

/** Each file by itself; undefined where both sides changed it in different ways. */
function merged(base: Files, ours: Files, theirs: Files): Files | undefined {
  const files: Record<string, string | null> = {};
  for (const path of PATHS) {
    const [was = null, one = null, other = null] = [base[path], ours[path], theirs[path]];
    if (one !== other && one !== was && other !== was) return undefined;
    files[path] = one === was ? other : one;
  }
  return files;
}

const content = fc.constantFrom(null, 'a', 'b', 'c');
const files: fc.Arbitrary<Files> = fc.record(Object.fromEntries(PATHS.map((path) => [path, content])));
/** A side that leaves most of it alone. */
const side = (base: Files): fc.Arbitrary<Files> =>
  fc
    .subarray([...PATHS], { maxLength: 3 })
    .chain((changed) =>
      fc.record(Object.fromEntries(changed.map((path) => [path, content]))).map((change) => ({ ...base, ...change })),
    );
const sides = files.chain((base) => fc.tuple(fc.constant(base), side(base), side(base)));

describe('the content of a merge', () => {
  it('is right where it is what each side did, file by file, and nothing else', async () => {
    await fc.assert(
      fc.asyncProperty(sides, fc.constantFrom(...PATHS), content, async ([base, ours, theirs], path, other) => {
        const right = merged(base, ours, theirs);
        if (right === undefined) {
          assert.notEqual(await wrong(ours, base, ours, theirs), undefined, 'both sides changed a file');
          return;
        }
        assert.equal(await wrong(right, base, ours, theirs), undefined);
        if (right[path] === other) return;
        assert.notEqual(await wrong({ ...right, [path]: other }, base, ours, theirs), undefined, path);
      }),
    );
  });

  it('is wrong where a name stands twice, or where a file takes the place of a directory', async () => {
    const store = createObjectStore();
    const reading = { store, fetchTrees: () => Promise.resolve(), mostEntries: 1_000 };
    const tree = (...entries: ReturnType<typeof entry>[]) => store.write('tree', formatTree(entries));
    const [a, b, c] = ['a', 'b', 'c'].map((name) => entry('100644', name, blob(name)));
    assert.ok(a !== undefined && b !== undefined && c !== undefined);
    const [base, ours, theirs] = [await tree(a), await tree(a, b), await tree(a, c)];
    assert.equal(await verifyMergedTrees({ merge: await tree(a, b, c), base, ours, theirs }, reading), undefined);
    const evil = entry('100644', 'b', blob('e'));
    const twice = await verifyMergedTrees({ merge: await tree(a, evil, b, c), base, ours, theirs }, reading);
    assert.match(twice ?? '', /a directory with two entries of one name/);
    const within = async (...of: readonly string[]) => Promise.all(of.map((oid) => tree(entry('40000', 'd', oid))));
    const [inBase = '', inOurs = '', inTheirs = ''] = await within(base, ours, theirs);
    const merge = await tree(entry('100644', 'd', blob('e')));
    const file = await verifyMergedTrees({ merge, base: inBase, ours: inOurs, theirs: inTheirs }, reading);
    assert.match(file ?? '', /holds “d”/);
    const few = { ...reading, mostEntries: 2 };
    assert.match((await verifyMergedTrees({ merge: base, base, ours, theirs }, few)) ?? '', /too many|otherwise/);
  });

  it('tells a file’s mode from another', async () => {
    const store = createObjectStore();
    const reading = { store, fetchTrees: () => Promise.resolve(), mostEntries: 1_000 };
    const tree = (...entries: ReturnType<typeof entry>[]) => store.write('tree', formatTree(entries));
    const of = (mode: string, ...more: readonly string[]) =>
      tree(entry(mode, 'a', blob('a')), ...more.map((name) => entry('100644', name, blob(name))));
    const trees = { base: await of('100644'), ours: await of('100644', 'b'), theirs: await of('100644', 'c') };
    assert.equal(await verifyMergedTrees({ ...trees, merge: await of('100644', 'b', 'c') }, reading), undefined);
    assert.match(
      (await verifyMergedTrees({ ...trees, merge: await of('120000', 'b', 'c') }, reading)) ?? '',
      /has “a” other/,
    );
  });
});

describe('the commits that two come from', () => {
  const graph = (parents: Readonly<Record<string, string>>): CommitGraph =>
    new Map(
      Object.entries(parents).map(([oid, of]) => [oid, { oid, tree: '', parents: of.split(''), raw: Buffer.alloc(0) }]),
    );
  for (const [what, parents, one, other, bases] of [
    ['one, where lines part', { r: '', b: 'r', x: 'b', y: 'b' }, 'x', 'y', 'b'],
    ['the older, where one comes from the other', { r: '', b: 'r', x: 'b' }, 'b', 'x', 'b'],
    ['two, where lines crossed', { r: '', a: 'r', b: 'r', x: 'ab', y: 'ba' }, 'x', 'y', 'ab'],
    ['the later, where lines met before', { r: '', a: 'r', b: 'r', m: 'ab', x: 'm', y: 'm' }, 'x', 'y', 'm'],
    ['none, where histories are apart', { x: '', y: '' }, 'x', 'y', ''],
    ['one that is not known, where history is cut there', { x: 'c', y: 'c' }, 'x', 'y', 'c'],
  ] as const) {
    it(`are ${what}`, () => assert.deepEqual([...mergeBases(graph(parents), one, other)].sort(), bases.split('')));
  }
});
