import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { GitSource } from '#reconciler/git/source-port.ts';
import type { Snapshot } from '#reconciler/policy/commit-snapshot.ts';
import { createReconciler } from '#reconciler/reconciler.ts';
import { DEFAULT_CLUSTER } from '#reconciler/policy/config-repo/read-cluster.ts';
import type { Kube } from '#shared/kube/kube.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { createManualClock } from '../support/manual-clock.ts';

const [A, B] = ['a'.repeat(40), 'b'.repeat(40)];
const never = new AbortController().signal;

/** Everything that is under way and waits for nothing but itself. */
const restOfTheTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

it('never lets a reading of the branch that took long take the place of a newer one: whoever gains the lead looks, too', async () => {
  const reads: string[] = [];
  const { promise: slow, resolve: goOn } = Promise.withResolvers<undefined>();
  let tip = A;
  const source: GitSource = {
    url: 'https://git.example/config.git',
    branch: 'main',
    resolve: () => Promise.resolve(tip),
    async snapshot(): Promise<Snapshot> {
      const oid = tip;
      reads.push(oid);
      if (oid === A) await slow;
      const author = { name: '', email: '', at: '' };
      const commit = { oid, parents: [], author, subject: '', raw: new Uint8Array() };
      return { commit, lineage: 'first', files: new Map(), findings: [] };
    },
    earlier: () => Promise.resolve(null),
  };
  const kube = { get: () => Promise.resolve(null) } as unknown as Kube;
  const reconciler = createReconciler(
    {
      kube,
      source,
      followed: {
        line: () => Promise.reject(new Error('it follows none')),
        notes: () => Promise.reject(new Error('it follows none')),
      },
      annotator: null,
      load: () => ({ pools: [], findings: [], cluster: DEFAULT_CLUSTER }),
      readEarlier: () => ({ pools: [], findings: [], cluster: DEFAULT_CLUSTER }),
      judge: () => [],
      isLeader: () => true,
      clock: createManualClock(),
      log: silentLog,
      random: () => 0.5,
    },
    {
      cluster: 'demo',
      namespace: 'kubelet-gitops',
      onRewrite: 'refuse',
      keepUnusedMs: 3_600_000,
      notesEveryMs: 1_000,
      recheckMs: 15_000,
      restMs: 250,
    },
  );
  const first = reconciler.lead(never);
  await restOfTheTurn();
  tip = B;
  const second = reconciler.poll(never);
  await restOfTheTurn();
  goOn(undefined);
  await Promise.all([first, second]);
  await reconciler.poll(never);
  assert.deepEqual(reads, [A, B], 'the newer one is what is known, and is not read again');
});
