import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, describe, it } from 'node:test';
import { parse } from 'yaml';
import { describeOrSkip } from '../../support/describe-or-skip.ts';
import { CHART, type Manifest, renderChart, REQUIRED_VALUES, WITHOUT_HELM } from './render.ts';

type Values = Record<string, unknown>;

/** A value of the chart, what somebody sets it to, and where the objects then have what. */
interface Row {
  /** `agent.env` */
  readonly value: string;
  readonly set: unknown;
  /** An object and a path in it, by fields and by names in lists; then what stands there, where that is not what was set. */
  readonly places: readonly (readonly [place: string, expected?: unknown])[];
}

const row = (value: string, set: unknown, ...places: Row['places']): Row => ({ value, set, places });

const SETTINGS = 'ConfigMap/kubelet-gitops-settings data';
const RECONCILER = 'Deployment/kubelet-gitops-reconciler spec';
const AGENT = 'DaemonSet/kubelet-gitops-agent spec';
const SERVERS = 'DaemonSet/kubelet-gitops-agent-servers spec';
const EDGE = 'DaemonSet/kubelet-gitops-agent-edge';
const POD = 'template.spec';
const CONTAINER = `${RECONCILER} ${POD} containers reconciler`;
const IMAGE = 'registry.example.com/probe';
const DIGEST = `sha256:${'0a'.repeat(32)}`;
const ADMISSION = 'ValidatingAdmissionPolicy/kubelet-gitops-agent-own-node kind';
const GONE = undefined;
const RECEIVER = { name: 'probe', type: 'slack', urlFile: 'probe-url' };
const RECEIVERS = JSON.stringify({
  apiVersion: 'kubelet-gitops.dev/v1alpha1',
  kind: 'NotificationReceivers',
  spec: { receivers: [RECEIVER], runbooksUrl: 'https://git.example.com/runbooks' },
});

/** What both pods take alike. */
/** A directory of the host, at the same place in the agent's container. */
const hostPlace = (name: string, path: string): Row['places'] => [
  [`${AGENT} ${POD} volumes ${name}`, { name, hostPath: { path, type: 'DirectoryOrCreate' } }],
  [`${AGENT} ${POD} containers agent volumeMounts ${name}`, { name, mountPath: path }],
];

const podRows = (workload: 'agent' | 'reconciler', spec: string): readonly Row[] => {
  const container = `${spec} ${POD} containers ${workload}`;
  const resources = { requests: { cpu: '11m', memory: '12Mi' }, limits: { memory: '13Mi' } };
  const env = { name: 'PROBE', value: workload };
  const mount = { name: 'probe', mountPath: '/probe', readOnly: true };
  const volume = { name: 'probe', configMap: { name: `${workload}-probe` } };
  const affinity = { podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [] } };
  return [
    row(`${workload}.priorityClassName`, 'probe', [`${spec} ${POD} priorityClassName`]),
    row(`${workload}.resources`, resources, [`${container} resources`]),
    row(`${workload}.nodeSelector`, { probe: 'set' }, [`${spec} ${POD} nodeSelector probe`, 'set']),
    row(`${workload}.tolerations`, [{ key: 'probe', operator: 'Exists' }], [`${spec} ${POD} tolerations`]),
    row(`${workload}.affinity`, affinity, [`${spec} ${POD} affinity`]),
    row(`${workload}.podAnnotations`, { probe: 'set' }, [`${spec} template metadata annotations probe`, 'set']),
    row(`${workload}.env`, [env], [`${container} env PROBE`, env]),
    row(`${workload}.volumeMounts`, [mount], [`${container} volumeMounts probe`, mount]),
    row(`${workload}.volumes`, [volume], [`${spec} ${POD} volumes probe`, volume]),
  ];
};

