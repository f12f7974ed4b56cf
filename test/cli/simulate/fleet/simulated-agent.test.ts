import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Preflight } from '#agent/ports/preflight.ts';
import type { KubeletNode, KubeletNodeSpec, KubeletNodeStatus } from '#shared/contract/api/kubelet-node.ts';
import { toTimestamp } from '#shared/runtime/clock.ts';
import { configMapName, payloadSha256 } from '#shared/contract/config-map-hash.ts';
import { type FailureOf, nextReport, rebooted } from '#cli/simulate/fleet/simulated-agent.ts';
import { GOOD, OTHER_GOOD, SHORT, sourceOf, type Stepped, stepped } from '../../../dkc/support/steps.ts';
import { NOW } from '../../../support/fleet.ts';
import { EVERY_POINT } from '../../../support/sample.ts';
import { NODE, payloadOf } from '../../../support/agent/whole-node.ts';

const DEADLY = payloadOf({ maxPods: 160 });
const REFUSED = payloadOf({ maxPods: 40 });
const REBOOT = { by: 'sentinel', boot: 'boot-1', timeout: '5m' } as const;

/** What a person or the reconciler writes next, by what the node says at that moment. */
type Write = (status: KubeletNodeStatus) => KubeletNodeSpec;

const spec = (payload: string, more: KubeletNodeSpec = {}, pool = 'general'): KubeletNodeSpec => ({
  configSource: sourceOf(configMapName(pool, payload), payload),
  trial: SHORT,
  ...more,
});

const WRITES: Readonly<Record<string, Write>> = {
  good: () => spec(GOOD),
  'other good': () => spec(OTHER_GOOD),
  deadly: () => spec(DEADLY),
  refused: () => spec(REFUSED),
  'good, of a pool that was renamed': () => spec(GOOD, {}, 'renamed'),
  'good, in place of the local config': () => spec(GOOD, { apply: 'replace' }),
  'deadly, forgiven': ({ rejected = [] }) => {
    const { at } = rejected.at(-1) ?? {};
    return spec(DEADLY, at === undefined ? {} : { forgive: at });
  },
  local: () => ({}),
};

/** What planners and people go by. Reasons of failures and times are each one's own. */
const shown = ({ phase, assigned, active, lastKnownGood, rejected = [], error, promotedAt }: KubeletNodeStatus) => ({
  phase,
  assigned: nameOf(assigned),
  active: nameOf(active),
  lastKnownGood: nameOf(lastKnownGood),
  rejected: rejected.map(nameOf),
  failed: (error ?? null) !== null,
  promoted: (promotedAt ?? null) !== null,
});

const nameOf = (config: KubeletNodeStatus['active']): string => `${config?.name} ${config?.apply ?? ''}`;

const failureOf: FailureOf = ({ name }) =>
  name === configMapName('general', DEADLY) ? { reason: 'CrashLoop', message: '' } : null;

const refusalOf: FailureOf = ({ sha256 }) =>
  sha256 === payloadSha256(REFUSED) ? { reason: 'PreflightFailed', message: '' } : null;

const preflight: Preflight = ({ maxPods }) =>
  maxPods === 40 ? [{ code: 'too-many-pods', severity: 'error', field: 'maxPods', message: '47 pods run there' }] : [];

interface Played {
  readonly status: () => KubeletNodeStatus;
  readonly restarts: () => number;
  write(next: KubeletNodeSpec): void;
  boot(): void;
  /** One report. @returns whether there was one */
  step(): boolean;
  rest(): void;
}

function simulated(): Played {
  let node: KubeletNode = { metadata: { name: NODE, generation: 1 } };
  let restarts = 0;
  let now = NOW;
  const played: Played = {
    status: () => node.status ?? {},
    restarts: () => restarts,
    write(next) {
      const generation = (node.metadata.generation ?? 0) + 1;
      node = { ...node, metadata: { ...node.metadata, generation }, spec: next };
    },
    boot: () => (node = rebooted(node)),
    step() {
      now += 1_000;
      const next = nextReport(node, toTimestamp(now), failureOf, refusalOf);
      node = { ...node, status: next?.status ?? played.status() };
      restarts += next?.restarted === true ? 1 : 0;
      return next !== null;
    },
    rest() {
      while (played.step());
    },
  };
  played.rest();
  return played;
}

async function realNode(): Promise<Stepped> {
  // The simulated one does not see what a kubelet runs, so it takes nothing over without a restart.
  const on = stepped({ fates: { 160: 'dies' }, isSeen: false, preflight });
  for (const payload of [GOOD, OTHER_GOOD, DEADLY, REFUSED]) {
    for (const pool of ['general', 'renamed']) {
      const metadata = { namespace: 'kubelet-gitops', name: configMapName(pool, payload) };
      on.node.kube.put('configmaps', { metadata, data: { kubelet: payload } });
    }
  }
  await on.node.until('well', on.node.kubelet.isHealthy);
  return on;
}

