import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { listPastEvents } from '#cli/events/past-events.ts';
import { EVENTS_COMMAND, runEvents, sinceOf } from '#cli/events/command.ts';
import { eventsAsText } from '#cli/events/render.ts';
import { plain } from '#cli/paint.ts';
import { type EventObject, eventObject } from '#reconciler/reporting/events/event-object.ts';
import { eventsOfNode } from '#reconciler/reporting/events/node-events.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import { EVENTS, KUBELET_NODES, KUBELET_POOLS, NODES } from '#shared/kube/kube.ts';
import { poolSpec } from '../../support/fleet.ts';
import { aCluster, type TestCluster } from '../support/cluster.ts';
import { column, columns } from '../../support/columns.ts';
import { watch } from '../support/watch.ts';

const SHA = 'a'.repeat(64);
const REJECTED = {
  name: 'general-2gmf6b4k8c',
  sha256: SHA,
  apply: 'overlay',
  reason: 'CrashLoop',
  message: 'the kubelet ended 3 times',
  at: '2026-11-21T09:00:00Z',
} as const;
const NODE: KubeletNode = {
  metadata: { name: 'n-1' },
  spec: { pool: 'general' },
  status: { phase: 'Idle', rejected: [REJECTED] },
};
const POOL: KubeletPool = {
  metadata: { name: 'general' },
  spec: poolSpec(),
  status: {
    phase: 'Halted',
    configName: 'general-2gmf6b4k8c',
    sha256: SHA,
    halt: {
      config: 'general-2gmf6b4k8c',
      sha256: SHA,
      at: '2026-11-21T09:00:01Z',
      message: 'failed on n-1',
      action: 'halt',
    },
  },
};
const assigned = (name: string, at: string, series?: EventObject['series']): EventObject => ({
  ...eventObject(
    {
      about: { kind: 'Node', name, uid: `uid-${name}` },
      reason: 'ConfigAssigned',
      type: 'Normal',
      note: 'Assigned general-2gmf6b4k8c',
      pool: 'general',
      config: 'general-2gmf6b4k8c',
      identity: at,
    },
    'default',
    'reconciler-1',
    Date.parse(at),
  ),
  ...(series === undefined ? {} : { series }),
});

