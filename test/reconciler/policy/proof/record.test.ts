import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { type ClassRecord, isSameProof, MOST_CLASSES, readProof, writeProof } from '#reconciler/policy/proof/record.ts';
import { fc } from '../../../support/property.ts';

const sha = (text: string): string => createHash('sha256').update(text).digest('hex');
const SINCE = '2026-11-21T12:00:00Z';

/** A class as large as they come: in the middle of its way to other bytes than any other class has. */
const classAt = (index: number, more: Partial<ClassRecord> = {}): ClassRecord => ({
  name: `cpu=${index},memory=15872Mi`,
  state: 'rolling',
  since: SINCE,
  current: { sha256: sha(`new ${index}`), apply: 'overlay' },
  proven: { sha256: sha(`old ${index}`), apply: 'overlay' },
  former: null,
  commit: 'a'.repeat(40),
  nodes: 10,
  proved: 3,
  missing: ['n1', 'n2', 'n3', 'n4'].map((name) => `ip-10-0-0-${name}.eu-central-1.compute.internal`),
  ...more,
});
const classes = (count: number, more?: Partial<ClassRecord>): readonly ClassRecord[] =>
  Array.from({ length: count }, (_, index) => classAt(index, more));
const bytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

describe('the record of what classes have proven', () => {
  it('is read as it was written, but for names beyond the third', () => {
    const hashes = fc.constantFrom(sha('a'), sha('b'), sha('c'));
    const targets = fc.option(
      fc.oneof(
        fc.record({ sha256: hashes, apply: fc.constantFrom('overlay', 'replace') }, { noNullPrototype: true }),
        fc.record(
          {
            sha256: hashes,
            apply: fc.constant('replace'),
            keepFields: fc.constantFrom(['address'], ['address', 'port']),
          },
          { noNullPrototype: true },
        ),
      ),
      { nil: null },
    );
    const any = fc.array(
      fc.record(
        { current: targets, proven: targets, former: targets, nodes: fc.nat(9), missing: fc.array(fc.string()) },
        { noNullPrototype: true },
      ),
      { maxLength: 8 },
    );
    fc.assert(
      fc.property(any, (given) => {
        const all = given.map((each, index) => classAt(index, each as Partial<ClassRecord>));
        const read = [...readProof({ proof: writeProof(all) }).values()];
        const kept = all.map((each, index) => {
          const hasCommit = (each.proven ?? each.former) !== null;
          const missing = read[index]?.missing.length === 0 ? [] : each.missing.slice(0, 3);
          return { ...each, missing, commit: hasCommit ? each.commit : undefined };
        });
        assert.deepEqual(read, kept);
      }),
    );
  });

  it('holds a thousand classes that all have other bytes, in 256 KiB and 256 bytes each', () => {
    const written = writeProof(classes(1000));
    assert.equal(written.classes.length, 1000);
    assert.equal(written.unrecorded, undefined);
    assert.ok(bytes(written) <= 256 * 1024, `${bytes(written)} bytes`);
    for (const each of written.classes) assert.ok(bytes(each) <= 256, JSON.stringify(each));
    assert.equal(readProof({ proof: written }).get('cpu=999,memory=15872Mi')?.proven?.sha256, sha('old 999'));
  });

  it('counts the classes that there is no room for, and records the first ones', () => {
    const many = writeProof(classes(MOST_CLASSES + 7));
    assert.deepEqual([many.classes.length, many.unrecorded], [MOST_CLASSES, 7]);
    const long = writeProof(classes(3, { name: 'x'.repeat(300) }));
    assert.deepEqual([long.classes.length, long.unrecorded], [0, 3]);
    const wide = writeProof(
      classes(1000, { name: '' }).map((each, index) => ({ ...each, name: `${index}`.padEnd(120, '-') })),
    );
    assert.ok(bytes(wide) <= 256 * 1024);
    assert.equal(wide.classes.length + (wide.unrecorded ?? 0), 1000);
    assert.ok(wide.classes.length > 500, `${wide.classes.length}`);
  });

  it('stays where no state changed, whatever is counted, also of classes that there is no room for', () => {
    for (const count of [3, MOST_CLASSES + 2]) {
      const all = classes(count);
      const before = writeProof(all);
      const change = (index: number, more: Partial<ClassRecord>) =>
        all.map((each, at) => (at === index ? { ...each, ...more } : each));
      assert.equal(isSameProof(before, change(1, { nodes: 99, proved: 98, missing: [], since: 'later' })), true);
      assert.equal(isSameProof(before, change(1, { state: 'proven' })), false);
      for (const field of ['current', 'proven', 'former'] as const) {
        assert.equal(isSameProof(before, change(1, { [field]: { sha256: sha('else'), apply: 'overlay' } })), false);
      }
      assert.equal(isSameProof(before, all.slice(1)), false);
    }
  });

  it('names a node only where there is room for it', () => {
    const [short] = writeProof(classes(1, { missing: ['n1', 'n2', 'n3', 'n4'] })).classes;
    assert.deepEqual(short?.missing, ['n1', 'n2', 'n3']);
    assert.equal(writeProof(classes(1, { missing: ['y'.repeat(200)] })).classes[0]?.missing, undefined);
  });

  it('takes a position that there is no payload at for nothing', () => {
    const { classes: all, ...rest } = writeProof(classes(1));
    const wrong = { ...rest, classes: all.map((each) => ({ ...each, proven: 17, current: -1 })) };
    const [read] = readProof({ proof: wrong }).values();
    assert.deepEqual([read?.proven, read?.current], [null, null]);
  });

  it('of a pool that has none yet is empty, whatever it is said to have settled on', () => {
    const settled = { configName: 'x-1', sha256: sha('a'), apply: 'replace', at: SINCE } as const;
    assert.equal(readProof({ settled }).size, 0);
    assert.equal(readProof({}).size, 0);
    assert.equal(readProof(undefined).size, 0);
  });
});
