import assert from 'node:assert/strict';
import { it } from 'node:test';
import { pictureTable } from '#reconciler/policy/following/cluster-picture.ts';
import { writeHistory } from '#reconciler/reporting/notes/commit-history.ts';
import { recordedPicture } from '#reconciler/reporting/recorded-picture.ts';
import { toTimestamp } from '#shared/runtime/clock.ts';
import { COMMIT_B, NOW } from '../../support/fleet.ts';
import { FOLLOWED } from '../../support/followed.ts';

const tableOf = (source: Parameters<typeof recordedPicture>[0], now = NOW): readonly (readonly string[])[] => {
  const picture = recordedPicture(source);
  assert.ok(picture !== null);
  return pictureTable(picture, now);
};
const own = (source: Parameters<typeof recordedPicture>[0], now = NOW): readonly (string | undefined)[] =>
  tableOf(source, now)
    .slice(1)
    .map((row) => row[1]);

it('has what each cluster says of the newest commits and for how long, and when they are due here', () => {
  assert.deepEqual(tableOf(FOLLOWED), [
    ['COMMIT', 'PRODUCTION', 'STAGING', 'CANARY-EU', 'SUBJECT'],
    ['dddddddddddd', 'waits', 'halted 15m', 'silent 30m', 'Limit open <files>'],
    ['cccccccccccc', 'waits', 'superseded 30m', 'progressing 1h', 'Raise maxPods'],
    ['bbbbbbbbbbbb', 'in 21h', 'settled 9h', 'settled 3h', 'Tune general'],
    ['aaaaaaaaaaaa', 'settled 25h', 'settled 50h', 'a-newer-word 49h', 'Begin'],
  ]);
});

it('calls a cluster silent at the tip alone, and says nothing of it elsewhere', () => {
  const following = FOLLOWED.following.replaceAll('"cluster":"canary-eu","note"', '"cluster":"gone","note"');
  const canary = tableOf({ ...FOLLOWED, following }).slice(1);
  assert.deepEqual(
    canary.map((row) => row[3]),
    ['silent 30m', '', '', ''],
  );
});

it('goes by what this cluster itself did with a commit since', () => {
  const at = toTimestamp(NOW - 60_000);
  const past = { subject: 'Tune general', author: 'Ada', at } as const;
  const refused = writeHistory(FOLLOWED.history, [{ ...past, oid: COMMIT_B, outcome: 'refused' }]);
  assert.deepEqual(own({ ...FOLLOWED, history: refused }), ['waits', 'waits', 'refused 1m', 'settled 25h']);
  const taken = writeHistory(FOLLOWED.history, [{ ...past, oid: COMMIT_B, outcome: 'progressing' }]);
  const next = { ...FOLLOWED, commit: COMMIT_B, history: taken };
  assert.deepEqual(own(next), ['waits', 'waits', 'progressing 1m', 'settled 25h']);
  assert.deepEqual(own(FOLLOWED, NOW + 21 * 3_600_000)[2], 'due');
  assert.deepEqual(own({ ...FOLLOWED, history: '' }).at(-1), 'in force 25h', 'which the history has forgotten');
});

it('names no time for a commit that waits for a person', () => {
  const asked = { pool: 'gpu', configName: 'gpu-1', sha256: 'f'.repeat(64), since: toTimestamp(NOW) };
  const held = (isApproved: boolean): string => {
    const counterparts = {
      commit: COMMIT_B,
      isHeld: true,
      isRead: true,
      pools: isApproved ? [] : [{ ...asked, isKnown: false, classes: [] }],
    };
    return JSON.stringify({ ...JSON.parse(FOLLOWED.following), counterparts });
  };
  assert.equal(own({ ...FOLLOWED, following: held(false) })[2], 'waits');
  assert.equal(own({ ...FOLLOWED, following: held(true) })[2], 'in 21h');
});

it('is none of a cluster that follows none, and of one whose record is damaged', () => {
  for (const following of ['', '{']) assert.equal(recordedPicture({ ...FOLLOWED, following }), null);
});