describe('what happened', () => {
  const traces = { events: [assigned('n-1', '2026-11-21T08:59:00Z')], nodes: [], kubeletNodes: [NODE], pools: [POOL] };

  it('is told of Events and of what statuses still say, the newest last', () => {
    assert.deepEqual(columns(listPastEvents(traces), 'at', 'reason', 'name', 'pool'), [
      ['2026-11-21T08:59:00Z', 'ConfigAssigned', 'n-1', 'general'],
      ['2026-11-21T09:00:00Z', 'ConfigFellBack', 'n-1', 'general'],
      ['2026-11-21T09:00:01Z', 'RolloutHalted', 'general', 'general'],
    ]);
  });

  it('has what a pool did after what its nodes did in the same second', () => {
    const halt = {
      config: 'general-2gmf6b4k8c',
      sha256: SHA,
      at: REJECTED.at,
      message: 'failed on n-1',
      action: 'halt',
    } as const;
    const pool: KubeletPool = { ...POOL, metadata: { name: 'a' }, status: { ...POOL.status, halt } };
    assert.deepEqual(column(listPastEvents({ ...traces, events: [], pools: [pool] }), 'reason'), [
      'ConfigFellBack',
      'RolloutHalted',
    ]);
  });

  it('is told once where a series counts what a status says', () => {
    const nodes = [{ metadata: { name: 'n-1', uid: 'uid-n-1' } }];
    const [now] = eventsOfNode(NODE, 'uid-n-1');
    assert.ok(now);
    const before = eventObject(
      { ...now, identity: 'before' },
      'default',
      'reconciler-1',
      Date.parse('2026-11-21T08:58:00Z'),
    );
    const seriesUntil = (lastObservedTime: string): EventObject => ({
      ...before,
      series: { count: 2, lastObservedTime },
    });
    const told = (event: EventObject): unknown =>
      listPastEvents({ events: [event], nodes, kubeletNodes: [NODE], pools: [] }).map(({ at, count }) => [at, count]);
    assert.deepEqual(told(seriesUntil('2026-11-21T09:00:00.500000Z')), [['2026-11-21T09:00:00Z', 2]]);
    const apart = [
      ['2026-11-21T08:59:00Z', 2],
      ['2026-11-21T09:00:00Z', 1],
    ];
    assert.deepEqual(told(seriesUntil('2026-11-21T08:59:00.000000Z')), apart);
  });

  it('is told once where an Event says what a status says', () => {
    const nodes = [{ metadata: { name: 'n-1', uid: 'uid-n-1' } }];
    const events = eventsOfNode(NODE, 'uid-n-1').map((each) =>
      eventObject(each, 'default', 'reconciler-1', Date.parse('2026-11-21T09:00:02Z')),
    );
    const told = listPastEvents({ events, nodes, kubeletNodes: [NODE], pools: [] });
    assert.deepEqual(columns(told, 'reason', 'at'), [['ConfigFellBack', '2026-11-21T09:00:02Z']]);
  });

  it('counts what came again, at its last time', () => {
    const series = { count: 4, lastObservedTime: '2026-11-21T08:59:30.000000Z' };
    const [first] = listPastEvents({ ...traces, events: [assigned('n-1', '2026-11-21T08:59:00Z', series)] });
    assert.deepEqual([first?.count, first?.at], [4, '2026-11-21T08:59:30Z']);
    assert.ok(first !== undefined);
    const written = [1, 2].map((count) =>
      eventsAsText([{ ...first, count }], plain).includes(`${first.reason} x${count}`),
    );
    assert.deepEqual(written, [false, true]);
  });

  it('is narrowed to a pool, a node, a time', () => {
    const events = [assigned('n-1', '2026-11-21T08:59:00Z'), assigned('n-2', '2026-11-21T08:59:00Z')];
    const names = (question: object) => listPastEvents({ ...traces, events }, question).map(({ name }) => name);
    assert.deepEqual(names({ node: 'n-2' }), ['n-2']);
    assert.deepEqual(names({ pool: 'general' }), ['n-1', 'n-1', 'general']);
    assert.deepEqual(names({ since: Date.parse('2026-11-21T09:00:01Z') }), ['general']);
    assert.deepEqual(names({ pool: 'gpu' }), []);
  });
});

describe('what happens within one second', () => {
  it('is told causes first: what a node was told, what it did, what became of its pool', () => {
    const at = '2026-11-21T09:00:01Z';
    const events = [assigned('n-1', at), assigned('a-0', at)];
    const rejected = [{ ...REJECTED, at }];
    const kubeletNodes = [{ ...NODE, status: { ...NODE.status, rejected } }];
    assert.deepEqual(
      listPastEvents({ events, nodes: [], kubeletNodes, pools: [POOL] }).map(({ reason, name }) => `${reason} ${name}`),
      ['ConfigAssigned a-0', 'ConfigAssigned n-1', 'ConfigFellBack n-1', 'RolloutHalted general'],
    );
  });
});

describe('kubelet-gitops events --watch', () => {
  const watchEvents = ({ kubeconfig }: TestCluster, happens: readonly (() => unknown)[]) =>
    watch(EVENTS_COMMAND, runEvents, ['--watch', '--timeout', '10s', '--kubeconfig', kubeconfig], happens);

  it('prints what is new, each once, without the heading, and outlasts an API server that is away', async () => {
    await using cluster = await aCluster();
    const { server } = cluster.sandbox;
    server.store.seed(NODES, { metadata: { name: 'n-1' } });
    server.store.seed(EVENTS, assigned('n-1', '2026-11-21T08:58:00Z'));
    const { code, shown, elapsed } = await watchEvents(cluster, [
      server.stop,
      async () => {
        await server.start();
        server.store.seed(EVENTS, assigned('n-1', '2026-11-21T08:59:00Z'));
      },
    ]);
    assert.deepEqual([code, elapsed], [0, 10_000]);
    assert.equal(shown.length, 2, shown.join(''));
    assert.match(shown[0] ?? '', /^TIME[^]*08:58:00/);
    assert.match(shown[1] ?? '', /^2026-11-21 08:59:00  ConfigAssigned[^\n]*\n$/);
  });

  it('is for people, and bounds its time in words that help', async () => {
    await using cluster = await aCluster();
    assert.match((await cluster.cli('events', '-w', '-o', 'json')).err, /--watch is for people/);
    assert.match((await cluster.cli('events', '--timeout', '5m')).err, /--timeout needs --watch/);
    assert.match((await cluster.cli('events', '-w', '--timeout', '0s')).err, /write it as 90s/);
  });
});

