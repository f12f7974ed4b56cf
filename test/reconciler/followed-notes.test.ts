import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createNotesLook } from '#reconciler/followed-notes.ts';
import type { Follows } from '#reconciler/policy/config-repo/loaded-repo.ts';
import type { SeenSerial } from '#reconciler/policy/following/notes-serial.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { COMMIT_A, COMMIT_B } from '../support/fleet.ts';
import { createManualClock } from '../support/manual-clock.ts';

/** A cluster that follows others, whose notes each look finds as they are told. */
function world() {
  let record: readonly SeenSerial[] = [];
  let now = { key: 'old', serial: 1, tip: COMMIT_A };
  const look = createNotesLook({
    repository: {
      notes: () =>
        Promise.resolve({ said: new Map([[COMMIT_A, 'settled']]), signed: now, distrusted: null, payloads: null }),
    },
    clock: createManualClock(),
    log: silentLog,
  });
  return async (keys: readonly string[], next: typeof now, clusters = ['staging']): Promise<boolean> => {
    now = next;
    const follows: Follows = {
      clusters,
      settledFor: '1h',
      signers: Object.fromEntries(clusters.map((each) => [each, keys])),
    };
    const { notes, serials } = await look(follows, [COMMIT_A], record, new AbortController().signal);
    record = serials;
    return (notes.get(clusters[0] ?? '') ?? null) !== null;
  };
}
const STOLEN = { key: 'old', serial: 999_999_999_999_999, tip: COMMIT_B };
const FRESH = { key: 'new', serial: 1_800_000_000, tip: COMMIT_A };

describe('what followed clusters sign', () => {
  it('counts with new keys, whatever the thief of the old ones gave for a serial', async () => {
    const counts = world();
    assert.equal(await counts(['old'], STOLEN), true);
    assert.equal(await counts(['old', 'new'], FRESH), false, 'as long as the old key is named');
    assert.equal(await counts(['new'], FRESH), true);
  });

  it('does not count again where its key is named again, or its cluster is followed again', async () => {
    const counts = world();
    const [first, second] = [1, 2].map((serial) => ({ key: 'old', serial, tip: String(serial).repeat(40) }));
    assert.ok(first && second);
    assert.equal(await counts(['old'], second), true);
    assert.equal(await counts(['new'], FRESH), true);
    assert.equal(await counts(['old'], first), false);
    assert.equal(await counts(['old'], second), true);
    assert.equal(await counts(['other'], { ...FRESH, key: 'other' }, ['canary']), true);
    assert.equal(await counts(['old'], first), false);
  });
});