interface Both {
  readonly real: Stepped;
  readonly played: Played;
  readonly promotedAt: () => readonly (string | null)[];
  readonly write: (next: KubeletNodeSpec) => void;
  readonly rest: () => Promise<void>;
  readonly agree: (when: string) => void;
}

/** A real and a simulated agent that are at rest with the same config. */
async function bothAt(first: string): Promise<Both> {
  const [real, played] = [await realNode(), simulated()];
  const both: Both = {
    real,
    played,
    promotedAt: () => [real.node.status(), played.status()].map(({ promotedAt }) => promotedAt ?? null),
    write(next) {
      real.spec(next);
      played.write(next);
    },
    async rest() {
      await real.rest();
      played.rest();
    },
    agree: (when) => assert.deepEqual(shown(played.status()), shown(real.node.status()), when),
  };
  both.write(WRITES[first]?.({}) ?? {});
  await both.rest();
  return both;
}

const isTrying = (status: KubeletNodeStatus, payload: string): boolean =>
  status.phase === 'Trial' && status.active?.sha256 === payloadSha256(payload);

const IN_A_ROW = EVERY_POINT ? 3 : 2;

/** A walk on which every `IN_A_ROW` of these words follow each other: the last one comes first wherever it still may. */
function everyRow(words: readonly string[]): readonly string[] {
  const walk = Array.from({ length: IN_A_ROW - 1 }, () => words[0] ?? '');
  const seen = new Set<string>();
  for (;;) {
    const way = walk.slice(1 - IN_A_ROW);
    const next = words.findLast((word) => !seen.has([...way, word].join()));
    if (next === undefined) return walk;
    seen.add([...way, next].join());
    walk.push(next);
  }
}

describe('a simulated agent', () => {
  it(`comes to where the real one comes to, whatever ${IN_A_ROW} writes follow each other`, async () => {
    const words = Object.keys(WRITES);
    const walk = everyRow(words);
    assert.equal(walk.length, words.length ** IN_A_ROW + IN_A_ROW - 1);
    const both = await bothAt('local');
    const { real, played } = both;
    for (const [index, name] of walk.entries()) {
      real.spec(WRITES[name]?.(real.node.status()) ?? {});
      played.write(WRITES[name]?.(played.status()) ?? {});
      await both.rest();
      const when = walk.slice(0, index + 1).join('; ');
      both.agree(when);
      assert.equal(played.restarts(), real.node.kubelet.orders.length, when);
    }
    await real.stop();
  });

  for (const [what, payload] of [
    ['good', GOOD],
    ['deadly', DEADLY],
  ] as const) {
    it(`does so when it is told of something else in a trial of a ${what} config`, async () => {
      for (const before of ['local', 'other good']) {
        for (const [name, write] of Object.entries(WRITES)) {
          const both = await bothAt(before);
          both.write(spec(payload));
          await both.real.node.until('on trial', () => isTrying(both.real.node.status(), payload));
          both.played.step();
          assert.ok(isTrying(both.played.status(), payload));
          const promoted = both.promotedAt();
          both.write(write({}));
          await both.rest();
          both.agree(`${before}, then ${name}`);
          const [again, isAgain] = both.promotedAt().map((at, index) => at !== promoted[index]);
          assert.equal(again, isAgain, `${before}, then ${name}: promoted again`);
          await both.real.stop();
        }
      }
    });
  }

  it('waits for a boot as the real one does, and gives up waiting when it is told of something else', async () => {
    for (const then of ['boot', 'local', 'other good', 'good']) {
      const both = await bothAt('good');
      const { real, played } = both;
      const restarts = played.restarts();
      both.write({ ...spec(OTHER_GOOD, { apply: 'replace', keepFields: [] }), reboot: REBOOT });
      await real.node.until('waiting', () => real.node.status().trial?.awaitsReboot === 'sentinel');
      played.rest();
      const { trial, active } = played.status();
      assert.equal(trial?.awaitsReboot, 'sentinel');
      both.agree('waiting');
      // Told of the same once more, it waits on.
      both.write({ ...spec(OTHER_GOOD, { apply: 'replace', keepFields: [] }), reboot: REBOOT, commit: 'c0ffee' });
      await real.node.pass(5_000);
      played.rest();
      assert.deepEqual([played.status().trial, played.status().active], [trial, active]);
      both.agree('waiting on');
      assert.equal(played.restarts(), restarts);
      if (then === 'boot') {
        await real.node.stop();
        real.node.reboot();
        real.node.start();
        played.boot();
      } else both.write(WRITES[then]?.({}) ?? {});
      await both.rest();
      both.agree(then);
      if (then !== 'boot') assert.equal(played.restarts(), real.node.kubelet.orders.length, then);
      await real.stop();
    }
  });
});
