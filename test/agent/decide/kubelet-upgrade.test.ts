import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decide } from '#agent/decide/decide.ts';
import type { Observation } from '#agent/decide/observation.ts';
import type { Change, Reboot, State, Trial } from '#agent/decide/state.ts';
import { differ, ready, run, table } from '../../support/agent/decision-table.ts';
import { B, idle, INSTALLING, judging, onTrial, RESTARTING, seen, TERMS, wanting } from '../../support/agent/states.ts';

const NOW = '2026-01-01T00:09:55Z';
const version = (kubeletVersion: string | undefined): Partial<Observation> => ({ kubeletVersion, at: NOW });
const UPGRADED = version('v1.35.0');
/** A trial that began with a kubelet of 1.34. */
const begunIn34 = (change: Change, parts: Partial<Trial> = {}): State => onTrial(change, { minor: 34, ...parts });
const ALMOST_PROVED = judging({ healthyMs: TERMS.durationMs - 5_000 });
const reboot: Reboot = { by: 'systemd', boot: 'boot-1', timeoutMs: 3_600_000 };
const REBOOTING: Change = { step: 'reboot', bootId: 'boot-1', orders: 1, waitedMs: 0 };

const BEGUN_OVER = 'trial (install): B, good A';
const PROMOTED = 'idle: B';

table('a trial whose kubelet', {
  'is of another minor version by now begins over: what the one before proved does not count': [
    begunIn34(ALMOST_PROVED),
    seen(wanting(B), UPGRADED),
    `${BEGUN_OVER} → install B`,
  ],
  'was downgraded begins over as well': [
    begunIn34(ALMOST_PROVED),
    seen(wanting(B), version('v1.33.9')),
    `${BEGUN_OVER} → install B`,
  ],
  'is of another patch version goes on': [
    begunIn34(ALMOST_PROVED),
    seen(wanting(B), version('v1.34.7')),
    `${PROMOTED} → collect-garbage`,
  ],
  'does not say of which version it is goes on': [
    begunIn34(ALMOST_PROVED),
    seen(wanting(B), version(undefined)),
    `${PROMOTED} → collect-garbage`,
  ],
  'did not say of which version it was goes on': [
    onTrial(ALMOST_PROVED),
    seen(wanting(B), UPGRADED),
    `${PROMOTED} → collect-garbage`,
  ],
  'is upgraded before its restart has the files made for the new version': [
    begunIn34(RESTARTING),
    seen(wanting(B), UPGRADED),
    `${BEGUN_OVER} → install B`,
  ],
  'is upgraded before the files are in place goes on: they are made for the new version anyway': [
    begunIn34(INSTALLING),
    seen(wanting(B), UPGRADED),
    'trial (restart): B, good A → restart',
  ],
  'is upgraded while the machine is to boot waits for the boot': [
    begunIn34(REBOOTING, { config: { ...B, reboot } }),
    seen(wanting({ ...B, reboot }), UPGRADED),
    'trial (reboot): B, good A',
  ],
});

describe('a trial that begins over after an upgrade', () => {
  /** What it is after the look that saw the upgrade, and what is done at the next look, when its files are in place. */
  const over = (change: Change, ...parts: readonly Partial<Observation>[]) => {
    const first = decide(
      begunIn34(change, { before: { run: 'run-0', bootId: 'boot-1' } }),
      seen(wanting(B), UPGRADED, ...parts),
    );
    const { change: next } = first.next.doing as Trial;
    const second = decide(first.next, seen(wanting(B), UPGRADED, ...parts, { files: { files: 'installed' } }));
    const { change: later } = second.next.doing as Trial;
    return { trial: first.next.doing, next, later: later.step, actions: second.actions.map((action) => action.do) };
  };

  it('is of the new version from now on, and has its whole time before it', () => {
    const { trial, later, actions } = over(ALMOST_PROVED);
    assert.deepEqual(trial, {
      ...(begunIn34(ALMOST_PROVED).doing as Trial),
      minor: 35,
      since: NOW,
      before: null,
      change: { step: 'install', running: { run: 'run-1', bootId: 'boot-1' } },
    });
    assert.deepEqual([later, actions], ['judge', []]);
  });

  it('restarts the kubelet where the new version needs other files', () => {
    assert.deepEqual(over(ALMOST_PROVED, differ).actions, ['restart-kubelet']);
  });

  it('restarts the kubelet where other files were in place when it was started', () => {
    assert.deepEqual(over(ALMOST_PROVED, { startedAsInstalled: false }).actions, ['restart-kubelet']);
  });

  it('restarts the kubelet where it was not restarted for the trial yet', () => {
    assert.deepEqual(over(RESTARTING).actions, ['restart-kubelet']);
  });

  it('restarts the kubelet where no run of it is seen', () => {
    assert.deepEqual(over(ALMOST_PROVED, run(null)).actions, ['restart-kubelet']);
  });
});

describe('the version that a trial begins with', () => {
  const began = (kubeletVersion: string | undefined): Trial =>
    decide(idle(null), seen(wanting(B), { staged: ready, kubeletVersion })).next.doing as Trial;

  it('is written down by its minor number, or not at all', () => {
    assert.equal(began('v1.34.2').minor, 34);
    for (const unknown of [undefined, 'v2.0.0']) assert.equal('minor' in began(unknown), false);
  });
});