/** Set all at once. */
const VALUES: readonly Row[] = [
  row('cluster', 'probe', [`${SETTINGS} CLUSTER`]),
  row('git.url', 'https://git.example.com/probe.git', [`${SETTINGS} GIT_URL`]),
  row('git.branch', 'probe', [`${SETTINGS} GIT_BRANCH`]),
  row('git.path', 'probe/kubelet', [`${SETTINGS} GIT_PATH`]),
  row('git.credentialsSecret', 'probe', [`${RECONCILER} ${POD} volumes git-credentials secret secretName`]),
  row(
    'git.caConfigMap',
    'probe',
    [`${RECONCILER} ${POD} volumes git-ca`, { name: 'git-ca', configMap: { name: 'probe' } }],
    [`${CONTAINER} env GIT_CA_FILE value`, '/etc/kubelet-gitops/git-ca/ca.crt'],
    [`${CONTAINER} volumeMounts git-ca`, { name: 'git-ca', mountPath: '/etc/kubelet-gitops/git-ca', readOnly: true }],
  ),
  row('poll', '7m', [`${SETTINGS} POLL_INTERVAL`]),
  row('onRewrite', 'follow', [`${SETTINGS} ON_REWRITE`]),
  row('notes.enabled', false, [`${SETTINGS} NOTES`, 'off']),
  row(
    'notes.credentialsSecret',
    'probe',
    [
      `${RECONCILER} ${POD} volumes notes-credentials`,
      { name: 'notes-credentials', secret: { secretName: 'probe', defaultMode: 0o440 } },
    ],
    [`${CONTAINER} env NOTES_CREDENTIALS_DIR value`, '/var/run/secrets/kubelet-gitops/notes'],
    [
      `${CONTAINER} volumeMounts notes-credentials`,
      { name: 'notes-credentials', mountPath: '/var/run/secrets/kubelet-gitops/notes', readOnly: true },
    ],
  ),
  row('logLevel', 'trace', [`${SETTINGS} LOG_LEVEL`]),
  row('settings', { KEEP_UNUSED: '7h' }, [`${SETTINGS} KEEP_UNUSED`, '7h']),
  row(
    'image.repository',
    IMAGE,
    [`${RECONCILER} ${POD} containers reconciler image`, `${IMAGE}:7`],
    [`${AGENT} ${POD} containers agent image`, `${IMAGE}:7`],
  ),
  row('image.tag', '7', [`${AGENT} ${POD} containers agent image`, `${IMAGE}:7`]),
  row(
    'image.pullPolicy',
    'Always',
    [`${RECONCILER} ${POD} containers reconciler imagePullPolicy`],
    [`${AGENT} ${POD} containers agent imagePullPolicy`],
  ),
  row(
    'imagePullSecrets',
    [{ name: 'probe' }],
    [`${RECONCILER} ${POD} imagePullSecrets`],
    [`${AGENT} ${POD} imagePullSecrets`],
  ),
  row('reconciler.replicas', 3, [`${RECONCILER} replicas`]),
  ...podRows('reconciler', RECONCILER),
  row(
    'agent.configFile',
    '/probe/kubelet/config.json',
    [`${AGENT} ${POD} containers agent env KUBELET_CONFIG_FILE value`],
    ...hostPlace('kubelet-config', '/probe/kubelet'),
  ),
  row(
    'agent.configDirectory',
    '/probe/drop-ins',
    [`${AGENT} ${POD} containers agent env KUBELET_CONFIG_DIR value`],
    ...hostPlace('kubelet-config-dir', '/probe/drop-ins'),
  ),
  row(
    'agent.service',
    'probe.service',
    [`${AGENT} ${POD} containers agent env KUBELET_SERVICE value`],
    ...hostPlace('guard', '/etc/systemd/system/probe.service.d'),
  ),
  row(
    'agent.rootDirectory',
    '/probe/root',
    [`${AGENT} ${POD} containers agent env KUBELET_ROOT_DIR value`],
    [`${AGENT} ${POD} volumes kubelet hostPath path`],
    [`${AGENT} ${POD} containers agent volumeMounts kubelet mountPath`],
  ),
  row('agent.servingCertificate', '/probe.crt', [`${AGENT} ${POD} containers agent env KUBELET_SERVING_CERTS value`]),
  row('agent.logFile', '/probe/kubelet.log', [`${AGENT} ${POD} containers agent env KUBELET_LOG_FILE value`]),
  row('agent.metricsPort', 7, [`${AGENT} ${POD} containers agent env METRICS_PORT value`, '7']),
  row('agent.maxUnavailable', '7%', [`${AGENT} updateStrategy rollingUpdate maxUnavailable`]),
  ...podRows('agent', AGENT),
];

