import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { SourceFacts } from '#reconciler/reporting/source/source-status.ts';
import { createSourceWriter } from '#reconciler/reporting/source/source-writer.ts';
import { type KubeletSource, SOURCE_NAME } from '#shared/contract/api/kubelet-source.ts';
import { KubeError } from '#shared/kube/kube-error.ts';
import { type Kube, KUBELET_SOURCES } from '#shared/kube/kube.ts';
import type { Log } from '#shared/runtime/log.ts';
import { COMMIT_A, COMMIT_B } from '../../../support/fleet.ts';
import { createManualClock, type ManualClock } from '../../../support/manual-clock.ts';
import { type Cluster, startCluster } from '../../../support/takeover/cluster.ts';
import { FAILING, factsOf, REFUSAL } from './support/states.ts';

const TEN_MINUTES = 10 * 60_000;

interface Bench {
  readonly cluster: Cluster;
  readonly clock: ManualClock;
  /** A pass ended so. */
  pass(facts: SourceFacts): Promise<void>;
  source(): KubeletSource | undefined;
  writes(): number;
  readonly said: string[];
  /** What it was, each time that it stood as it was shown. */
  readonly stood: KubeletSource[];
}

interface Terms {
  readonly network?: (kube: Kube) => Kube;
  readonly mayWrite?: () => boolean;
}

async function writing(
  { network = (kube) => kube, mayWrite = () => true }: Terms,
  see: (bench: Bench) => Promise<void>,
) {
  const clock = createManualClock();
  const cluster = await startCluster(clock);
  const said: string[] = [];
  const note = (_: unknown, message?: string): void => void said.push(message ?? '');
  const log = { debug: note, info: note, warn: note, error: note } as unknown as Log;
  const kube = network(cluster.kubeAs('one'));
  const stood: KubeletSource[] = [];
  const onStands = (object: KubeletSource): void => void stood.push(object);
  const writer = createSourceWriter({ kube, mayWrite, clock, random: () => 0, log, onStands });
  const stop = new AbortController();
  const running = writer.run(stop.signal);
  await see({
    cluster,
    clock,
    stood,
    said,
    async pass(facts) {
      writer.show(facts);
      await clock.advance(15_000);
    },
    source: () => cluster.objects.get(KUBELET_SOURCES, SOURCE_NAME),
    writes: () => cluster.written.length,
  });
  stop.abort();
  await running;
}

const ready = (source: KubeletSource | undefined): string | undefined =>
  source?.status?.conditions?.find(({ type }) => type === 'Ready')?.status;

const failingWith =
  (code: ConstructorParameters<typeof KubeError>[0], isOn: () => boolean) =>
  (kube: Kube): Kube => ({
    ...kube,
    get: (place, name, signal) =>
      isOn() ? Promise.reject(new KubeError(code, 'the server says no')) : kube.get(place, name, signal),
  });