describe('--since', () => {
  const now = Date.parse('2026-11-21T12:00:00Z');
  it('takes spans and times, and nothing that could mean either of two', () => {
    assert.equal(sinceOf(undefined, now), undefined);
    assert.equal(sinceOf('1h30m', now), now - 5_400_000);
    assert.equal(sinceOf('2d', now), now - 172_800_000);
    assert.equal(sinceOf('2026-11-21T10:00:00+02:00', now), Date.parse('2026-11-21T08:00:00Z'));
    for (const written of ['yesterday', '2026-11-21T10:00', '10', '']) {
      assert.throws(() => sinceOf(written, now), /write 30m, 2h, 3d or/, written);
    }
  });
});

describe('kubelet-gitops events', () => {
  it('says that a name is of nothing, rather than that nothing happened', async () => {
    await using cluster = await aCluster();
    await cluster.sandbox.kube.create<KubeletPool>(
      { resource: KUBELET_POOLS },
      {
        apiVersion: 'kubelet-gitops.dev/v1alpha1',
        kind: 'KubeletPool',
        metadata: { name: 'general' },
        spec: poolSpec(),
      },
    );
    const { code, err } = await cluster.cli('events', '--pool', 'genral');
    assert.equal(code, 2);
    assert.match(err, /the cluster has no pool genral \(did you mean general\?\)/);
    assert.match((await cluster.cli('events', '--node', 'n-1')).err, /the cluster has no node n-1; it has none/);
    assert.equal((await cluster.cli('events', '--pool', 'general')).code, 0);
  });

  it('reads both namespaces that Events of nodes can be in, and leaves those of others alone', async () => {
    await using cluster = await aCluster();
    const { store } = cluster.sandbox.server;
    for (const name of ['n-1', 'n-9']) store.seed(NODES, { metadata: { name } });
    store.seed(KUBELET_NODES, NODE);
    store.seed(KUBELET_POOLS, POOL);
    store.seed(EVENTS, assigned('n-1', '2026-11-21T08:59:00Z'));
    const older = assigned('n-1', '2026-11-21T08:58:00Z');
    store.seed(EVENTS, {
      ...older,
      metadata: { ...older.metadata, namespace: 'kube-system' },
    });
    store.seed(EVENTS, {
      ...assigned('n-1', '2026-11-21T08:57:00Z'),
      reportingController: 'somebody.example/else',
    });
    const ran = await cluster.cli('events');
    assert.equal(ran.code, 0, ran.err);
    assert.equal(
      ran.out,
      [
        'TIME (UTC)           WHAT            NODE  POOL     NOTE',
        '2026-11-21 08:58:00  ConfigAssigned  n-1   general  Assigned general-2gmf6b4k8c',
        '2026-11-21 08:59:00  ConfigAssigned  n-1   general  Assigned general-2gmf6b4k8c',
        '2026-11-21 09:00:00  ConfigFellBack  n-1   general  general-2gmf6b4k8c was taken back: CrashLoop: the kubelet ended 3 times',
        '2026-11-21 09:00:01  RolloutHalted   -     general  failed on n-1',
        '',
      ].join('\n'),
    );
    const json = JSON.parse((await cluster.cli('events', '-o', 'json', '--node', 'n-1')).out) as { events: object[] };
    assert.equal(json.events.length, 3);
    assert.deepEqual(Object.keys(json.events[0] ?? {}), [
      'at',
      'reason',
      'type',
      'kind',
      'name',
      'pool',
      'note',
      'count',
      'id',
    ]);
    assert.equal(
      (await cluster.cli('events', '--node', 'n-9')).out,
      'no events: API servers keep them for an hour as a rule\n',
    );
  });
});