const SWITCHES: readonly Row[] = [
  row('apparmorBefore130.enabled', true, [`${AGENT} ${POD} containers agent securityContext appArmorProfile`, GONE]),
  row('blockingPods.enabled', true, ['ClusterRole/kubelet-gitops-reconciler-blocking-pods kind', 'ClusterRole']),
  row(
    'commitStatuses.enabled',
    true,
    [`${CONTAINER} env FORGE_TOKEN_FILE value`, '/var/run/secrets/kubelet-gitops/forge/token'],
    [`${CONTAINER} volumeMounts forge-token mountPath`, '/var/run/secrets/kubelet-gitops/forge'],
  ),
  row('commitStatuses.forge', 'gitlab', [`${SETTINGS} FORGE`]),
  row('commitStatuses.secret', 'probe', [`${RECONCILER} ${POD} volumes forge-token secret secretName`]),
  row('configzBefore133.enabled', true, ['ClusterRole/kubelet-gitops-agent-configz kind', 'ClusterRole']),
  row('criticalPodsQuota.enabled', true, ['ResourceQuota/kubelet-gitops-critical-pods kind', 'ResourceQuota']),
  row('drain.enabled', true, ['ClusterRole/kubelet-gitops-reconciler-drain kind', 'ClusterRole']),
  row('eventsBefore123.enabled', true, ['Role/kube-system/kubelet-gitops-reconciler-events kind', 'Role']),
  row('monitoring.enabled', true, ['PrometheusRule/kubelet-gitops kind', 'PrometheusRule']),
  row('networkPolicy.enabled', true, ['NetworkPolicy/kubelet-gitops-reconciler kind', 'NetworkPolicy']),
  row(
    'notifications.enabled',
    true,
    [`${CONTAINER} env NOTIFICATIONS_FILE value`, '/var/run/secrets/kubelet-gitops/notifications/receivers.yaml'],
    [`${CONTAINER} volumeMounts notifications mountPath`, '/var/run/secrets/kubelet-gitops/notifications'],
  ),
  row('notifications.secret', 'probe', [
    `${RECONCILER} ${POD} volumes notifications projected sources`,
    [{ configMap: { name: 'kubelet-gitops-notifications' } }, { secret: { name: 'probe' } }],
  ]),
  row('notifications.receivers', [RECEIVER], ['ConfigMap/kubelet-gitops-notifications kind', 'ConfigMap']),
  row('notifications.runbooksUrl', 'https://git.example.com/runbooks', [
    'ConfigMap/kubelet-gitops-notifications data',
    { 'receivers.yaml': RECEIVERS },
  ]),
  row('podHarm.enabled', true, ['ClusterRole/kubelet-gitops-agent-pod-harm kind', 'ClusterRole']),
  row('selinux.enabled', true, [`${AGENT} ${POD} containers agent securityContext seLinuxOptions type`, 'spc_t']),
  row(
    'signedNotes.enabled',
    true,
    [`${CONTAINER} env NOTES_SIGNING_KEY_PATH value`, '/var/run/secrets/kubelet-gitops/notes-signing/key'],
    [`${CONTAINER} volumeMounts notes-signing mountPath`, '/var/run/secrets/kubelet-gitops/notes-signing'],
  ),
  row('signedNotes.secret', 'probe', [`${RECONCILER} ${POD} volumes notes-signing secret secretName`]),
  row(
    'signedCommits.enabled',
    true,
    [`${CONTAINER} env REQUIRE_SIGNED_COMMITS value`, 'on'],
    [`${CONTAINER} volumeMounts trusted-keys mountPath`, '/etc/kubelet-gitops/trusted-keys'],
  ),
  row('signedCommits.configMap', 'probe', [`${RECONCILER} ${POD} volumes trusted-keys configMap name`]),
  row('signedCommits.mergeKeysConfigMap', 'merge', [`${RECONCILER} ${POD} volumes merge-keys configMap name`]),
  row(
    'statusPage.enabled',
    true,
    ['Service/kubelet-gitops-status kind', 'Service'],
    [`${CONTAINER} env STATUS_PAGE value`, 'cluster'],
    [`${CONTAINER} ports status containerPort`, 8081],
  ),
  row(
    'webhook.enabled',
    true,
    ['Service/kubelet-gitops-webhook kind', 'Service'],
    [`${CONTAINER} env WEBHOOK_SECRET_FILE value`, '/var/run/secrets/kubelet-gitops/webhook/secret'],
    [`${CONTAINER} ports webhook containerPort`, 8090],
    [`${CONTAINER} volumeMounts webhook-secret mountPath`, '/var/run/secrets/kubelet-gitops/webhook'],
  ),
  row('webhook.secret', 'probe', [`${RECONCILER} ${POD} volumes webhook-secret secret secretName`]),
  row('namespace.create', true, ['Namespace/kubelet-gitops kind', 'Namespace']),
];