describe('the KubeletSource', () => {
  it('is made, and written when something is new and at no other time', async () => {
    await writing({}, async ({ pass, source, writes, stood }) => {
      await pass(factsOf(COMMIT_A));
      assert.equal(ready(source()), 'True');
      assert.deepEqual(stood.at(-1), source());
      const before = writes();
      for (let passes = 0; passes < 100; passes += 1) await pass(factsOf(COMMIT_A));
      assert.equal(writes(), before);
      await pass(factsOf(COMMIT_B, REFUSAL));
      assert.equal(ready(source()), 'False');
      assert.equal(source()?.status?.refused?.commit, COMMIT_B);
      await pass(factsOf(COMMIT_A));
      assert.equal(source()?.status?.refused, undefined);
      assert.equal(writes(), before + 2);
    });
  });

  it('is left as it is by a process that has not read the branch', async () => {
    await writing({}, async ({ pass, source, writes }) => {
      await pass(factsOf(null));
      assert.equal(source(), undefined);
      await pass(factsOf(COMMIT_A));
      const before = writes();
      await pass(factsOf(null));
      assert.equal(writes(), before);
      await pass(factsOf(null, FAILING));
      assert.equal(ready(source()), 'False');
    });
  });

  it('is not written by a process that does not lead', async () => {
    let leads = false;
    await writing({ mayWrite: () => leads }, async ({ pass, writes, stood }) => {
      await pass(factsOf(COMMIT_A));
      assert.deepEqual([writes(), stood], [0, []]);
      leads = true;
      await pass(factsOf(COMMIT_A));
      assert.equal(writes(), 2);
      leads = false;
      await pass(factsOf(COMMIT_B, REFUSAL));
      assert.deepEqual([writes(), stood.length], [2, 1]);
    });
  });

  it('is neither made nor written by a process that loses the lead while it looks', async () => {
    for (const isThere of [false, true]) {
      let leads = true;
      const network = (kube: Kube): Kube => ({
        ...kube,
        get: async (place, name, signal) => {
          const found = await kube.get(place, name, signal);
          leads = false;
          return found as never;
        },
      });
      await writing({ network, mayWrite: () => leads }, async ({ cluster, pass, writes }) => {
        if (isThere) cluster.objects.seed(KUBELET_SOURCES, { metadata: { name: SOURCE_NAME } });
        await pass(factsOf(COMMIT_A));
        assert.equal(writes(), 0);
      });
    }
  });

  it('is made again where somebody deleted it, and put right where somebody wrote it', async () => {
    await writing({}, async ({ cluster, clock, pass, source }) => {
      await pass(factsOf(COMMIT_B, REFUSAL));
      cluster.objects.patch(KUBELET_SOURCES, SOURCE_NAME, { status: { commit: COMMIT_B, refused: null } });
      await clock.advance(TEN_MINUTES);
      assert.deepEqual([source()?.status?.commit, source()?.status?.refused?.commit], [COMMIT_A, COMMIT_B]);
      cluster.objects.remove(KUBELET_SOURCES, SOURCE_NAME);
      await clock.advance(2 * TEN_MINUTES);
      assert.equal(source()?.status?.refused?.commit, COMMIT_B);
    });
  });

  it('is written over what another process wrote only after looking at that', async () => {
    await writing({}, async ({ cluster, pass, source }) => {
      await pass(factsOf(COMMIT_A));
      cluster.objects.patch(KUBELET_SOURCES, SOURCE_NAME, { status: { lastAttemptedAt: '2025-05-05T00:00:00Z' } });
      await pass(factsOf(COMMIT_A, FAILING));
      assert.equal(ready(source()), 'True');
      await pass(factsOf(COMMIT_A, FAILING));
      assert.equal(ready(source()), 'False');
      assert.equal(source()?.status?.lastAttemptedAt, '2025-05-05T00:00:00Z');
    });
  });

  for (const code of ['KUBE_NOT_FOUND', 'KUBE_FORBIDDEN'] as const) {
    it(`is missed once in the log where the manifests are those of an older release (${code})`, async () => {
      let old = true;
      await writing({ network: failingWith(code, () => old) }, async ({ clock, pass, said, source }) => {
        for (let hours = 0; hours < 3; hours += 1) {
          await pass(factsOf(COMMIT_A));
          await clock.advance(60 * 60_000);
        }
        assert.deepEqual(said, [
          'no KubeletSource is written: apply the CRDs and rights of this release; everything else goes on',
        ]);
        old = false;
        await clock.advance(TEN_MINUTES);
        assert.equal(ready(source()), 'True');
        assert.equal(said.length, 2);
      });
    });
  }

  it('is tried again, and more seldom, while the API server says no', async () => {
    let asked = 0;
    const network = failingWith('KUBE_SERVER_ERROR', () => (asked += 1) > 0);
    await writing({ network }, async ({ clock, pass, said }) => {
      await pass(factsOf(COMMIT_A));
      await clock.advance(60 * 60_000);
      assert.ok(asked > 10 && asked < 30, `${asked}`);
      assert.equal(said.length, 1);
    });
  });

  it('is sent once to an API server that keeps something else', async () => {
    let sent = 0;
    const network = (kube: Kube): Kube => ({
      ...kube,
      mergePatch: async (place, name, patch, options, signal) => {
        sent += 1;
        const { status } = patch as { readonly status: object };
        return kube.mergePatch(place, name, { ...patch, status: { ...status, url: 'another' } }, options, signal);
      },
    });
    await writing({ network }, async ({ clock, pass }) => {
      for (let passes = 0; passes < 20; passes += 1) await pass(factsOf(COMMIT_A));
      await clock.advance(3 * TEN_MINUTES);
      assert.equal(sent, 1);
    });
  });
});
