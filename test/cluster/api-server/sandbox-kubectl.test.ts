import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { eventObject, EVENTS_NAMESPACE } from '#reconciler/reporting/events/event-object.ts';
import type { ClusterEvent } from '#reconciler/reporting/events/cluster-event.ts';
import { EVENTS, KUBELET_NODES, KUBELET_POOLS, NODES } from '#shared/kube/kube.ts';
import { startApiServer } from '#sandbox/api-server/server.ts';
import { locateControlPlane } from '../support/binaries.ts';
import { type KubectlResult, runKubectl } from '../support/kubectl.ts';

const located = await locateControlPlane();
const skip = located.found ? false : located.reason;

const occurrence = (about: ClusterEvent['about'], happening: ClusterEvent['reason']): ClusterEvent => ({
  about,
  reason: happening,
  type: 'Normal',
  note: 'all is well',
  pool: 'workers',
  config: 'workers-2gmf6b4k8c',
  identity: 'workers-2gmf6b4k8c',
});

test('a real kubectl works with the sandbox as with a cluster', { skip }, async () => {
  assert.ok(located.found);
  const { kubectl } = located.binaries;
  // kubectl sends no token over plain HTTP.
  const server = await startApiServer({ tokens: [], anonymous: { user: 'demo' } });
  const home = await mkdtemp(join(tmpdir(), 'kubelet-gitops-kubectl-'));
  const run = (...args: readonly string[]): Promise<KubectlResult> =>
    runKubectl({ kubectl, args: ['--server', server.url, ...args], input: '', home });
  try {
    const name = 'ip-10-0-1-23';
    const reference = { name: 'workers-2gmf6b4k8c' };
    server.store.seed(NODES, { metadata: { name } });
    server.store.seed(KUBELET_NODES, {
      metadata: { name },
      spec: { pool: 'workers' },
      status: {
        phase: 'Idle',
        conditions: [
          { type: 'Ready', status: 'True', reason: 'Healthy', message: '', lastTransitionTime: '2026-01-02T03:04:05Z' },
        ],
        assigned: reference,
        active: reference,
        lastKnownGood: reference,
        kubeletVersion: 'v1.36.2',
        heartbeat: new Date(Date.now() - 125_000).toISOString(),
      },
    });
    const { stdout, stderr } = await run('get', 'knode');
    const [header = '', row = ''] = stdout.split('\n');
    assert.match(header, /^NAME +POOL +PHASE +ASSIGNED +ACTIVE +GOOD +ERROR +KUBELET +SEEN$/, stderr);
    assert.match(row, /^ip-10-0-1-23 +workers +Idle +(workers-2gmf6b4k8c +){3}v1\.36\.2 +\d+m(\d+s)?$/);
    assert.ok(Math.max(header.length, row.length) <= 120, `${header.length}, ${row.length}`);

    assert.match(
      (await run('get', 'kubelet-gitops', '-o', 'name')).stdout,
      /^kubeletnode\.kubelet-gitops\.dev\/ip-10-0-1-23$/m,
    );
    assert.match((await run('label', 'node', name, 'kubelet-gitops.dev/opt-out=true')).stdout, / labeled$/m);
    assert.equal(server.store.get(NODES, name)?.metadata.labels?.['kubelet-gitops.dev/opt-out'], 'true');
    assert.match((await run('describe', 'knode', name)).stdout, /Last Known Good:\n +Name: +workers-2gmf6b4k8c/);
    const { metadata } = server.store.seed(KUBELET_POOLS, { metadata: { name: 'workers' } });
    const happen = (about: ClusterEvent['about'], happening: ClusterEvent['reason']): void => {
      server.store.seed(
        EVENTS,
        eventObject(occurrence(about, happening), EVENTS_NAMESPACE, 'reconciler-0', Date.now()),
      );
    };
    happen({ kind: 'KubeletPool', name: 'workers', uid: metadata.uid ?? '' }, 'RolloutSettled');
    const line = / +Normal +RolloutSettled +\S+ +kubelet-gitops\.dev\/reconciler +all is well$/m;
    assert.match((await run('describe', 'kpool', 'workers')).stdout, line);
    happen({ kind: 'Node', name, uid: server.store.get(NODES, name)?.metadata.uid ?? '' }, 'ConfigApplied');
    const applied = / +Normal +ConfigApplied +\S+ +kubelet-gitops\.dev\/reconciler +all is well$/m;
    assert.match((await run('describe', 'node', name)).stdout, applied);
    const events = (await run('get', 'events')).stdout;
    assert.match(events, /^LAST SEEN +TYPE +REASON +OBJECT +MESSAGE$/m);
    assert.match(events, /^\d+[sm]\S* +Normal +RolloutSettled +kubeletpool\/workers +all is well$/m);
    const waited = await run('wait', `knode/${name}`, '--for=condition=Ready', '--timeout=10s');
    assert.match(waited.stdout, / condition met$/m, waited.stderr);
    assert.match((await run('delete', 'knode', name)).stdout, / deleted$/m);
    assert.match(
      (await run('get', 'knode', name)).stderr,
      /^Error from server \(NotFound\): kubeletnodes\.kubelet-gitops\.dev/,
    );
  } finally {
    await server.stop();
    await rm(home, { recursive: true, force: true });
  }
});
