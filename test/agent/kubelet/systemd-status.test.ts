import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DBusValue } from '#agent/host/dbus/value.ts';
import { statusFromProperties } from '#agent/kubelet/systemd-status.ts';
import type { ServiceStatus } from '#agent/ports/kubelet-service.ts';

const NO_JOB: DBusValue = [0, '/'];

/** What systemd says of a unit that is down. */
const down = (properties: Readonly<Record<string, DBusValue>>): ServiceStatus =>
  statusFromProperties(
    new Map<DBusValue, DBusValue>(
      Object.entries({ LoadState: 'loaded', Id: 'kubelet.service', MainPID: 0, Job: NO_JOB, ...properties }).map(
        ([name, value]) => [name, { signature: 's', value }],
      ),
    ),
  );

describe('a unit that is down', () => {
  it('was stopped where it ended in good order, or was never started', () => {
    assert.equal(down({ ActiveState: 'inactive', Result: 'success' }).wasStopped, true);
  });

  it('was not stopped where it failed, for whatever reason', () => {
    for (const Result of ['exit-code', 'signal', 'oom-kill', 'timeout', 'start-limit-hit', 'watchdog']) {
      assert.equal(down({ ActiveState: 'failed', Result }).wasStopped, undefined, Result);
      assert.equal(down({ ActiveState: 'inactive', Result }).wasStopped, undefined, Result);
    }
  });

  it('was not stopped where it waits for its next start, or is still on its way down', () => {
    const restarting: DBusValue = [815, '/org/freedesktop/systemd1/job/815'];
    assert.equal(down({ ActiveState: 'inactive', Result: 'success', Job: restarting }).wasStopped, undefined);
    assert.equal(down({ ActiveState: 'activating', Result: 'success' }).wasStopped, undefined);
    assert.equal(down({ ActiveState: 'deactivating', Result: 'success' }).wasStopped, undefined);
  });
});

describe('a unit that comes up', () => {
  it('awaits its restart for as long as systemd says so, in the words of older and newer releases', () => {
    const awaits = (SubState: string) => down({ ActiveState: 'activating', SubState }).awaitsRestart;
    assert.deepEqual(['auto-restart', 'auto-restart-queued'].map(awaits), [true, true]);
    assert.deepEqual(['start', 'start-pre', ''].map(awaits), [undefined, undefined, undefined]);
    assert.equal(down({ ActiveState: 'activating' }).awaitsRestart, undefined);
  });
});
