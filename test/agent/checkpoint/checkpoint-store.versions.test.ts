import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../support/property.ts';
import { migrateRecord, type Migration, type Raw } from '#agent/host/record-shape.ts';
import { createCheckpointStore } from '#agent/checkpoint/checkpoint-store.ts';
import { INITIAL_STATE } from '#agent/decide/state.ts';
import { createMemoryDisk, type MemoryDisk } from '../../support/agent/memory-disk.ts';
import { A, AT, idle, judging, onTrial, rejecting } from '../../support/agent/states.ts';

/** A file that came by its third version: a count became a list, and then the list got another name. */
const toSecond: Migration = ({ count, ...rest }) => ({ ...rest, names: Array(Number(count)).fill('unknown') });
const toThird: Migration = ({ names, ...rest }) => ({ ...rest, people: names });
const MIGRATIONS = [toSecond, toThird];

describe('a file of ours', () => {
  const rows: readonly (readonly [string, Raw, Raw])[] = [
    [
      'of the first version is brought through all others',
      { version: 1, count: 2, kept: 'x' },
      { version: 1, kept: 'x', people: ['unknown', 'unknown'] },
    ],
    ['of the second version skips the first step', { version: 2, names: ['a'] }, { version: 2, people: ['a'] }],
    ['of the present version is taken as it is', { version: 3, people: ['a'] }, { version: 3, people: ['a'] }],
  ];
  for (const [when, raw, expected] of rows) {
    it(when, () => assert.deepEqual(migrateRecord(raw, MIGRATIONS), expected));
  }

  it('of a newer version is not damaged, and not read', () => {
    for (const version of [4, 5, 1_000_000]) {
      assert.throws(() => migrateRecord({ version, people: [] }, MIGRATIONS), {
        code: 'CHECKPOINT_TOO_NEW',
        message: `a newer release wrote it, in version ${version}; this one knows version 3 and older ones`,
      });
    }
  });

  it('of no version that a release ever had is damaged', () => {
    for (const version of [undefined, null, 0, -1, 1.5, '2', NaN, Infinity, [2], { version: 2 }]) {
      assert.throws(() => migrateRecord({ version }, MIGRATIONS), { code: 'CHECKPOINT_DAMAGED' });
    }
  });
});

type Rewrite = (text: string) => string;

const newerYaml: Rewrite = (text) => text.replace('version: 1', 'version: 2');
const newerJson: Rewrite = (text) => text.replace('"version": 1', '"version": 2');
const FILES: readonly (readonly [path: string, rewrite: Rewrite])[] = [
  ['/state/meta/assigned', newerYaml],
  ['/state/meta/last-known-good', newerYaml],
  ['/state/meta/trial', (text) => text.replace('"version": 1', '"version": 3')],
  ['/state/meta/rejected', newerJson],
  ['/state/local/record', () => '{"version":2,"files":{}}\n'],
];

async function savedOnTrial(): Promise<MemoryDisk> {
  const disk = createMemoryDisk();
  const { rejected, error } = rejecting(A);
  await createCheckpointStore(disk, '/state').save({ ...onTrial(judging()), rejected, error });
  disk.plant('/state/local', { directory: true });
  disk.plant('/state/local/record', '{"version":1}\n');
  return disk;
}

describe('a state directory that a newer release wrote', () => {
  for (const [path, rewrite] of FILES) {
    it(`is told by ${path} alone, and nothing is written over it`, async () => {
      const disk = await savedOnTrial();
      const newer = rewrite(disk.tree()[path] ?? '');
      assert.match(newer, /version/);
      disk.plant(path, newer);
      const before = disk.tree();
      const store = createCheckpointStore(disk, '/state');
      const { state, problems, tooNew } = await store.load(AT);
      assert.deepEqual([state, problems], [INITIAL_STATE, []]);
      assert.match(
        tooNew ?? '',
        new RegExp(`^${path}: a newer release wrote it, in version [23]; this one knows version [12]`),
      );
      await assert.rejects(store.save(idle(A)), { code: 'CHECKPOINT_TOO_NEW' });
      await assert.rejects(store.save(state), { code: 'CHECKPOINT_TOO_NEW' });
      assert.deepEqual(disk.tree(), before);
    });
  }

  it('that waits for a reboot says so to releases that know of none, which would restart its kubelet instead', async () => {
    const disk = createMemoryDisk();
    const awaits = onTrial({ step: 'reboot', bootId: 'boot-1', orders: 1, waitedMs: 0 });
    await createCheckpointStore(disk, '/state').save(awaits);
    assert.match(disk.tree()['/state/meta/trial'] ?? '', /"version": 2/);
    assert.deepEqual((await createCheckpointStore(disk, '/state').load(AT)).state.doing, awaits.doing);
  });

  it('stays that, whatever else is damaged', async () => {
    const damage = fc.record({ file: fc.constantFrom(...FILES), text: fc.constantFrom('', '{', 'null', '\0\0') });
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...FILES), fc.array(damage, { maxLength: 3 }), async ([path, rewrite], harm) => {
        const disk = await savedOnTrial();
        const newer = rewrite(disk.tree()[path] ?? '');
        for (const { file, text } of harm) disk.plant(file[0], text);
        disk.plant(path, newer);
        const { tooNew } = await createCheckpointStore(disk, '/state').load(AT);
        assert.ok(tooNew?.startsWith(path));
      }),
      { numRuns: 100 },
    );
  });

  it('is read by the release that wrote it as if the older one had never been there', async () => {
    const disk = await savedOnTrial();
    const before = await createCheckpointStore(disk, '/state').load(AT);
    const record = disk.tree()['/state/local/record'] ?? '';
    disk.plant('/state/local/record', '{"version":2}');
    const older = createCheckpointStore(disk, '/state');
    await older.load(AT);
    await older.save(INITIAL_STATE).catch(() => undefined);
    disk.plant('/state/local/record', record);
    assert.deepEqual(await createCheckpointStore(disk, '/state').load(AT), before);
  });
});

describe('a state directory that an older release wrote', () => {
  it('in mid-trial, before it was asked whether the kubelet had been healthy, is read', async () => {
    const disk = await savedOnTrial();
    const text = disk.tree()['/state/meta/trial'] ?? '';
    const { wasHealthy: _, before: __, warnings: ___, ...older } = JSON.parse(text) as Raw;
    disk.plant('/state/meta/trial', JSON.stringify(older));
    const { state, problems, tooNew } = await createCheckpointStore(disk, '/state').load(AT);
    assert.deepEqual([problems, tooNew], [[], null]);
    assert.deepEqual(state.doing, onTrial(judging(), { wasHealthy: true, before: null, warnings: [] }).doing);
  });

  it('without a word on drift means that it is repaired', async () => {
    const disk = createMemoryDisk();
    await createCheckpointStore(disk, '/state').save(idle({ ...A, drift: 'report' }));
    const reference = disk.tree()['/state/meta/assigned'] ?? '';
    assert.match(reference, /^ {2}drift: report$/m);
    disk.plant('/state/meta/assigned', reference.replace('  drift: report\n', ''));
    assert.equal((await createCheckpointStore(disk, '/state').load(AT)).state.assigned?.drift, 'repair');
  });
});
