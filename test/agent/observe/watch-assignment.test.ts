import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { watchAssignment } from '#agent/observe/watch-assignment.ts';
import { KubeError, type KubeErrorCode } from '#shared/kube/kube-error.ts';
import { type Log, silentLog } from '#shared/runtime/log.ts';
import { reasonOf } from '#shared/runtime/errors.ts';
import { createFakeKube } from '../../support/agent/fake-kube.ts';
import { createManualClock } from '../../support/manual-clock.ts';

describe('the watch of the assignment', () => {
  it('says why it cannot be, each reason once, also one that follows another', async () => {
    const said: string[] = [];
    const warn = ((fields: { readonly err: unknown }) => void said.push(reasonOf(fields.err))) as Log['warn'];
    const info = ((_: object, message: string) => void said.push(message)) as Log['info'];
    const kube = createFakeKube();
    const { list } = kube;
    const failing = (code: KubeErrorCode) => () => Promise.reject(new KubeError(code, code));
    kube.list = failing('KUBE_UNREACHABLE');
    const clock = createManualClock();
    const end = new AbortController();
    const nothing = (): void => undefined;
    const running = watchAssignment({
      kube,
      nodeName: 'node-1',
      clock,
      random: () => 0.5,
      log: { ...silentLog, warn, info },
      onHeard: nothing,
      onChange: nothing,
    }).run(end.signal);
    await clock.advance(600_000);
    kube.list = failing('KUBE_UNAUTHORIZED');
    await clock.advance(600_000);
    assert.deepEqual(said, ['KUBE_UNREACHABLE', 'KUBE_UNAUTHORIZED']);
    kube.list = list;
    await clock.advance(60_000);
    assert.equal(said[2], 'the assignment is watched again');
    end.abort();
    await clock.advance(0);
    await running;
  });
});
