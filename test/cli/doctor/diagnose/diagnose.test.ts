import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CODES } from '#cli/doctor/diagnosis-codes.ts';
import type { Facts, NodeFact, Part, WorkloadFact } from '#cli/doctor/facts.ts';
import { CRD_FIELDS, RIGHTS } from '#cli/doctor/installation.generated.ts';
import { diagnose } from '#cli/doctor/diagnose/diagnose.ts';
import { plain } from '#cli/paint.ts';
import { doctorAsText } from '#cli/doctor/render.ts';
import { NO_STATE, type SourceState } from '#reconciler/reporting/notes/source-state.ts';
import { SUSPEND_ANNOTATION } from '#shared/contract/api/group.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import { toTimestamp } from '#shared/runtime/clock.ts';
import { assignedNode, COMMIT_A, NOW, nodeView, poolSpec, settledNode, validPool } from '../../../support/fleet.ts';

const is = <T>(value: T): Part<T> => ({ read: true, value });
const WORKERS = validPool('workers', 110);
const WORKLOAD: WorkloadFact = { wanted: 1, ready: 1, updated: 1, image: 'kubelet-gitops:0.1.0', settings: {} };
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
  crds: is(Object.entries(CRD_FIELDS).map(([name, fields]) => ({ name, established: true, fields }))),
  reconciler: is(WORKLOAD),
  agents: is(WORKLOAD),
  pods: is([{ name: 'r-1', component: 'reconciler', node: 'n', ready: true, waiting: '', restarts: 3 }]),
  lease: is({
    metadata: { name: 'l' },
    spec: { holderIdentity: 'r-1_x', renewTime: toTimestamp(NOW - 2_000), leaseDurationSeconds: 15 },
  }),
  source: is(STATE),
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

