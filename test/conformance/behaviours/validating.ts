import assert from 'node:assert/strict';
import { type KubeletNode, MAX_WARNING_LENGTH, MAX_WARNINGS } from '#shared/contract/api/kubelet-node.ts';
import type { KubeletPool, KubeletPoolSpec, KubeletPoolStatus } from '#shared/contract/api/kubelet-pool.ts';
import { KUBELET_POOLS } from '#shared/kube/kube.ts';
import type { Behaviours } from '../suite.ts';
import { AT_NODES, type Bench, fieldsOf, nodeBody, NODES_PATH, refusalOf } from '../support/bench.ts';
import type { Loose } from '../support/raw.ts';
import { A } from '../../support/agent/states.ts';

const AT = '2026-01-01T00:00:00Z';
const SHA = 'a'.repeat(64);

/** Specs of a KubeletNode that are refused, the field to blame, and how the message goes on. */
const BAD_SPECS: readonly (readonly [spec: unknown, field: string, message: RegExp])[] = [
  ['workers', 'spec', /Invalid value: "string": spec in body must be of type object: "string"/],
  [{ pool: 1 }, 'spec.pool', /Invalid value: "integer": spec\.pool in body must be of type string: "integer"/],
  [{ pool: 'Upper' }, 'spec.pool', /Invalid value: "Upper": spec\.pool in body should match '\^/],
  [{ pool: 'x'.repeat(53) }, 'spec.pool', /(should be at most 52 chars long|Too long)/],
  [{ apply: 'merge' }, 'spec.apply', /Unsupported value: "merge": supported values: "overlay", "replace"/],
  [{ drift: 'ignore' }, 'spec.drift', /Unsupported value: "ignore": supported values: "repair", "report"/],
  [{ commit: 'abc' }, 'spec.commit', /should match/],
  [{ trial: { duration: 'soon', startTimeout: '2m', maxRestarts: 2 } }, 'spec.trial.duration', /should match/],
  [{ trial: { duration: '', startTimeout: '2m', maxRestarts: 2 } }, 'spec.trial.duration', /at least 1 chars long/],
  [
    { trial: { duration: '10m', startTimeout: '2m', maxRestarts: -1 } },
    'spec.trial.maxRestarts',
    /greater than or equal to 0/,
  ],
  [
    { trial: { duration: '10m', startTimeout: '2m', maxRestarts: 1.5 } },
    'spec.trial.maxRestarts',
    /must be of type (integer: "number"|int32: "float64")/,
  ],
  [{ trial: { duration: '10m', startTimeout: '2m' } }, 'spec.trial.maxRestarts', /Required value/],
  ...(['namespace', 'name', 'uid', 'resourceVersion', 'key', 'sha256'] as const).map(
    (field) =>
      [{ configSource: { ...A.source, [field]: undefined } }, `spec.configSource.${field}`, /Required value/] as const,
  ),
  ...(['namespace', 'name', 'key'] as const).map(
    (field) =>
      [{ configSource: { ...A.source, [field]: '../x' } }, `spec.configSource.${field}`, /should match/] as const,
  ),
];

const TRIAL = { config: 'a-2gmf6b4k8c', since: AT, healthySeconds: 0, durationSeconds: 600, restarts: 0 };

const BAD_STATUSES: readonly (readonly [status: unknown, field: string])[] = [
  [{ trial: { ...TRIAL, warnings: 'none' } }, 'status.trial.warnings'],
  [{ trial: { ...TRIAL, warnings: Array(MAX_WARNINGS + 1).fill('') } }, 'status.trial.warnings'],
  [{ trial: { ...TRIAL, warnings: ['x'.repeat(MAX_WARNING_LENGTH + 1)] } }, 'status.trial.warnings'],
  [{ phase: 'Sleeping' }, 'status.phase'],
  [{ heartbeat: 'yesterday' }, 'status.heartbeat'],
  [{ heartbeat: '2026-01-01' }, 'status.heartbeat'],
  [{ assigned: {} }, 'status.assigned.name'],
  [{ active: { name: 'a', sha256: 'A'.repeat(64) } }, 'status.active.sha256'],
  [
    { rejected: [{ name: 'a', sha256: SHA, apply: 'overlay', reason: 'R', message: 'm', at: 'never' }] },
    'status.rejected.at',
  ],
  [{ rejected: {} }, 'status.rejected'],
  [
    { conditions: [{ type: 'A', status: 'Maybe', reason: 'R', message: '', lastTransitionTime: AT }] },
    'status.conditions.status',
  ],
];

const POOL: KubeletPoolSpec = {
  nodeSelector: { matchLabels: { 'node-role.kubernetes.io/worker': '' } },
  priority: 0,
  layers: ['base/small.yaml', 'pools/workers/kubelet.yaml'],
  apply: 'overlay',
  rollout: { maxUnavailable: '10%', soak: '0s', onFailure: { threshold: 1, action: 'halt' } },
  trial: { duration: '10m', startTimeout: '2m', maxRestarts: 2 },
  drift: 'report',
};

const poolBody = (name: string, spec: unknown): KubeletPool => ({
  apiVersion: 'kubelet-gitops.dev/v1alpha1',
  kind: 'KubeletPool',
  metadata: { name },
  spec: spec as KubeletPoolSpec,
});

const WINDOW = { cron: '0 2 * * 1-5', duration: '4h', timeZone: 'Europe/Berlin' };
const ROLLOUT = {
  ...POOL.rollout,
  maxUnavailablePerZone: '50%',
  notReadyNodes: 'change',
  canary: { selector: { matchLabels: { canary: '' } }, soak: '1h' },
  steps: [{ nodes: 3 }, { nodes: '50%', soak: '0s' }],
  windows: { allow: [WINDOW], deny: [{ cron: '0 0 L * *', duration: '24h' }], overrun: 'finish-wave' },
  emergency: 'CVE-2026-1234',
  onFailure: { threshold: '5%', action: 'revert' },
} as const;
const DISRUPTION = {
  allow: ['restart', 'reboot'],
  drainTimeout: '10m',
  reboot: { by: 'systemd', timeout: '1h' },
} as const;
const BLOCKERS = {
  prometheus: { url: 'http://prometheus.monitoring:9090', alerts: ['KubeAPIDown'] },
  pods: { namespace: 'batch', selector: { matchExpressions: [{ key: 'app', operator: 'Exists' }] } },
} as const;

/** Parts of a KubeletPool that are refused, and the field to blame. */
const BAD_POOLS: readonly (readonly [spec: object, field: string])[] = [
  [{ suspend: 'yes' }, 'spec.suspend'],
  [{ rollout: { ...ROLLOUT, onFailure: { threshold: 1, action: 'undo' } } }, 'spec.rollout.onFailure.action'],
  [{ rollout: { ...ROLLOUT, maxUnavailablePerZone: 'all' } }, 'spec.rollout.maxUnavailablePerZone'],
  [{ rollout: { ...ROLLOUT, notReadyNodes: 'fix' } }, 'spec.rollout.notReadyNodes'],
  [{ rollout: { ...ROLLOUT, canary: { nodes: 0 } } }, 'spec.rollout.canary.nodes'],
  [{ rollout: { ...ROLLOUT, steps: [{ soak: '1h' }] } }, 'spec.rollout.steps[0].nodes'],
  [{ rollout: { ...ROLLOUT, windows: { ...ROLLOUT.windows, overrun: 'go-on' } } }, 'spec.rollout.windows.overrun'],
  [{ rollout: { ...ROLLOUT, windows: { allow: [], deny: [] } } }, 'spec.rollout.windows.overrun'],
  [
    { rollout: { ...ROLLOUT, windows: { ...ROLLOUT.windows, allow: [{ cron: '0 2 * * *' }] } } },
    'spec.rollout.windows.allow[0].duration',
  ],
  [{ rollout: { ...ROLLOUT, emergency: '' } }, 'spec.rollout.emergency'],
  [{ disruption: { ...DISRUPTION, allow: [] } }, 'spec.disruption.allow'],
  [{ disruption: { ...DISRUPTION, reboot: { by: 'systemd' } } }, 'spec.disruption.reboot.timeout'],
  [{ blockers: { prometheus: { url: 'http://a:b@c' } } }, 'spec.blockers.prometheus.url'],
  [{ blockers: { pods: {} } }, 'spec.blockers.pods.selector'],
];

const SETTLED = { configName: 'a-2gmf6b4k8c', sha256: SHA, apply: 'overlay', at: AT } as const;
const STATUS: KubeletPoolStatus = {
  halt: { config: 'a-2gmf6b4k8c', sha256: SHA, at: AT, message: 'm', action: 'revert' },
  settled: SETTLED,
  proof: {
    payloads: [SHA, `replace:${SHA}`],
    commits: ['a'.repeat(40)],
    times: [AT],
    classes: [
      { name: '', state: 'proven', since: 0, current: 0, proven: 0, commit: 0, nodes: 2, proved: 1, missing: ['a'] },
      { name: 'cpu=4', state: 'unproven', since: 0, current: 1, former: 0, nodes: 0, proved: 0 },
    ],
    unrecorded: 3,
  },
  rollout: {
    configName: 'a-2gmf6b4k8c',
    sha256: SHA,
    startedAt: AT,
    waves: [
      { name: 'canary', nodes: 1, state: 'done', startedAt: AT, doneAt: AT },
      { name: 'rest', nodes: 9, state: 'waiting' },
    ],
  },
  holds: [{ reason: 'budget', nodes: 8, examples: ['a', 'b'], message: 'm' }],
};

export const validatingBehaviours: Behaviours = {
  'a spec that breaks the schema is refused, with the field and the reason': refusesBadSpecs,
  'a status that breaks the schema is refused, with the field': refusesBadStatuses,
  'all that is wrong is said at once': saysAll,
  async 'null is the same as nothing, unless the field may be null'({ raw, fresh }) {
    const body = { ...nodeBody(fresh()), spec: { pool: null, apply: 'overlay' } };
    const made = (await raw.call({ method: 'POST', path: NODES_PATH, body })).json();
    assert.deepEqual(made.spec, { apply: 'overlay' });
    const path = `${NODES_PATH}/${made.metadata.name}/status`;
    const status = { phase: null, error: null, trial: null, promotedAt: null };
    const put = await raw.call({ method: 'PUT', path, body: { ...made, status } });
    assert.deepEqual(put.json().status, { error: null, trial: null, promotedAt: null });
  },
  async 'an empty text is a text'({ kube, aNode }) {
    const { name } = (await aNode()).metadata;
    const conditions = [{ type: 'Stalled', status: 'False', reason: 'Settled', message: '', lastTransitionTime: AT }];
    const patch = { status: { conditions, kubeletVersion: '' } };
    const written = await kube.mergePatch<KubeletNode>(AT_NODES, name, patch, { subresource: 'status' });
    assert.deepEqual(written.status, patch.status);
  },
  async 'a node takes either way with drift, and none; so does a pool'({ kube, aNode, fresh }) {
    for (const drift of ['repair', 'report'] as const) {
      assert.deepEqual((await aNode({ pool: 'a', drift })).spec, { pool: 'a', drift });
    }
    assert.deepEqual((await aNode({ pool: 'a' })).spec, { pool: 'a' });
    const { drift: _, ...without } = POOL;
    const at = { resource: KUBELET_POOLS };
    assert.deepEqual((await kube.create(at, poolBody(fresh('pool'), without))).spec, without);
    const refused = await refusalOf(kube.create(at, poolBody(fresh('pool'), { ...POOL, drift: 'ignore' })));
    assert.match(refused.message, /spec\.drift: Unsupported value: "ignore"/);
  },
  async 'a status holds as many warnings, and as long ones, as an agent may write'({ kube, aNode }) {
    const { name } = (await aNode()).metadata;
    const warnings = Array<string>(MAX_WARNINGS).fill('é'.repeat(MAX_WARNING_LENGTH));
    const status = { trial: { ...TRIAL, warnings } };
    const written = await kube.mergePatch<KubeletNode>(AT_NODES, name, { status }, { subresource: 'status' });
    assert.deepEqual(written.status, status);
  },
  async 'a pool keeps all that can be said of a rollout, and all that became of it'({ kube, fresh }) {
    const at = { resource: KUBELET_POOLS };
    const spec = { ...POOL, rollout: ROLLOUT, suspend: true, disruption: DISRUPTION, blockers: BLOCKERS };
    const { metadata, ...made } = await kube.create(at, poolBody(fresh('pool'), spec));
    assert.deepEqual(made.spec, spec);
    const patch = { status: STATUS };
    const written = await kube.mergePatch<KubeletPool>(at, metadata.name, patch, { subresource: 'status' });
    assert.deepEqual(written.status, STATUS);
    const local = { status: { settled: { ...SETTLED, configName: '', sha256: '' }, rollout: null, halt: null } };
    const again = await kube.mergePatch<KubeletPool>(at, metadata.name, local, { subresource: 'status' });
    assert.deepEqual(again.status?.settled, local.status.settled);
  },
  async 'a pool that breaks the schema is refused, with the field'({ kube, fresh }) {
    for (const [part, field] of BAD_POOLS) {
      const refused = await refusalOf(
        kube.create({ resource: KUBELET_POOLS }, poolBody(fresh('pool'), { ...POOL, ...part })),
      );
      // Servers before 1.21 leave out the index of a list's item.
      const said = [field, field.replaceAll(/\[\d+\]/g, '')].some((path) => refused.message.includes(path));
      assert.ok(said, `${field}: ${refused.message}`);
    }
  },
  async 'counts may be numbers or percentages, and nothing else'({ kube, fresh }) {
    const at = { resource: KUBELET_POOLS };
    const pool = (maxUnavailable: unknown): KubeletPool =>
      poolBody(fresh('pool'), { ...POOL, rollout: { ...POOL.rollout, maxUnavailable } });
    for (const fine of [0, 3, '0%', '25%', '100%']) {
      assert.equal((await kube.create(at, pool(fine))).spec?.rollout.maxUnavailable, fine);
    }
    for (const wrong of [-1, 1.5, '3', '%', '10 %', true, null]) {
      const refused = await refusalOf(kube.create(at, pool(wrong)));
      assert.match(refused.message, /spec\.rollout\.maxUnavailable/, String(wrong));
    }
  },
  async 'a pool is taken as the reconciler writes it, with its status'({ kube, fresh }) {
    const at = { resource: KUBELET_POOLS };
    const made = await kube.create(at, poolBody(fresh('pool'), POOL));
    assert.deepEqual(made.spec, POOL);
    const status = {
      observedGeneration: 1,
      commit: '0123456789012345678901234567890123456789',
      configName: 'workers-2gmf6b4k8c',
      sha256: SHA,
      phase: 'Halted',
      message: 'stopped',
      counts: { nodes: 3, updated: 1, updating: 0, pending: 1, failed: 1, noAgent: 0, drifted: 0 },
      halt: { config: 'workers-2gmf6b4k8c', sha256: SHA, at: AT, message: 'stopped' },
      failures: [{ node: 'a', config: '', reason: 'Unknown', message: '', at: '' }],
      conditions: [{ type: 'Ready', status: 'False', reason: 'Halted', message: '', lastTransitionTime: AT }],
    };
    const written = await kube.mergePatch<KubeletPool>(at, made.metadata.name, { status }, { subresource: 'status' });
    assert.deepEqual(written.status, status);
  },
};

async function refusesBadSpecs({ raw, fresh }: Bench): Promise<void> {
  for (const [spec, field, message] of BAD_SPECS) {
    const answer = await raw.call({ method: 'POST', path: NODES_PATH, body: { ...nodeBody(fresh()), spec } });
    const status = answer.json();
    assert.equal(answer.status, 422, `${field}: ${answer.text}`);
    assert.equal(status.reason, 'Invalid');
    assert.equal(status.details.kind, 'KubeletNode');
    assert.deepEqual(fieldsOf(status), [field]);
    assert.match(status.message, /^KubeletNode\.kubelet-gitops\.dev ".+" is invalid: /);
    assert.match(status.message, message);
  }
}

/**
 * Between 1.20 and 1.34, which were tried, lie servers that judge a status by itself and leave its own name out of the field: 1.30 does.
 */
const leavesStatusOut = (minor: number): boolean => minor > 20 && minor < 34;

async function refusesBadStatuses({ raw, aNode, connection }: Bench): Promise<void> {
  const { name } = (await aNode()).metadata;
  const named = (field: string): string =>
    leavesStatusOut(connection.minor) && !field.startsWith('status.') ? `status.${field}` : field;
  for (const [status, field] of BAD_STATUSES) {
    const answer = await raw.call({ method: 'PATCH', path: `${NODES_PATH}/${name}/status`, body: { status } });
    assert.equal(answer.status, 422, field);
    assert.deepEqual(fieldsOf(answer.json()).map(named), [field]);
  }
}

/** The first of the minors tried that has a reason of its own for a value of another type. */
const TYPES_HAVE_A_REASON = 30;

async function saysAll({ raw, fresh, connection }: Bench): Promise<void> {
  const spec = { pool: 1, apply: 'merge', configSource: { namespace: 'a', name: 'b' } };
  const answer = await raw.call({ method: 'POST', path: NODES_PATH, body: { ...nodeBody(fresh()), spec } });
  assert.deepEqual([...fieldsOf(answer.json())].sort(), [
    'spec.apply',
    'spec.configSource.key',
    'spec.configSource.resourceVersion',
    'spec.configSource.sha256',
    'spec.configSource.uid',
    'spec.pool',
  ]);
  const reasons = new Set(answer.json().details.causes.map((cause: Loose) => cause.reason));
  const ofType = connection.minor >= TYPES_HAVE_A_REASON ? 'FieldValueTypeInvalid' : 'FieldValueInvalid';
  assert.deepEqual(reasons, new Set([ofType, 'FieldValueNotSupported', 'FieldValueRequired']));
}
