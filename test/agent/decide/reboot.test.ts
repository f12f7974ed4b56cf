import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decide } from '#agent/decide/decide.ts';
import type { Observation } from '#agent/decide/observation.ts';
import type { Change, Config, KubeletRun, Reboot, State } from '#agent/decide/state.ts';
import { ready, rebooted, run, table } from '../../support/agent/decision-table.ts';
import { A, B, idle, onTrial, seen, wanting } from '../../support/agent/states.ts';

const HOUR = 3_600_000;
const order: Reboot = { by: 'systemd', boot: 'boot-1', timeoutMs: HOUR };
const withOrder = (config: Config, reboot: Reboot = order): Config => ({ ...config, reboot });
const NEW = withOrder(B);
const before: KubeletRun = { run: 'run-1', bootId: 'boot-1' };
const awaiting = (waitedMs = 0, orders = 1): Change => ({ step: 'reboot', bootId: 'boot-1', orders, waitedMs });
const waits = (change: Change = awaiting(), config = NEW): State => onTrial(change, { config, before });
const wanted = wanting(NEW);

table('a change that takes effect with a boot', {
  'is installed like every other': [
    idle(A),
    seen(wanted, { staged: { ...ready, config: NEW } }),
    'trial (install): B, good A → install B',
  ],
  'has the machine rebooted instead of the kubelet restarted when its files are in place': [
    waits({ step: 'install' }),
    seen(wanted),
    'trial (reboot): B, good A → reboot by systemd',
  ],
  'leaves the reboot to a daemon where the pool says so': [
    waits({ step: 'install' }, withOrder(B, { ...order, by: 'sentinel' })),
    seen(wanting(withOrder(B, { ...order, by: 'sentinel' }))),
    'trial (reboot): B, good A → reboot by sentinel',
  ],
  'is followed by a plain restart where the machine has left the boot that was to end: nothing reboots it twice': [
    waits({ step: 'install' }),
    seen(wanted, rebooted),
    'trial (restart): B, good A → restart',
  ],
  'waits for the boot and judges nothing before it': [
    waits(),
    seen(wanted, { health: { health: 'down', reason: 'nobody listens' } }),
    'trial (reboot): B, good A',
  ],
  'waits on when the kubelet is started by somebody else in the same boot': [
    waits(),
    seen(wanted, run('run-2')),
    'trial (reboot): B, good A',
  ],
  'is not told again within half a minute': [waits(awaiting(24_999)), seen(wanted), 'trial (reboot): B, good A'],
  'is told again to whom it was told when nothing happens, in the same boot': [
    waits(awaiting(25_000)),
    seen(wanted),
    'trial (reboot): B, good A → reboot by systemd',
  ],
  'is judged from the boot on': [waits(), seen(wanted, rebooted), 'trial (judge): B, good A → withdraw-reboot'],
  'is judged from the boot on also where the order is not in the assignment any more': [
    waits(),
    seen(wanting(B), rebooted),
    'trial (judge): B, good A → withdraw-reboot',
  ],
  'is waited for as long as the pool says': [
    waits(awaiting(HOUR - 5_001, 10)),
    seen(wanted),
    'trial (reboot): B, good A',
  ],
  'fails with a reason of its own when the boot never comes, and what was left for a daemon is taken away': [
    waits(awaiting(HOUR - 5_000, 9)),
    seen(wanted),
    'falling-back (install): B, active A, RebootMissing → withdraw-reboot, install A',
  ],
  'is waited for until one look before that': [
    waits(awaiting(HOUR - 5_001, 20)),
    seen(wanted),
    'trial (reboot): B, good A',
  ],
  'fails with that reason whatever the kubelet was like before: whether a machine boots does not depend on it': [
    onTrial(awaiting(HOUR - 5_000, 9), { config: NEW, before, wasHealthy: false }),
    seen(wanted),
    'falling-back (install): B, active A, RebootMissing → withdraw-reboot, install A',
  ],
  'is waited for no longer when something else is wanted': [
    waits(),
    seen(wanting(A)),
    'falling-back (install): A → withdraw-reboot, install A',
  ],
});

describe('a reboot that is waited for', () => {
  it('is ordered ever more seldom, and never in another boot', () => {
    let state = waits();
    const orders: number[] = [];
    const look = (bootId: string): Partial<Observation> => ({ ...wanted, bootId, elapsedMs: 5_000 });
    for (let second = 5; second < 1_000; second += 5) {
      const { next, actions } = decide(state, seen(look('boot-1')));
      if (actions.some((action) => action.do === 'reboot')) orders.push(second);
      state = next;
    }
    assert.deepEqual(orders, [30, 90, 210, 450, 930]);
    const { next, actions } = decide(state, seen(look('boot-2')));
    assert.deepEqual(actions, [{ do: 'withdraw-reboot' }]);
    assert.deepEqual(decide(next, seen(look('boot-2'))).actions, []);
  });

  it('leaves the kubelet alone when it never comes: its run never heard of the config', () => {
    const { next } = decide(waits(awaiting(HOUR)), seen(wanted));
    const { next: back, actions } = decide(next, seen(wanting(NEW)));
    assert.deepEqual(actions, []);
    assert.equal(back.doing.phase === 'falling-back' && back.doing.change.step, 'judge');
  });
});
