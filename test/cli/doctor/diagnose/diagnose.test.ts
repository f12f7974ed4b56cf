import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CODES } from '#cli/doctor/diagnosis-codes.ts';
import type { Facts, NodeFact, Part, WorkloadFact } from '#cli/doctor/facts.ts';
import { CRD_FIELDS, RIGHTS } from '#cli/doctor/installation.generated.ts';
import { diagnose } from '#cli/doctor/diagnose/diagnose.ts';
import { plain } from '#cli/paint.ts';
import { doctorAsText } from '#cli/doctor/render.ts';
import { newRecord, writeFollowing } from '#reconciler/policy/following/record.ts';
import { NO_STATE, type SourceState } from '#reconciler/reporting/notes/source-state.ts';
import { SUSPEND_ANNOTATION } from '#shared/contract/api/group.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import { toTimestamp } from '#shared/runtime/clock.ts';
import { assignedNode, COMMIT_A, NOW, nodeView, poolSpec, settledNode, validPool } from '../../../support/fleet.ts';
import { column, columns } from '../../../support/columns.ts';

const is = <T>(value: T): Part<T> => ({ read: true, value });
const WORKERS = validPool('workers', 110);
const WORKLOAD: WorkloadFact = { wanted: 1, ready: 1, updated: 1, image: 'kubelet-gitops:0.1.0', settings: {} };
const CRDS = Object.entries(CRD_FIELDS).map(([name, fields]) => ({ name, established: true, fields }));
const FOLLOWS = newRecord({ clusters: ['staging'], settledFor: '24h' });
const DAYS = 37 * 60 * 60_000;
const STATE: SourceState = { ...NO_STATE, commit: COMMIT_A };
const node = (name: string, more: Partial<NodeFact> = {}): NodeFact => ({
  name,
  labels: { pool: 'workers' },
  kubeletVersion: 'v1.34.2',
  createdAt: NOW - 86_400_000,
  ...more,
});
const settled = (name: string, status: KubeletNode['status'] = {}): KubeletNode =>
  settledNode(nodeView(name, 'workers'), WORKERS, { agentVersion: '0.1.0', ...status });
const failed = (name: string): KubeletNode =>
  assignedNode(nodeView(name, 'workers'), WORKERS, {
    assigned: { name: WORKERS.configName, sha256: WORKERS.sha256 },
    rejected: [
      {
        name: WORKERS.configName,
        sha256: WORKERS.sha256,
        apply: 'overlay',
        reason: 'CrashLoop',
        message: 'the kubelet ended 3 times',
        at: '2026-11-21T11:00:00Z',
      },
    ],
  });
const pool = (spec: Partial<KubeletPool['spec'] & {}>, status: KubeletPool['status'] = {}): KubeletPool => ({
  metadata: { name: 'workers' },
  spec: poolSpec(spec),
  status: { phase: 'Settled', ...status },
});

/** An installation where nothing is wrong. */
const SOUND: Facts = {
  now: NOW,
  namespace: 'kubelet-gitops',
  crds: is(CRDS),
  reconciler: is(WORKLOAD),
  agents: is(WORKLOAD),
  pods: is([{ name: 'r-1', component: 'reconciler', node: 'n', ready: true, waiting: '', restarts: 3 }]),
  lease: is({
    metadata: { name: 'l' },
    spec: { holderIdentity: 'r-1_x', renewTime: toTimestamp(NOW - 2_000), leaseDurationSeconds: 15 },
  }),
  source: is(STATE),
  audit: is(null),
  webhookService: is(false),
  // Nobody needs what a component grants before something asks for it.
  missingRights: is(RIGHTS.filter(({ component }) => component !== undefined)),
  nodes: is([node('n-1')]),
  kubeletNodes: is([settled('n-1')]),
  pools: is([pool({})]),
  stamps: [{ of: 'node n-1', said: NOW - 400, stamped: NOW }],
};

