import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Seconds, time, timeLeft, told, tries, type Worker } from './support/time-left.ts';

describe('the time that a node under way still takes', () => {
  const FULL: Seconds = [610, 605, 630];
  const ROWS: readonly (readonly [string, Worker, Seconds])[] = [
    ['has yet to begin', told({}), FULL],
    ['is to have a shorter trial', told({ duration: '3m' }), [190, 185, 210]],
    ['was told nothing of its trial', told(null), FULL],
    ['says that it has no trial', told({}, { trial: null }), FULL],
    ['began just now', tries(4), [306, 301, 326]],
    ['says nothing of its health yet', tries(100), [210, 205, 230]],
    ['was healthy for longer than it has said', tries(140, { healthySeconds: 120 }), [170, 165, 180]],
    ['was healthy for as long as it says', tries(125, { healthySeconds: 120 }), [180, 180, 180]],
    ['restarted since', tries(200, { healthySeconds: 30, restarts: 1 }), [270, 270, 270]],
    ['restarted just now', tries(200, { restarts: 1 }), [310, 305, 330]],
    ['does not say since when it tries', tries(0, { since: '' }), [310, 305, 330]],
    ['waits for a reboot', tries(100, { awaitsReboot: 'systemd' }), FULL],
  ];
  for (const [name, worker, expected] of ROWS) {
    it(`is known where it ${name}`, () => assert.deepEqual(timeLeft([worker]), time(expected)));
  }
});
