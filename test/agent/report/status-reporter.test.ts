import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { createReporter, type Reporter } from '#agent/report/status-reporter.ts';
import { type NodeReport, nodeReportOf } from '#agent/report/kubelet-node-status.ts';
import type { State } from '#agent/decide/state.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import { HEARTBEAT_MS } from '#shared/contract/api/silent-agent.ts';
import { KubeError, type KubeErrorCode } from '#shared/kube/kube-error.ts';
import { KUBELET_NODES } from '#shared/kube/kube.ts';
import { reasonOf } from '#shared/runtime/errors.ts';
import { type Log, silentLog } from '#shared/runtime/log.ts';
import { createManualClock, type ManualClock } from '../../support/manual-clock.ts';
import { createFakeKube, type FakeKube } from '../../support/agent/fake-kube.ts';
import { A, idle, judging, onTrial, seen } from '../../support/agent/states.ts';

const NODE = 'node-1';
const told = (state: State): NodeReport =>
  nodeReportOf({ state, seen: seen(), actions: [], agentVersion: '1', fault: null, diskProblems: [] });

describe('the reporter', () => {
  let kube: FakeKube;
  let clock: ManualClock;
  let reporter: Reporter;
  let end: AbortController;
  let running: Promise<void>;
  let random: number;
  let collections: number;
  let said: string[];
  const writes = (): number => kube.calls.filter((call) => call.startsWith('patch')).length;
  const hear = async (): Promise<void> => {
    reporter.received(await kube.get<KubeletNode>({ resource: KUBELET_NODES }, NODE));
  };

  beforeEach(() => {
    kube = createFakeKube();
    kube.assign(NODE, {});
    clock = createManualClock();
    random = 0.5;
    collections = 0;
    said = [];
    const warn = ((fields: { readonly err: unknown }) => void said.push(reasonOf(fields.err))) as Log['warn'];
    reporter = createReporter({
      kube,
      nodeName: NODE,
      clock,
      random: () => random,
      log: { ...silentLog, warn },
      collect: () => void (collections += 1),
    });
    end = new AbortController();
    running = reporter.run(end.signal);
  });
  afterEach(async () => {
    end.abort();
    await clock.advance(0);
    await running;
  });

  it('writes nothing before it has heard of a KubeletNode, or has something to tell', async () => {
    reporter.report(told(idle(A)));
    await clock.advance(600_000);
    assert.equal(writes(), 0);
    await hear();
    await clock.advance(0);
    assert.equal(kube.status(NODE).active?.name, A.source.name);
  });

  it('writes once what does not change, and then its heartbeat', async () => {
    await hear();
    for (let minute = 0; minute < 60; minute += 1) {
      reporter.report(told(idle(A)));
      await clock.advance(60_000);
    }
    const beats = 3_600_000 / HEARTBEAT_MS;
    assert.ok(writes() >= beats && writes() <= beats * 1.25 + 1, String(writes()));
  });

  it('says why the status cannot be written, each reason once, until it was', async () => {
    const { mergePatch } = kube;
    const fail = async (code: KubeErrorCode): Promise<void> => {
      kube.mergePatch = () => Promise.reject(new KubeError(code, code));
      await clock.advance(600_000);
    };
    await hear();
    reporter.report(told(idle(A)));
    await fail('KUBE_UNREACHABLE');
    await fail('KUBE_FORBIDDEN');
    await fail('KUBE_UNREACHABLE');
    assert.deepEqual(said, ['KUBE_UNREACHABLE', 'KUBE_FORBIDDEN']);
    kube.mergePatch = mergePatch;
    await clock.advance(2 * HEARTBEAT_MS);
    await fail('KUBE_FORBIDDEN');
    assert.deepEqual(said.slice(2), ['KUBE_FORBIDDEN']);
  });

  it('gives back what is dead after each heartbeat, and never with news', async () => {
    await hear();
    reporter.report(told(idle(A)));
    await clock.advance(1_000);
    assert.deepEqual([writes(), collections], [1, 0]);
    await clock.advance(HEARTBEAT_MS);
    assert.deepEqual([writes(), collections], [2, 1]);
  });

  it('does not send again and again what the definition of an older release drops, but with its heartbeat', async () => {
    const { mergePatch } = kube;
    kube.mergePatch = (place, name, body, ...rest) => {
      const { kubeletFlags: _, ...status } = (body as { readonly status: Readonly<Record<string, unknown>> }).status;
      return mergePatch(place, name, { status }, ...rest);
    };
    await hear();
    const { status, ...account } = told(idle(A));
    const say = (kubeletFlags: readonly string[]): void =>
      reporter.report({ ...account, status: { ...status, kubeletFlags } });
    for (let second = 0; second < 600; second += 1) {
      say([]);
      await clock.advance(1_000);
    }
    assert.ok(writes() >= 2 && writes() <= 4, String(writes()));
    const before = writes();
    say(['containerd']);
    await clock.advance(0);
    assert.equal(writes(), before + 1);
    Object.assign(kube, { mergePatch });
    await clock.advance(HEARTBEAT_MS);
    assert.deepEqual(kube.status(NODE).kubeletFlags, ['containerd']);
  });

  it('says the same in other words once a minute at most, and anything else at once', async () => {
    await hear();
    const { status, ...account } = told(idle(A));
    const sayIn = (message: string, reason = 'CheckpointFailed'): void =>
      reporter.report({ ...account, status: { ...status, error: { reason, message, at: message } } });
    for (let second = 0; second < 600; second += 1) {
      sayIn(`it failed ${second} times`);
      await clock.advance(1_000);
    }
    assert.ok(writes() >= 10 && writes() <= 12, String(writes()));
    assert.match(kube.status(NODE).error?.message ?? '', /^it failed 5[4-9]\d times$/);
    const before = writes();
    sayIn('and now for good', 'CannotInstall');
    await clock.advance(0);
    assert.equal(writes(), before + 1);
  });

  it('tells its latest words when the minute is over, though nothing is told any more', async () => {
    await hear();
    const { conditions, ...account } = told(idle(A));
    for (const message of ['first', 'second', 'third']) {
      reporter.report({ ...account, conditions: conditions.map((each) => ({ ...each, message })) });
      await clock.advance(1_000);
    }
    assert.equal(kube.status(NODE).conditions?.[0]?.message, 'second');
    await clock.advance(60_000);
    assert.equal(kube.status(NODE).conditions?.[0]?.message, 'third');
  });

  it('asks again for a turn once a minute at most', async () => {
    await hear();
    const { status, ...account } = told(idle(A));
    for (let second = 0; second < 600; second += 1) {
      const awaitsTurn = { reason: 'NewBase', seen: String(second), message: 'it waits' } as const;
      reporter.report({ ...account, status: { ...status, awaitsTurn } });
      await clock.advance(1_000);
    }
    assert.ok(writes() >= 10 && writes() <= 12, String(writes()));
  });

  it('gives its heartbeat after five minutes at the latest', async () => {
    random = 0;
    await hear();
    reporter.report(told(idle(A)));
    await clock.advance(0);
    await clock.advance(300_000 - 1);
    assert.equal(writes(), 1);
    await clock.advance(1);
    assert.equal(writes(), 2);
  });

  it('gives it a fifth sooner at the soonest: a fleet is not to beat in step', async () => {
    random = 1;
    await hear();
    reporter.report(told(idle(A)));
    await clock.advance(0);
    await clock.advance(240_000 - 1);
    assert.equal(writes(), 1);
    await clock.advance(1);
    assert.equal(writes(), 2);
  });

  it('takes away what holds no longer', async () => {
    await hear();
    reporter.report(told(onTrial(judging())));
    await clock.advance(1_000);
    assert.notEqual(kube.status(NODE).trial, undefined);
    reporter.report(told(idle(null)));
    await clock.advance(1_000);
    const { trial, promotedAt, active } = kube.status(NODE);
    assert.deepEqual([trial, promotedAt, active], [undefined, undefined, { name: 'local' }]);
  });

  it('tries again until it is heard, ever more seldom, and then tells the latest only', async () => {
    await hear();
    kube.setAway(true);
    reporter.report(told(onTrial(judging())));
    await clock.advance(600_000);
    assert.ok(writes() > 5 && writes() < 25, String(writes()));
    reporter.report(told(idle(A)));
    kube.setAway(false);
    const before = writes();
    await clock.advance(60_000);
    assert.equal(kube.status(NODE).phase, 'Idle');
    assert.equal(writes() - before, 1);
  });

  it('puts right what somebody else wrote over it', async () => {
    await hear();
    reporter.report(told(idle(A)));
    await clock.advance(1_000);
    await kube.mergePatch(
      { resource: KUBELET_NODES },
      NODE,
      { status: { phase: 'Broken' } },
      { subresource: 'status' },
    );
    await hear();
    await clock.advance(1_000);
    assert.equal(kube.status(NODE).phase, 'Idle');
  });

  it('is not confused by the late news of its own writes', async () => {
    await hear();
    reporter.report(told(onTrial(judging())));
    await clock.advance(1_000);
    const old = await kube.get<KubeletNode>({ resource: KUBELET_NODES }, NODE);
    reporter.report(told(idle(A)));
    await clock.advance(1_000);
    const before = writes();
    reporter.received(old);
    await clock.advance(1_000);
    assert.equal(writes(), before);
  });

  const obeying = (order: number): State => ({ ...idle(A), obeyed: { uid: 'u', order } });
  /** @returns the KubeletNode as it was once this was told */
  const tell = async (state: State): Promise<KubeletNode> => {
    reporter.report(told(state));
    await clock.advance(1_000);
    return (await kube.get<KubeletNode>({ resource: KUBELET_NODES }, NODE)) ?? assert.fail();
  };

  it('puts right what a restored cluster lists, though it wrote that very version', async () => {
    await hear();
    const old = await tell(obeying(1));
    await tell(obeying(2));
    kube.put('kubeletnodes', { ...old });
    reporter.received(old, true);
    await clock.advance(1_000);
    assert.equal(kube.status(NODE).obeyedOrder, 2);
  });

  it('hears of versions again that it wrote before the cluster was restored', async () => {
    await hear();
    const mine = await tell(obeying(1));
    reporter.received(null, true);
    kube.remove('kubeletnodes', NODE);
    kube.assign(NODE, {});
    const { resourceVersion = '' } = mine.metadata;
    reporter.received({ metadata: { name: NODE, resourceVersion }, spec: {} });
    await clock.advance(1_000);
    assert.equal(kube.status(NODE).obeyedOrder, 1);
  });

  it('finds with its heartbeat that the cluster went back in time, and says at once how it is', async () => {
    await hear();
    const { status, ...old } = await tell(obeying(1));
    await tell({ ...onTrial(judging()), obeyed: { uid: 'u', order: 2 } });
    kube.put('kubeletnodes', { ...old, status });
    const before = writes();
    while (writes() === before) await clock.advance(1);
    assert.deepEqual([kube.status(NODE).obeyedOrder, kube.status(NODE).phase, writes()], [2, 'Trial', before + 2]);
  });

  it('stops trying for a KubeletNode that is gone, and reports to the next one', async () => {
    await hear();
    reporter.report(told(idle(A)));
    await clock.advance(1_000);
    kube.remove('kubeletnodes', NODE);
    await clock.advance(3_600_000);
    assert.ok(writes() <= 3, String(writes()));
    kube.assign(NODE, {});
    await hear();
    await clock.advance(60_000);
    assert.equal(kube.status(NODE).phase, 'Idle');
  });

  it('does not write more often than four times a second, whatever it is told', async () => {
    await hear();
    for (let look = 0; look < 100; look += 1) {
      reporter.report(told(look % 2 === 0 ? idle(A) : idle(null)));
      await clock.advance(10);
    }
    assert.ok(writes() <= 5, String(writes()));
  });
});