/** What leaves out objects that others change, or does not go together with them. */
const APART: readonly (readonly Row[])[] = [
  [
    row('admission.enabled', false, [ADMISSION, GONE]),
    row('crds.install', false, ['CustomResourceDefinition/kubeletnodes.kubelet-gitops.dev kind', GONE]),
    row(
      'image.digest',
      DIGEST,
      [`${CONTAINER} image`, `kubelet-gitops@${DIGEST}`],
      [`${AGENT} ${POD} containers agent image`, `kubelet-gitops@${DIGEST}`],
    ),
    row('distribution', 'k0s', [
      `${SERVERS} ${POD} containers agent env KUBELET_SERVICE value`,
      'k0scontroller.service',
    ]),
    row('dataDirectory', '/probe', [
      `${AGENT} ${POD} containers agent env KUBELET_CONFIG_DIR value`,
      '/probe/kubelet.conf.d',
    ]),
    row(
      'otherNodes',
      [
        {
          name: 'edge',
          label: { key: 'site', value: 'edge' },
          distribution: 'rke2',
          dataDirectory: '/probe',
          service: 'probe.service',
        },
      ],
      [`${EDGE} spec ${POD} containers agent env KUBELET_SERVICE value`, 'probe.service'],
      [`${EDGE} spec ${POD} containers agent env KUBELET_LOG_FILE value`, '/probe/agent/logs/kubelet.log'],
      [`${EDGE}-servers spec ${POD} containers agent env KUBELET_SERVICE value`, 'rke2-server.service'],
    ),
  ],
  [
    row(
      'agent.serverService',
      'probe-server.service',
      [`${SERVERS} ${POD} containers agent env KUBELET_SERVICE value`],
      [`${SERVERS} ${POD} volumes guard hostPath path`, '/etc/systemd/system/probe-server.service.d'],
      [`${SERVERS} updateStrategy rollingUpdate maxUnavailable`, 1],
    ),
    // Agents give back what they have also where there were to be none.
    row('agent.enabled', false, [`${AGENT} ${POD} containers agent env MODE value`, 'uninstall']),
    row(
      'uninstall.enabled',
      true,
      [`${RECONCILER} replicas`, GONE],
      [`${AGENT} minReadySeconds`, 90],
      [`${AGENT} ${POD} containers agent readinessProbe periodSeconds`, 2],
    ),
  ],
  [row('agent.enabled', false, [`${AGENT} minReadySeconds`, GONE])],
];

