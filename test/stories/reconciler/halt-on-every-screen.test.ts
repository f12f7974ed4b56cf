import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { haltLines } from '#reconciler/policy/pool-status/halt-lines.ts';
import { failedNode, poolInCluster } from '../../support/fleet.ts';
import { a, fleetWith, next, old, settled } from '../../reconciler/policy/pool-status/support/pool-of-three.ts';
import { SCREENS, shownAfterPass } from './support/screens.ts';

const AT = '2026-11-21T10:00:00Z';
const [{ status: ran }] = settled as [(typeof settled)[0] & object];
const failed = failedNode(a, next);
const back = { ...failed, status: { ...failed.status, active: ran?.active, lastKnownGood: ran?.lastKnownGood } };
const settledOn = { configName: old.configName, sha256: old.sha256, apply: 'overlay', at: AT } as const;
const fleet = fleetWith([back as typeof failed, ...settled.slice(1)], poolInCluster(old, { settled: settledOn }));
const shown = shownAfterPass(fleet, next);
const lines = haltLines(shown.status);

describe('a halted pool', () => {
  it('has more to say than that it is halted', () => {
    assert.equal(lines.length, 4, lines.join('\n'));
    assert.match(lines[0] ?? '', /^changed since workers-\w+ \(settled 2026-11-21T10:00:00Z\): maxPods: 110 → 120$/);
    assert.match(lines[1] ?? '', /^by commit b{12}/);
    assert.match(lines[2] ?? '', /can wait for working hours/);
    assert.match(lines[3] ?? '', /KubeletGitopsPoolHalted/);
  });
  for (const [name, screen] of Object.entries(SCREENS)) {
    it(`says what changed, whose it is and what is safe now, in the same words: ${name}`, () => {
      const text = screen(shown);
      for (const line of lines) assert.ok(text.includes(line), `${line}\nis not in\n${text}`);
    });
  }
});