const lease = (renewTime: string | undefined, holderIdentity = 'r-1_x'): Facts['lease'] =>
  is({ metadata: { name: 'l' }, spec: { holderIdentity, ...(renewTime === undefined ? {} : { renewTime }) } });
const unread: Part<never> = { read: false, code: 'KUBE_FORBIDDEN', why: 'cannot list pods: Grant the verb "list"' };
const someDay = { cron: '0 4 * * *', duration: '1h' };
const FULL = [{ reason: 'zone-budget', nodes: 1, examples: [], message: 'unavailable already: n-1' }];
const always = { cron: '* * * * *', duration: '1h' };

const source = (more: Partial<SourceState>) => ({ source: is({ ...STATE, ...more }) });
const pools = (...all: KubeletPool[]) => ({ pools: is(all) });
const nodes = (...all: NodeFact[]) => ({ nodes: is(all) });
const reports = (...all: KubeletNode[]) => ({ kubeletNodes: is(all) });
const withoutSources = CRDS.filter(({ name }) => !name.startsWith('kubeletsources'));
const older = CRDS.map((crd) => ({ ...crd, fields: crd.fields.slice(1) }));
const unserved = CRDS.map((crd) => ({ ...crd, established: false }));
const watches = is(RIGHTS.filter(({ account, verb }) => account.endsWith('agent') && verb === 'watch'));
const failing = { component: 'agent', node: 'n', ready: false, waiting: 'CrashLoopBackOff', restarts: 7 };
const drained = { allow: ['restart', 'drain'], drainTimeout: '10m' } as const;
const neverOpen = { allow: [someDay], deny: [always], overrun: 'stop' } as const;
const condition = (type: string, reason: string, message: string) => ({
  conditions: [{ type, status: 'False', reason, message, lastTransitionTime: 'x' } as const],
});