const CASES: readonly (readonly [string, Partial<Facts>, string, RegExp])[] = [
  ['a part that may not be read', { pods: unread }, 'not-readable', /pods of both programs: cannot list pods/],
  ['no CRD', { crds: is([]) }, 'crd-missing', /no CRD kubeletpools\.kubelet-gitops\.dev/],
  [
    'a CRD of an older release',
    { crds: is(Object.entries(CRD_FIELDS).map(([name, [, ...fields]]) => ({ name, established: true, fields }))) },
    'crd-old',
    /does not know spec$/,
  ],
  [
    'a CRD that is not served',
    { crds: is(Object.entries(CRD_FIELDS).map(([name, fields]) => ({ name, established: false, fields }))) },
    'crd-missing',
    /not served/,
  ],
  [
    'no CRD for what becomes of the branch',
    {
      crds: is(
        Object.entries(CRD_FIELDS).flatMap(([name, fields]) =>
          name.startsWith('kubeletsources') ? [] : [{ name, established: true, fields }],
        ),
      ),
    },
    'crd-missing',
    /^there is no CRD kubeletsources\.kubelet-gitops\.dev$/,
  ],
  [
    'a right that was not granted',
    { missingRights: is(RIGHTS.filter(({ account, verb }) => account.endsWith('agent') && verb === 'watch')) },
    'rights-missing',
    /^kubelet-gitops-agent may not watch kubeletnodes\.kubelet-gitops\.dev$/,
  ],
  [
    'drains without the right to drain',
    { pools: is([pool({ disruption: { allow: ['restart', 'drain'], drainTimeout: '10m' } })]) },
    'drain-not-granted',
    /^pool workers: the reconciler may not patch nodes; list pods; create pods\/eviction$/,
  ],
  [
    'pods that nobody may look for',
    { pools: is([pool({ blockers: { pods: { selector: {} } } })]) },
    'pods-not-granted',
    /may not list pods$/,
  ],
  [
    'kubelets that hide what they run',
    { nodes: is([node('n-1', { kubeletVersion: 'v1.32.1' })]) },
    'configz-not-granted',
    /n-1/,
  ],
  ['no reconciler', { reconciler: is(null), pods: is([]) }, 'reconciler-missing', /in namespace kubelet-gitops$/],
  [
    'a reconciler of no pods',
    { reconciler: is({ ...WORKLOAD, wanted: 0 }), lease: is(null) },
    'reconciler-stopped',
    /0 replicas/,
  ],
  [
    'pods that do not start',
    {
      pods: is(
        ['a', 'b'].map((name) => ({
          name,
          component: 'agent',
          node: 'n',
          ready: false,
          waiting: 'CrashLoopBackOff',
          restarts: 7,
        })),
      ),
    },
    'pod-failing',
    /^2 pods \(a, b\): CrashLoopBackOff, 14 restarts$/,
  ],
  ['a Lease that nobody ever held', { lease: is(null) }, 'no-leader', /ever held/],
  ['a Lease that was given back', { lease: lease(toTimestamp(NOW), '') }, 'no-leader', /gave the Lease back/],
  ['a Lease that is old', { lease: lease(toTimestamp(NOW - 61_000)) }, 'no-leader', /not renewed the Lease since/],
  ['no agents', { agents: is(null) }, 'agents-missing', /no DaemonSet/],
  [
    'an upgrade of the agents',
    { agents: is({ ...WORKLOAD, wanted: 9, updated: 4 }) },
    'agents-updating',
    /^4 of 9 agents/,
  ],
  [
    'agents of two releases',
    { kubeletNodes: is([settled('n-1'), settled('n-2'), settled('n-3', { agentVersion: '0.0.9' })]) },
    'agent-versions-differ',
    /^node n-3: agent 0\.0\.9; most run 0\.1\.0$/,
  ],
  ['no commit', { source: is(null) }, 'no-commit', /no commit was ever taken up$/],
  [
    'git that fails from the beginning',
    { source: is({ ...NO_STATE, failure: 'GIT_TIMEOUT: no answer', failingSince: 'x' }) },
    'no-commit',
    /: GIT_TIMEOUT/,
  ],
  [
    'git that fails',
    { source: is({ ...STATE, failure: 'GIT_TIMEOUT: no answer', failingSince: '09:00' }) },
    'git-failing',
    /since 09:00: GIT_TIMEOUT/,
  ],
  [
    'a refused commit',
    { source: is({ ...STATE, refusedCommit: 'b'.repeat(40), refusedBecause: 'history-rewritten' }) },
    'commit-refused',
    /^b{12}: history-rewritten/,
  ],
  [
    'findings',
    { source: is({ ...STATE, findings: 'pools/a/pool.yaml:1:1: error x\nb' }) },
    'commit-findings',
    /^2 in a{12}: pools\/a/,
  ],
  [
    'notes that cannot be written',
    { source: is({ ...STATE, notes: 'off: GIT_FORBIDDEN' }) },
    'notes-off',
    /GIT_FORBIDDEN/,
  ],
  [
    'a note that alone cannot be written',
    { source: is({ ...STATE, unreadableNotes: `${'c'.repeat(40)}: it is no tree\nb` }) },
    'notes-unreadable',
    /^2, among them c{40}: it is no tree$/,
  ],
  [
    'statuses that cannot be posted',
    { source: is({ ...STATE, statuses: 'off: FORGE_FORBIDDEN' }) },
    'statuses-off',
    /FORGE_/,
  ],
  [
    'slow polls',
    { reconciler: is({ ...WORKLOAD, settings: { POLL_INTERVAL: '1h' } }) },
    'polling-slow',
    /^POLL_INTERVAL is 1h/,
  ],
  ['half a webhook', { webhookService: is(true) }, 'webhook-half', /WEBHOOK_SECRET_FILE is not set/],
  [
    'a suspended cluster',
    {
      source: is({
        ...STATE,
        policy: JSON.stringify({ maxUnavailable: null, maxUnassign: '20%', suspend: true, windows: null }),
      }),
    },
    'cluster-suspended',
    /every pool/,
  ],
  [
    'a pool that somebody suspended',
    { pools: is([{ ...pool({}), metadata: { name: 'workers', annotations: { [SUSPEND_ANNOTATION]: 'incident' } } }]) },
    'pool-suspended',
    /^pool workers: suspended \(incident\)$/,
  ],
  ['a pool that git suspends', { pools: is([pool({ suspend: true })]) }, 'pool-suspended', /pool\.yaml/],
  [
    'a halted pool',
    {
      pools: is([
        pool({}, { halt: { config: 'c', sha256: 's', at: '11:00', message: 'failed on n-1', action: 'halt' } }),
      ]),
    },
    'pool-halted',
    /^pool workers: halted since 11:00: failed on n-1$/,
  ],
  [
    'a pool with findings',
    {
      pools: is([
        pool(
          {},
          {
            conditions: [
              { type: 'ConfigValid', status: 'False', reason: 'Refused', message: 'a\nb', lastTransitionTime: 'x' },
            ],
          },
        ),
      ]),
    },
    'pool-invalid',
    /^pool workers: a$/,
  ],
  ['a pool of no node', { pools: is([pool({}, { phase: 'Empty' })]) }, 'pool-empty', /^pool workers:/],
  [
    'a blocked pool',
    { pools: is([pool({}, { holds: [{ reason: 'blocked', nodes: 1, examples: [], message: 'alert X fires' }] })]) },
    'pool-blocked',
    /alert X fires/,
  ],
  [
    'windows that never open',
    {
      pools: is([
        pool({ rollout: { ...poolSpec().rollout, windows: { allow: [someDay], deny: [always], overrun: 'stop' } } }),
      ]),
    },
    'window-never-opens',
    /^pool workers: /,
  ],
  [
    'pools that fight for a node',
    { pools: is([pool({}), { ...pool({}), metadata: { name: 'gpu' } }]) },
    'nodes-in-conflict',
    /^node n-1: selected by gpu and workers with the same priority$/,
  ],
  ['a node without an agent', { kubeletNodes: is([]) }, 'nodes-without-agent', /^node n-1: no agent ever reported/],
  [
    'an agent that is silent',
    { kubeletNodes: is([settled('n-1', { heartbeat: toTimestamp(NOW - 16 * 60_000) })]) },
    'agents-silent',
    /^node n-1/,
  ],
  ['a node that no pool selects', { nodes: is([node('n-1', { labels: {} })]) }, 'nodes-unmanaged', /^node n-1/],
  [
    'a node that was opted out',
    { nodes: is([node('n-1', { labels: { 'kubelet-gitops.dev/opt-out': 'true' } })]) },
    'nodes-opted-out',
    /^node n-1/,
  ],
  [
    'nodes on which no agent can run',
    { nodes: is([node('n-1', { virtual: true }), node('n-2', { virtual: true })]), kubeletNodes: is([]) },
    'nodes-unsupported',
    /^2 nodes \(n-1, n-2\): it is a virtual node/,
  ],
  [
    'a pool whose places unavailable nodes take',
    { pools: is([pool({}, { phase: 'Waiting', holds: FULL })]) },
    'pool-waits-for-nodes',
    /^pool workers: unavailable already: n-1$/,
  ],
  [
    'a config that nodes took back',
    { nodes: is(['n-1', 'n-2'].map((name) => node(name))), kubeletNodes: is([failed('n-1'), failed('n-2')]) },
    'config-rejected',
    /^workers-\w{10} on 2 nodes \(n-1, n-2\): CrashLoop: the kubelet ended 3 times$/,
  ],
  ['a broken node', { kubeletNodes: is([settled('n-1', { phase: 'Broken' })]) }, 'nodes-broken', /^node n-1: Broken$/],
  [
    'a drifted node',
    {
      kubeletNodes: is([
        settled('n-1', { phase: 'Drifted', error: { reason: 'Drifted', message: 'config.yaml was changed', at: 'x' } }),
      ]),
    },
    'nodes-drifted',
    /^node n-1: Drifted: config\.yaml was changed$/,
  ],
  [
    'an agent that may not see what its kubelet runs',
    {
      kubeletNodes: is([
        settled('n-1', {
          conditions: [
            {
              type: 'RunningConfigSeen',
              status: 'False',
              reason: 'Forbidden',
              message: 'it needs "get" on nodes/configz',
              lastTransitionTime: '',
            },
          ],
        }),
      ]),
    },
    'running-config-unseen',
    /Forbidden: it needs "get" on nodes\/configz/,
  ],
  [
    'a node that cannot fetch its config',
    { kubeletNodes: is([settled('n-1', { error: { reason: 'DownloadFailed', message: 'timeout', at: 'x' } })]) },
    'nodes-in-error',
    /^node n-1: DownloadFailed: timeout$/,
  ],
  [
    'a kubelet of the future',
    { nodes: is([node('n-1', { kubeletVersion: 'v1.99.0' })]) },
    'kubelet-too-new',
    /^node n-1/,
  ],
  [
    'flags that keep the next kubelet from starting',
    {
      nodes: is([node('n-1'), node('n-2')]),
      kubeletNodes: is(['n-1', 'n-2'].map((name) => settled(name, { kubeletFlags: ['containerd'] }))),
    },
    'flags-removed',
    /^2 nodes \(n-1, n-2\): kubelet 1\.37 does not start with --containerd$/,
  ],
  [
    'a kubelet of the past',
    { nodes: is([node('n-1', { kubeletVersion: 'v1.19.0' })]) },
    'kubelet-too-old',
    /^node n-1/,
  ],
  [
    'a record without its node',
    { kubeletNodes: is([settled('n-1'), settled('n-9')]) },
    'records-without-node',
    /^KubeletNode n-9/,
  ],
  [
    'a clock that is behind, by the API server',
    { stamps: [{ of: 'node n-1', said: NOW - 3_600_000, stamped: NOW - 3_400_000 }] },
    'clock-skew',
    /^the clock of node n-1 is 200 s behind$/,
  ],
  [
    'a clock that is ahead, by nobody but us',
    { stamps: [{ of: 'node n-1', said: NOW + 90_000, stamped: undefined }] },
    'clock-skew',
    /90 s ahead$/,
  ],
];

