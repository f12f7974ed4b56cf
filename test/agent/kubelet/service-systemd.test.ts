import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { createSystemdService } from '#agent/kubelet/service-systemd.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { codeOf } from '#shared/runtime/errors.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { describeOrSkip } from '../../support/describe-or-skip.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { until } from '../../support/until.ts';
import { type BusDaemon, noBusDaemon, startBusDaemon } from '../host/dbus/support/bus-daemon.ts';
import { startSystemdOnBus } from './support/systemd-on-bus.ts';

const never = new AbortController().signal;
const common = { unit: 'kubelet.service', random: () => 0, log: silentLog };

describeOrSkip('the kubelet as a unit of systemd', { skip: noBusDaemon }, () => {
  let daemon: BusDaemon;
  const open: { close(): void }[] = [];
  const closed = <T extends { close(): void }>(one: T): T => {
    open.push(one);
    return one;
  };
  const serviceOn = () =>
    closed(createSystemdService({ ...common, socketPath: daemon.socketPath, clock: systemClock, timeoutMs: 60_000 }));
  const systemdOn = async (properties?: Parameters<typeof startSystemdOnBus>[1]) =>
    closed(await startSystemdOnBus(daemon.socketPath, properties));
  before(async () => void (daemon = await startBusDaemon()));
  after(() => daemon?.stop());
  afterEach(() => {
    for (const one of open.splice(0)) one.close();
  });

  it('is told of at every change, and once more for what was not told while the bus was away', async () => {
    const systemd = await systemdOn();
    const service = serviceOn();
    let told = 0;
    const toldAre = (times: number): Promise<unknown> =>
      until(`word number ${times}`, () => told === times, { withinMs: 20_000, evidence: () => `told ${told} times` });
    const stop = service.watch(() => (told += 1));
    await toldAre(1);
    systemd.change();
    await toldAre(2);
    await daemon.kill();
    await toldAre(3);
    systemd.close();
    await daemon.start();
    const again = await systemdOn();
    await toldAre(4);
    again.change();
    await toldAre(5);
    stop();
    again.change();
    // Comes after it on the same connection.
    await service.status(never);
    assert.equal(told, 5);
  });

  it('is asked, and ordered, what it is', async () => {
    const text = (value: string) => ({ signature: 's', value });
    const systemd = await systemdOn({
      Id: text('kubelet.service'),
      LoadState: text('loaded'),
      ActiveState: text('active'),
      SubState: text('running'),
      MainPID: { signature: 'u', value: 42 },
      NRestarts: { signature: 'u', value: 3 },
    });
    const service = serviceOn();
    const { state, pid, automaticRestarts } = await service.status(never);
    assert.deepEqual({ state, pid, automaticRestarts }, { state: 'running', pid: 42, automaticRestarts: 3 });
    assert.deepEqual(systemd.calls.splice(0), ['LoadUnit kubelet.service', 'GetAll ']);
    await service.restart('a test', never);
    await service.start?.('a test', never);
    assert.deepEqual(systemd.calls, [
      'ResetFailedUnit kubelet.service',
      'RestartUnit kubelet.service replace',
      'ResetFailedUnit kubelet.service',
      'StartUnit kubelet.service replace',
    ]);
  });
});

describe('a kubelet whose bus cannot be reached', () => {
  const serviceOn = (clock = systemClock) => createSystemdService({ ...common, socketPath: '/nowhere/bus', clock });

  it('is in no state that anybody knows, and cannot be restarted', async () => {
    const service = serviceOn();
    const { state, run } = await service.status(never);
    assert.deepEqual([state, run], ['unknown', null]);
    await assert.rejects(service.restart('a test', never), (error) => codeOf(error) === 'SERVICE_UNREACHABLE');
    await assert.rejects(service.reboot('a test', never), (error) => codeOf(error) === 'SERVICE_UNREACHABLE');
  });

  it('is asked after ever more seldom, until nobody wants to know', async () => {
    const clock = createManualClock();
    const stop = serviceOn(clock).watch(() => assert.fail('nobody told'));
    const pauses: number[] = [];
    while (pauses.length < 10) {
      // 2 s are what the bus has to answer in.
      const pause = await until('a pause', () => clock.sleeping().find((ms) => ms !== 2_000), { withinMs: 20_000 });
      pauses.push(pause);
      await clock.advance(pause);
    }
    stop();
    assert.deepEqual(pauses, [200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000]);
    await until('the end of it', () => clock.sleeping().length === 0, { withinMs: 20_000 });
  });
});