const CASES: readonly (readonly [code: string, about: Partial<Facts>, what: RegExp])[] = [
  ['not-readable', { pods: unread }, /pods of both programs: cannot list pods/],
  ['crd-missing', { crds: is([]) }, /no CRD kubeletpools\.kubelet-gitops\.dev/],
  ['crd-old', { crds: is(older) }, /does not know spec$/],
  ['crd-missing', { crds: is(unserved) }, /not served/],
  ['crd-missing', { crds: is(withoutSources) }, /^there is no CRD kubeletsources\.kubelet-gitops\.dev$/],
  [
    'rights-missing',
    { missingRights: watches },
    /^kubelet-gitops-agent may not watch kubeletnodes\.kubelet-gitops\.dev$/,
  ],
  [
    'drain-not-granted',
    pools(pool({ disruption: drained })),
    /^pool workers: the reconciler may not patch nodes; list pods; create pods\/eviction$/,
  ],
  ['pods-not-granted', pools(pool({ blockers: { pods: { selector: {} } } })), /may not list pods$/],
  ['configz-not-granted', nodes(node('n-1', { kubeletVersion: 'v1.32.1' })), /n-1/],
  ['reconciler-missing', { reconciler: is(null), pods: is([]) }, /in namespace kubelet-gitops$/],
  ['reconciler-stopped', { reconciler: is({ ...WORKLOAD, wanted: 0 }), lease: is(null) }, /0 replicas/],
  [
    'pod-failing',
    { pods: is(['a', 'b'].map((name) => ({ name, ...failing }))) },
    /^2 pods \(a, b\): CrashLoopBackOff, 14 restarts$/,
  ],
  ['no-leader', { lease: is(null) }, /ever held/],
  ['no-leader', { lease: lease(toTimestamp(NOW), '') }, /gave the Lease back/],
  ['no-leader', { lease: lease(toTimestamp(NOW - 61_000)) }, /not renewed the Lease since/],
  ['agents-missing', { agents: is(null) }, /no DaemonSet/],
  ['agents-updating', { agents: is({ ...WORKLOAD, wanted: 9, updated: 4 }) }, /^4 of 9 agents/],
  [
    'agent-versions-differ',
    reports(settled('n-1'), settled('n-2'), settled('n-3', { agentVersion: '0.0.9' })),
    /^node n-3: agent 0\.0\.9; most run 0\.1\.0$/,
  ],
  ['no-commit', { source: is(null) }, /no commit was ever taken up$/],
  ['no-commit', source({ ...NO_STATE, failure: 'GIT_TIMEOUT: no answer', failingSince: 'x' }), /: GIT_TIMEOUT/],
  ['git-failing', source({ failure: 'GIT_TIMEOUT: no answer', failingSince: '09:00' }), /since 09:00: GIT_TIMEOUT/],
  [
    'commit-refused',
    source({ refusedCommit: 'b'.repeat(40), refusedBecause: 'history-rewritten' }),
    /^b{12}: history-rewritten/,
  ],
  ['commit-findings', source({ findings: 'pools/a/pool.yaml:1:1: error x\nb' }), /^2 in a{12}: pools\/a/],
  [
    'followed-silent',
    source({
      following: writeFollowing({ ...FOLLOWS, silent: [{ cluster: 'staging', after: '', since: NOW - DAYS }] }),
    }),
    /^staging says nothing of newer commits since 2/,
  ],
  [
    'followed-silent',
    source({
      following: writeFollowing({
        ...FOLLOWS,
        waiting: {
          commits: 0,
          next: null,
          clusters: [{ cluster: 'staging', newest: null, unreadable: false, distrusted: 'are not signed' }],
        },
      }),
    }),
    /^the notes of staging are not signed\. /,
  ],
  ['notes-off', source({ notes: 'off: GIT_FORBIDDEN' }), /GIT_FORBIDDEN/],
  [
    'notes-unreadable',
    source({ unreadableNotes: `${'c'.repeat(40)}: it is no tree\nb` }),
    /^2, among them c{40}: it is no tree$/,
  ],
  ['statuses-off', source({ statuses: 'off: FORGE_FORBIDDEN' }), /FORGE_/],
  [
    'notifications-off',
    source({ notifications: 'off: chat: it is away' }),
    /^notifications are failing, and tried again: chat/,
  ],
  ['polling-slow', { reconciler: is({ ...WORKLOAD, settings: { POLL_INTERVAL: '1h' } }) }, /^POLL_INTERVAL is 1h/],
  ['webhook-half', { webhookService: is(true) }, /WEBHOOK_SECRET_FILE is not set/],
  [
    'cluster-suspended',
    source({ policy: JSON.stringify({ maxUnavailable: null, maxUnassign: '20%', suspend: true, windows: null }) }),
    /every pool/,
  ],
  [
    'pool-suspended',
    pools({ ...pool({}), metadata: { name: 'workers', annotations: { [SUSPEND_ANNOTATION]: 'incident' } } }),
    /^pool workers: suspended \(incident\)$/,
  ],
  ['pool-suspended', pools(pool({ suspend: true })), /pool\.yaml/],
  [
    'pool-halted',
    pools(pool({}, { halt: { config: 'c', sha256: 's', at: '11:00', message: 'failed on n-1', action: 'halt' } })),
    /^pool workers: halted since 11:00: failed on n-1$/,
  ],
  [
    'pool-paused',
    pools(
      pool(
        {},
        {
          rollout: {
            configName: 'w-1',
            sha256: 's',
            startedAt: '10:00',
            waves: [{ name: 'canary', nodes: 1, state: 'done', pausedAt: '11:00' }],
          },
        },
      ),
    ),
    /^pool workers: w-1 waits after wave canary for a person since 11:00: .* kubelet-gitops approve workers$/,
  ],
  ['pool-invalid', pools(pool({}, condition('ConfigValid', 'Refused', 'a\nb'))), /^pool workers: a; b$/],
  [
    'writes-failing',
    pools(pool({}, { unwritten: [{ write: 'assign', node: 'n-1', since: '11:00', message: '500 no' }] })),
    /^n-1: its assignment could not be written since 11:00: 500 no$/,
  ],
  ['pool-empty', pools(pool({}, { phase: 'Empty' })), /^pool workers:/],
  [
    'pool-blocked',
    pools(pool({}, { holds: [{ reason: 'blocked', nodes: 1, examples: [], message: 'alert X fires' }] })),
    /alert X fires/,
  ],
  ['window-never-opens', pools(pool({ rollout: { ...poolSpec().rollout, windows: neverOpen } })), /^pool workers: /],
  [
    'nodes-in-conflict',
    pools(pool({}), { ...pool({}), metadata: { name: 'gpu' } }),
    /^node n-1: selected by gpu and workers with the same priority$/,
  ],
  ['nodes-without-agent', reports(), /^node n-1: no agent ever reported/],
  ['agents-silent', reports(settled('n-1', { heartbeat: toTimestamp(NOW - 16 * 60_000) })), /^node n-1/],
  ['nodes-unmanaged', nodes(node('n-1', { labels: {} })), /^node n-1/],
  ['nodes-opted-out', nodes(node('n-1', { labels: { 'kubelet-gitops.dev/opt-out': 'true' } })), /^node n-1/],
  [
    'nodes-unsupported',
    { ...nodes(node('n-1', { virtual: true }), node('n-2', { virtual: true })), ...reports() },
    /^2 nodes \(n-1, n-2\): it is a virtual node/,
  ],
  [
    'pool-waits-for-nodes',
    pools(pool({}, { phase: 'Waiting', holds: FULL })),
    /^pool workers: unavailable already: n-1$/,
  ],
  [
    'config-rejected',
    { ...nodes(node('n-1'), node('n-2')), ...reports(failed('n-1'), failed('n-2')) },
    /^workers-\w{10} on 2 nodes \(n-1, n-2\): CrashLoop: the kubelet ended 3 times$/,
  ],
  [
    'nodes-broken',
    reports(settled('n-1', { phase: 'Broken' })),
    /^node n-1: the kubelet runs with none of its configs$/,
  ],
  [
    'nodes-failing',
    reports(settled('n-1', { error: { reason: 'ProvenConfigFails', message: 'no such gate', at: 'x' } })),
    /^node n-1: no such gate$/,
  ],
  [
    'nodes-unhealthy',
    reports(settled('n-1', condition('KubeletConfigHealthy', 'NotHealthy', 'connect ECONNREFUSED'))),
    /^node n-1: connect ECONNREFUSED \(since /,
  ],
  [
    'nodes-drifted',
    reports(
      settled('n-1', { phase: 'Drifted', error: { reason: 'Drifted', message: 'config.yaml was changed', at: 'x' } }),
    ),
    /^node n-1: config\.yaml was changed$/,
  ],
  [
    'checkpoints-damaged',
    reports(settled('n-1', condition('CheckpointsIntact', 'Damaged', 'the disk is full'))),
    /^node n-1: the disk is full$/,
  ],
  [
    'nodes-unguarded',
    reports(...['n-1', 'n-2'].map((name) => settled(name, condition('Guarded', 'NoGuard', 'GUARD=off')))),
    /^2 nodes \(n-1, n-2\): GUARD=off$/,
  ],
  ['command-line-unseen', reports(settled('n-1', { commandLine: 'unseen' })), /cannot see the kubelet's command line/],
  [
    'running-config-unseen',
    reports(settled('n-1', condition('RunningConfigSeen', 'Forbidden', 'it needs "get" on nodes/configz'))),
    /Forbidden: it needs "get" on nodes\/configz/,
  ],
  [
    'nodes-in-error',
    reports(settled('n-1', { error: { reason: 'DownloadFailed', message: 'timeout', at: 'x' } })),
    /^node n-1: DownloadFailed: timeout$/,
  ],
  ['kubelet-too-new', nodes(node('n-1', { kubeletVersion: 'v1.99.0' })), /^node n-1/],
  [
    'flags-removed',
    {
      ...nodes(node('n-1'), node('n-2')),
      ...reports(...['n-1', 'n-2'].map((name) => settled(name, { kubeletFlags: ['containerd'] }))),
    },
    /^2 nodes \(n-1, n-2\): kubelet 1\.37 does not start with --containerd$/,
  ],
  ['kubelet-too-old', nodes(node('n-1', { kubeletVersion: 'v1.19.0' })), /^node n-1/],
  ['records-without-node', reports(settled('n-1'), settled('n-9')), /^KubeletNode n-9/],
  [
    'clock-skew',
    { stamps: [{ of: 'node n-1', said: NOW - 3_600_000, stamped: NOW - 3_400_000 }] },
    /^the clock of node n-1 is 200 s behind$/,
  ],
  ['clock-skew', { stamps: [{ of: 'node n-1', said: NOW + 90_000, stamped: undefined }] }, /90 s ahead$/],
];

describe('the judgement of an installation', () => {
  it('finds nothing wrong where nothing is', () => {
    assert.deepEqual(diagnose(SOUND), []);
    assert.equal(doctorAsText([], plain), 'nothing is wrong\n');
  });

  for (const [code, facts, what] of CASES) {
    it(`finds ${code}: ${what.source}`, () => {
      const found = diagnose({ ...SOUND, ...facts }).filter((each) => each.code === code);
      assert.match(found.map((each) => each.what).join('\n'), new RegExp(what.source, 'm'));
      for (const each of found) assert.ok(each.why !== '' && each.remedy !== '');
    });
  }

  it('has a case here for each of its codes', () => {
    const tried = new Set(CASES.map(([code]) => code));
    assert.deepEqual(
      Object.keys(CODES).filter((code) => !tried.has(code)),
      [],
    );
  });

  it('names errors first, and only a few of many nodes', () => {
    const many = Array.from({ length: 40 }, (_, index) => node(`n-${index}`));
    const facts = { ...SOUND, nodes: is([...many, node('free', { labels: {} })]), kubeletNodes: is([]) };
    const found = diagnose(facts);
    assert.deepEqual(column(found, 'code'), ['nodes-without-agent', 'nodes-unmanaged']);
    assert.equal(found[0]?.what, '41 nodes (n-0, n-1, n-2, n-3, n-4 and 36 more): no agent ever reported');
    assert.equal(found[0]?.objects.length, 41);
    assert.match(doctorAsText(found, plain), /^error nodes-without-agent: 41 nodes[\s\S]*\n1 error, 1 note\n$/);
  });

  it('does not call a young node, or one that runs Windows, without agent', () => {
    const young = node('n-2', { createdAt: NOW - 60_000 });
    const windows = node('n-3', { labels: { pool: 'workers', 'kubernetes.io/os': 'windows' } });
    const found = diagnose({ ...SOUND, nodes: is([node('n-1'), young, windows]) });
    assert.deepEqual(columns(found, 'code', 'objects'), [['nodes-unsupported', ['n-3']]]);
  });

  it('does not call places that nodes in change take a wait for unavailable nodes', () => {
    assert.deepEqual(diagnose({ ...SOUND, pools: is([pool({}, { phase: 'Progressing', holds: FULL })]) }), []);
  });

  it('is silent about what an upgrade explains, and what a missing CRD explains', () => {
    const upgrade = { ...SOUND, agents: is({ ...WORKLOAD, wanted: 2, updated: 1 }) };
    const mixed = is([settled('n-1'), settled('n-2', { agentVersion: '0.0.9' })]);
    const codes = (facts: Facts): readonly string[] => diagnose(facts).map(({ code }) => code);
    assert.deepEqual(codes({ ...upgrade, kubeletNodes: mixed, nodes: is([node('n-1'), node('n-2')]) }), [
      'agents-updating',
    ]);
    const gone: Part<never> = { read: false, code: 'KUBE_NOT_FOUND', why: 'no such kind' };
    assert.deepEqual(codes({ ...SOUND, crds: is([]), pools: gone, kubeletNodes: gone }), [
      'crd-missing',
      'crd-missing',
      'crd-missing',
    ]);
  });
});
