import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createSourceRecord, type SourceRecord } from '#reconciler/reporting/source/source-record.ts';
import { type SourceFacts, sourceStatus } from '#reconciler/reporting/source/source-status.ts';
import { RELEASE_ANNOTATION } from '#shared/contract/api/group.ts';
import { type KubeletSource, SOURCE_NAME } from '#shared/contract/api/kubelet-source.ts';
import { KubeError } from '#shared/kube/kube-error.ts';
import { type Kube, KUBELET_SOURCES } from '#shared/kube/kube.ts';
import { COMMIT_A, COMMIT_B } from '../../../support/fleet.ts';
import { createManualClock, type ManualClock } from '../../../support/manual-clock.ts';
import { type Cluster, startCluster } from '../../../support/takeover/cluster.ts';
import { AT, FAILING, factsOf, REFUSAL } from './support/states.ts';

const TEN_MINUTES = 10 * 60_000;
const { signal } = new AbortController();

interface Bench {
  readonly cluster: Cluster;
  readonly clock: ManualClock;
  readonly record: SourceRecord;
  /** A pass ended so. */
  pass(facts: SourceFacts): Promise<KubeletSource | null>;
  source(): KubeletSource | undefined;
  writes(): number;
}

interface Terms {
  readonly network?: (kube: Kube) => Kube;
  readonly mayWrite?: () => boolean;
}

async function recording({ network = (kube) => kube, mayWrite = () => true }: Terms = {}): Promise<Bench> {
  const clock = createManualClock();
  const cluster = await startCluster(clock);
  const record = createSourceRecord(network(cluster.kubeAs('one')), clock, mayWrite);
  return {
    cluster,
    clock,
    record,
    pass: (facts) => record.save((present) => sourceStatus(facts, present, AT), signal),
    source: () => cluster.objects.get(KUBELET_SOURCES, SOURCE_NAME),
    writes: () => cluster.written.length,
  };
}

const ready = (source: KubeletSource | undefined): string | undefined =>
  source?.status?.conditions?.find(({ type }) => type === 'Ready')?.status;