/** `{ agent: { env: … } }` of `agent.env`, over values that are there. */
function withValue(values: Values, [first = '', ...rest]: readonly string[], set: unknown): Values {
  if (rest.length === 0) return { ...values, [first]: set };
  return { ...values, [first]: withValue((values[first] ?? {}) as Values, rest, set) };
}

const rendered = (rows: readonly Row[]): readonly Manifest[] =>
  renderChart(
    rows.reduce<Values>((values, { value, set }) => withValue(values, value.split('.'), set), REQUIRED_VALUES),
  );

function at(manifests: readonly Manifest[] = [], place: string): unknown {
  const [name, ...fields] = place.split(' ').flatMap((part, index) => (index === 0 ? [part] : part.split('.')));
  const object = manifests.find(({ kind, metadata }) =>
    [`${kind}/${metadata.name}`, `${kind}/${metadata.namespace}/${metadata.name}`].includes(name ?? ''),
  );
  return fields.reduce<unknown>((value, field) => {
    if (Array.isArray(value)) return (value as readonly Values[]).find((item) => item['name'] === field);
    return (value as Values | undefined)?.[field];
  }, object);
}

/** Every scalar of the objects, by where it stands; of a list without names, the whole list. */
function scalarsOf(value: unknown, place: string): readonly (readonly [place: string, text: string])[] {
  const isList = Array.isArray(value);
  if (typeof value !== 'object' || value === null || (isList && !value.every((item) => 'name' in Object(item))))
    return [[place, JSON.stringify(value)]];
  return Object.entries(value)
    .filter(([name]) => name !== 'name')
    .flatMap(([name, inner]) => scalarsOf(inner, `${place} ${isList ? String((inner as Values)['name']) : name}`));
}
const allOf = (manifests: readonly Manifest[] = []): ReadonlyMap<string, string> =>
  new Map(manifests.flatMap((each) => scalarsOf(each, `${each.kind}/${each.metadata.name}`)));

describeOrSkip('a value of the chart changes what it is for:', { skip: WITHOUT_HELM }, () => {
  const groups = [VALUES, SWITCHES, ...APART];
  let [defaults, ...made]: (readonly Manifest[])[] = [];
  before(() => ([defaults, ...made] = [[], ...groups].map(rendered)));

  for (const [index, rows] of groups.entries()) {
    for (const { value, set, places } of rows) {
      it(value, () => {
        for (const [place, ...said] of places) {
          const expected = said.length === 0 ? set : said[0];
          assert.deepEqual(at(made[index], place), expected, place);
          assert.notDeepEqual(at(defaults, place), expected, place);
        }
      });
    }
  }

  it('and nothing else', () => {
    const places = VALUES.flatMap((row) => row.places.map(([place]) => place.split(' '))).map(([object, ...fields]) =>
      [object, ...fields.flatMap((field) => field.split('.'))].join(' '),
    );
    // Other settings are other pods.
    places.push(`${RECONCILER} template metadata annotations checksum/settings`);
    const [before, after] = [allOf(defaults), allOf(made[0])];
    const changed = [...new Set([...before.keys(), ...after.keys()])].filter(
      (place) => before.get(place) !== after.get(place),
    );
    assert.ok(changed.length > VALUES.length);
    assert.deepEqual(
      changed.filter((changed) => !places.some((place) => `${changed} `.startsWith(`${place} `))),
      [],
    );
  });
});

describe('the rows of this file', () => {
  it('are of all values of the chart', () => {
    const leaves = (value: unknown, path: string): readonly string[] =>
      typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0
        ? Object.entries(value).flatMap(([name, inner]) => leaves(inner, path === '' ? name : `${path}.${name}`))
        : [path];
    const rows = [VALUES, SWITCHES, ...APART].flat().map(({ value }) => value);
    const covered = (leaf: string): boolean => rows.some((value) => leaf === value || leaf.startsWith(`${value}.`));
    const all = leaves(parse(readFileSync(`${CHART}/values.yaml`, 'utf8')), '');
    assert.ok(all.length > 60);
    assert.deepEqual(
      all.filter((leaf) => !covered(leaf)),
      [],
    );
  });
});