describe('the judgement of an installation', () => {
  it('finds nothing wrong where nothing is', () => {
    assert.deepEqual(diagnose(SOUND), []);
    assert.equal(doctorAsText([], plain), 'nothing is wrong\n');
  });

  for (const [name, facts, code, what] of CASES) {
    it(`finds ${name}`, () => {
      const found = diagnose({ ...SOUND, ...facts }).filter((each) => each.code === code);
      assert.match(found.map((each) => each.what).join('\n'), new RegExp(what.source, 'm'));
      for (const each of found) assert.ok(each.why !== '' && each.remedy !== '');
    });
  }

  it('has a case here for each of its codes', () => {
    const tried = new Set(CASES.map(([, , code]) => code));
    assert.deepEqual(
      Object.keys(CODES).filter((code) => !tried.has(code)),
      [],
    );
  });

  it('names errors first, and only a few of many nodes', () => {
    const many = Array.from({ length: 40 }, (_, index) => node(`n-${index}`));
    const facts = { ...SOUND, nodes: is([...many, node('free', { labels: {} })]), kubeletNodes: is([]) };
    const found = diagnose(facts);
    assert.deepEqual(
      found.map(({ code }) => code),
      ['nodes-without-agent', 'nodes-unmanaged'],
    );
    assert.equal(found[0]?.what, '41 nodes (n-0, n-1, n-2, n-3, n-4 and 36 more): no agent ever reported');
    assert.equal(found[0]?.objects.length, 41);
    assert.match(doctorAsText(found, plain), /^error nodes-without-agent: 41 nodes[\s\S]*\n1 error, 1 note\n$/);
  });

  it('does not call a young node, or one that runs Windows, without agent', () => {
    const young = node('n-2', { createdAt: NOW - 60_000 });
    const windows = node('n-3', { labels: { pool: 'workers', 'kubernetes.io/os': 'windows' } });
    const found = diagnose({ ...SOUND, nodes: is([node('n-1'), young, windows]) });
    assert.deepEqual(
      found.map(({ code, objects }) => [code, objects]),
      [['nodes-unsupported', ['n-3']]],
    );
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