describe('the record of the source', () => {
  it('is made, written when something is new and at no other time, and read back whole by another process', async () => {
    const { cluster, clock, record, pass, source, writes } = await recording();
    assert.equal((await record.load(signal)).commit, '');
    assert.deepEqual(await pass(factsOf(COMMIT_A)), source());
    assert.equal(ready(source()), 'True');
    const before = writes();
    for (let passes = 0; passes < 100; passes += 1) assert.deepEqual(await pass(factsOf(COMMIT_A)), source());
    assert.equal(writes(), before);
    const policy = { history: '[]', limits: '{"limits":1}', displaced: 'x', signedBy: 'Ada (K)', outcome: 'settled' };
    const refused = factsOf(COMMIT_B, { ...REFUSAL, ...policy, ...FAILING });
    await pass(refused);
    assert.equal(ready(source()), 'False');
    const next = createSourceRecord(cluster.kubeAs('two'), clock, () => true);
    assert.deepEqual(await next.load(signal), refused.source);
    assert.deepEqual(await record.load(signal), refused.source);
    await pass(factsOf(COMMIT_A));
    assert.equal(source()?.status?.refused, undefined);
    assert.equal(writes(), before + 2);
  });

  it('looks for the release of a commit every few seconds, and not more often', async () => {
    const { cluster, clock, record, pass } = await recording();
    await pass(factsOf(COMMIT_A));
    assert.equal(await record.release(signal), undefined);
    const metadata = { annotations: { [RELEASE_ANNOTATION]: `${COMMIT_B}@now` } };
    await cluster.kubeAs('a person').mergePatch({ resource: KUBELET_SOURCES }, SOURCE_NAME, { metadata });
    assert.equal(await record.release(signal), undefined);
    await clock.advance(15_000);
    assert.deepEqual(await record.release(signal), { value: `${COMMIT_B}@now`, by: undefined });
  });

  it('is not written by a process that does not lead', async () => {
    let leads = false;
    const { pass, writes } = await recording({ mayWrite: () => leads });
    assert.deepEqual([await pass(factsOf(COMMIT_A)), writes()], [null, 0]);
    leads = true;
    await pass(factsOf(COMMIT_A));
    assert.equal(writes(), 2);
    leads = false;
    assert.deepEqual([await pass(factsOf(COMMIT_B, REFUSAL)), writes()], [null, 2]);
  });

  it('is neither made nor written by a process that loses the lead while it looks or makes it', async () => {
    for (const [isThere, during, most] of [
      [false, 'get', 0],
      [true, 'get', 0],
      [false, 'create', 1],
    ] as const) {
      let leads = true;
      const losing = async <T>(call: Promise<T>): Promise<T> => {
        const answer = await call;
        leads = false;
        return answer;
      };
      const network = (kube: Kube): Kube => ({
        ...kube,
        get: (...all) => (during === 'get' ? losing(kube.get(...all)) : kube.get(...all)) as never,
        create: (...all) => (during === 'create' ? losing(kube.create(...all)) : kube.create(...all)),
      });
      const { cluster, pass, writes } = await recording({ network, mayWrite: () => leads });
      if (isThere) cluster.objects.seed(KUBELET_SOURCES, { metadata: { name: SOURCE_NAME } });
      await pass(factsOf(COMMIT_A));
      assert.equal(writes(), most);
    }
  });

  it('is put right where somebody wrote it, and nothing of that is believed', async () => {
    const { cluster, clock, record, pass, source } = await recording();
    const facts = factsOf(COMMIT_B, REFUSAL);
    await pass(facts);
    cluster.objects.patch(KUBELET_SOURCES, SOURCE_NAME, { status: { commit: COMMIT_B, refused: null } });
    await clock.advance(TEN_MINUTES);
    assert.deepEqual(await record.load(signal), facts.source);
    await pass(facts);
    assert.deepEqual([source()?.status?.commit, source()?.status?.refused?.commit], [COMMIT_A, COMMIT_B]);
    assert.deepEqual(await record.load(signal), facts.source);
  });

  it('is made again with all that it said where somebody deleted it', async () => {
    for (const wait of [0, TEN_MINUTES]) {
      const { cluster, clock, record, pass, source } = await recording();
      await pass(factsOf(COMMIT_A));
      cluster.objects.remove(KUBELET_SOURCES, SOURCE_NAME);
      await clock.advance(wait);
      const facts = factsOf(COMMIT_B, REFUSAL);
      if (wait === 0) await assert.rejects(pass(facts), { code: 'KUBE_NOT_FOUND' });
      assert.equal((await record.load(signal)).commit, COMMIT_A);
      await pass(facts);
      assert.deepEqual([source()?.status?.commit, source()?.status?.refused?.commit], [COMMIT_A, COMMIT_B]);
    }
  });

  it('is written over what another process wrote only after reading that', async () => {
    const { cluster, record, pass, source } = await recording();
    await pass(factsOf(COMMIT_A));
    const status = { lastAttemptedAt: '2025-05-05T00:00:00Z', commit: COMMIT_B };
    cluster.objects.patch(KUBELET_SOURCES, SOURCE_NAME, { status });
    await assert.rejects(pass(factsOf(COMMIT_A, FAILING)), { code: 'KUBE_CONFLICT' });
    assert.equal(ready(source()), 'True');
    assert.equal((await record.load(signal)).commit, COMMIT_B);
    await pass(factsOf(COMMIT_A, FAILING));
    assert.equal(ready(source()), 'False');
    assert.equal(source()?.status?.lastAttemptedAt, '2025-05-05T00:00:00Z');
  });

  it('is read again where another process made it first', async () => {
    const { cluster, record, pass } = await recording();
    await record.load(signal);
    const other = createSourceRecord(cluster.kubeAs('two'), createManualClock(), () => true);
    await other.save((present) => sourceStatus(factsOf(COMMIT_B, { commit: COMMIT_B }), present, AT), signal);
    await assert.rejects(pass(factsOf(COMMIT_A)), { code: 'KUBE_ALREADY_EXISTS' });
    assert.equal((await record.load(signal)).commit, COMMIT_B);
  });

  for (const code of ['KUBE_FORBIDDEN', 'KUBE_SERVER_ERROR'] as const) {
    it(`is written as soon as it can be, and nothing is taken for written before (${code})`, async () => {
      let refuses = true;
      const network = (kube: Kube): Kube => ({
        ...kube,
        mergePatch: (...all) =>
          refuses ? Promise.reject(new KubeError(code, 'the server says no')) : kube.mergePatch(...all),
      });
      const { record, pass, source } = await recording({ network });
      await assert.rejects(pass(factsOf(COMMIT_A)), { code });
      assert.equal((await record.load(signal)).commit, '');
      refuses = false;
      await pass(factsOf(COMMIT_A));
      assert.equal(ready(source()), 'True');
    });
  }

  it('is sent once to an API server that keeps something else', async () => {
    let sent = 0;
    const network = (kube: Kube): Kube => ({
      ...kube,
      mergePatch: async (place, name, patch, options, abort) => {
        sent += 1;
        const { status } = patch as { readonly status: object };
        return kube.mergePatch(place, name, { ...patch, status: { ...status, url: 'another' } }, options, abort);
      },
    });
    const { clock, record, pass } = await recording({ network });
    for (let passes = 0; passes < 20; passes += 1) {
      await pass(factsOf(COMMIT_A));
      await clock.advance(TEN_MINUTES / 5);
    }
    assert.equal(sent, 1);
    assert.equal((await record.load(signal)).url, factsOf(COMMIT_A).source.url);
    await pass(factsOf(COMMIT_A, { subject: 'another commit' }));
    assert.equal(sent, 2);
  });

  it('is no larger than an API server takes, however long the messages are', async () => {
    const long = '€'.repeat(100_000);
    const { pass, source } = await recording();
    await pass(
      factsOf(COMMIT_B, { ...REFUSAL, refusedBecause: long, failingSince: AT, failure: long, findings: long }),
    );
    assert.equal(source()?.status?.refused?.message.length, 32_768);
    await pass(factsOf(COMMIT_A, { findings: `${long}\n${long}`, unreadableNotes: long, notes: `off: ${long}` }));
    assert.equal(ready(source()), 'False');
  });
});
