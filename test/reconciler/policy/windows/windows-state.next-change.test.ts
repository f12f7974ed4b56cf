import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { windowsState } from '#reconciler/policy/windows/windows-state.ts';
import type { WindowSpec, WindowsSpec } from '#shared/contract/api/kubelet-pool.ts';

const layer = (allow: readonly WindowSpec[], deny: readonly WindowSpec[] = []): WindowsSpec => ({
  allow,
  deny,
  overrun: 'stop',
});
const [two, four, eight] = [2, 4, 8].map((hour) => ({ cron: `0 ${hour} * * *`, duration: '4h' })) as [
  WindowSpec,
  WindowSpec,
  WindowSpec,
];
const lost: WindowSpec = { ...two, timeZone: 'Mars/Olympus_Mons' };
const leapDay: WindowSpec = { cron: '0 0 29 2 *', duration: '1h' };

/** Layers of windows, a moment, what is said then, and the next moment at which it changes. */
const ROWS: readonly (readonly [string, readonly WindowsSpec[], string, string, string | null])[] = [
  [
    'is the end of the window that is open, though another one of its layer is to come after it',
    [layer([two, eight])],
    '2026-03-02T03:00Z',
    'the window "0 2 * * *" (4h) is open until 2026-03-02 06:00 UTC',
    '2026-03-02T06:00Z',
  ],
  [
    'is the end of the last of those that run into one another, of which the open one is named',
    [layer([two, four])],
    '2026-03-02T03:00Z',
    'the window "0 2 * * *" (4h) is open until 2026-03-02 06:00 UTC',
    '2026-03-02T08:00Z',
  ],
  [
    'is the beginning of the first of several',
    [layer([two, four])],
    '2026-03-02T00:00Z',
    'the window "0 2 * * *" (4h) begins 2026-03-02 02:00 UTC',
    '2026-03-02T02:00Z',
  ],
  [
    'is the beginning in the layer that is shut, whatever begins and ends in one that is open',
    [layer([two, eight]), layer([four])],
    '2026-03-02T03:00Z',
    'the window "0 4 * * *" (4h) begins 2026-03-02 04:00 UTC',
    '2026-03-02T04:00Z',
  ],
  [
    'is not known where a window denies that nobody can read',
    [layer([two], [lost])],
    '2026-03-02T03:00Z',
    'the window "0 2 * * *" (4h) cannot be read here: correct its cron expression, duration and time zone',
    null,
  ],
  [
    'is looked for 400 days ahead',
    [layer([leapDay])],
    '2027-01-25T00:00Z',
    'the window "0 0 29 2 *" (1h) begins 2028-02-29 00:00 UTC',
    '2028-02-29T00:00Z',
  ],
  ['is not looked for further', [layer([leapDay])], '2027-01-24T23:59Z', 'no window begins within 400 days', null],
];

describe('the moment at which windows next open or shut', () => {
  for (const [name, layers, moment, because, changesAt] of ROWS) {
    it(name, () => {
      const state = windowsState(layers, Date.parse(moment));
      assert.equal(state.because, because);
      assert.equal(state.changesAt, changesAt === null ? null : Date.parse(changesAt));
    });
  }
});
