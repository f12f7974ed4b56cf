import { dirname } from 'node:path';
import { stringify } from 'yaml';
import { type Distribution, type DistributionName, DISTRIBUTIONS } from '#shared/contract/distributions.ts';
import { NEEDED } from './chart.ts';

const AGENT = 'kubelet-gitops-agent';
const TARGET = { kind: 'DaemonSet', name: AGENT };
const ROOT_DIRECTORY = '/var/lib/kubelet';
const UNIT = 'kubelet.service';
const SERVER_LABELS = ['node-role.kubernetes.io/control-plane', 'node-role.kubernetes.io/etcd'];

/** The components of kustomize for all distributions but kubeadm, which `deploy/agent` is for. */
export function generateDistributionComponents(): ReadonlyMap<string, string> {
  const { kubeadm: _, ...others } = DISTRIBUTIONS;
  return new Map(
    Object.entries(others).flatMap(([name, distribution]: readonly [string, Distribution]) => {
      const folder = `deploy/components/${name}`;
      const { serverUnit } = distribution;
      const needed = name in NEEDED ? { components: [`../${NEEDED[name as DistributionName]}`] } : {};
      if (serverUnit === undefined)
        return [[`${folder}/kustomization.yaml`, ofAllNodes(distribution, needed)] as const];
      return [
        [`${folder}/kustomization.yaml`, ofAgents(distribution)],
        [`${folder}/servers/kustomization.yaml`, ofServers(distribution, serverUnit)],
      ] as const;
    }),
  );
}

const MADE = '# Made from shared/contract/distributions.ts by scripts/generate.ts: change it there.\n';
const component = (text: string, body: object): string => kustomization(text, 'v1alpha1', 'Component', body);
const kustomization = (text: string, version: string, kind: string, body: object): string =>
  `${MADE}${text}${yaml({ apiVersion: `kustomize.config.k8s.io/${version}`, kind, ...body })}`;
const yaml = (value: object): string => stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });

const ofAllNodes = (distribution: Distribution, needed: object): string =>
  component(`# For nodes of ${distribution.title}. docs/distributions.md has more.\n`, {
    ...needed,
    patches: [merge(TARGET, { spec: { template: { spec: podOf(distribution, distribution.unit) } } })],
  });

function ofAgents(distribution: Distribution): string {
  const { serverLabels = SERVER_LABELS } = distribution;
  const terms = [{ matchExpressions: serverLabels.map((key) => ({ key, operator: 'DoesNotExist' })) }];
  const spec = { ...affinity(terms), ...podOf(distribution, distribution.unit) };
  const text = `# For nodes of ${distribution.title}. Servers, whose API server or etcd restarts with the kubelet, have a DaemonSet of their own: each node gets
# a pod of exactly one of them. docs/distributions.md has more.
#
# Lay it over before every other component: those change both DaemonSets, if both are there. The first patch fails where another came
# first, and so would be missing from the servers. The second is for the agents alone: by their label, because kustomize knows a
# resource by its first name as well.
`;
  const agents = { ...TARGET, labelSelector: '!kubelet-gitops.dev/nodes' };
  return component(text, {
    resources: ['servers'],
    patches: [{ target: TARGET, patch: yaml(NOTHING_BEFORE) }, merge(agents, { spec: { template: { spec } } })],
  });
}

/** What the components that change an agent's DaemonSet would have changed. */
const NOTHING_BEFORE = [
  { op: 'test', path: '/spec/minReadySeconds', value: 30 },
  {
    op: 'test',
    path: '/spec/template/spec/containers/0/securityContext',
    value: {
      runAsUser: 0,
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
      seccompProfile: { type: 'RuntimeDefault' },
      appArmorProfile: { type: 'Unconfined' },
    },
  },
];

function ofServers(distribution: Distribution, unit: string): string {
  const labels = { 'kubelet-gitops.dev/nodes': 'servers' };
  const { serverLabels = SERVER_LABELS } = distribution;
  const terms = serverLabels.map((key) => ({ matchExpressions: [{ key, operator: 'Exists' }] }));
  const spec = {
    selector: { matchLabels: labels },
    // The API server and etcd restart with the kubelet.
    updateStrategy: { rollingUpdate: { maxUnavailable: 1 } },
    template: { metadata: { labels }, spec: { ...affinity(terms), ...podOf(distribution, unit) } },
  };
  const text = `# The same agent for the servers, one at a time: ${AGENT}-servers. The API server and etcd restart with the kubelet there.\n`;
  return kustomization(text, 'v1beta1', 'Kustomization', {
    resources: ['../../../agent'],
    nameSuffix: '-servers',
    patches: [merge(TARGET, { metadata: { labels }, spec })],
  });
}

/** A patch that is merged into the DaemonSet. */
const merge = (
  target: object,
  { metadata = {}, spec }: { readonly metadata?: object; readonly spec: object },
): object => ({
  target,
  patch: yaml({ apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: { name: AGENT, ...metadata }, spec }),
});

const affinity = (nodeSelectorTerms: readonly object[]): object => ({
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
});

/** What the agent's pod has in place of kubeadm's paths and unit. */
function podOf(distribution: Distribution, unit: string): object {
  const { configFile, configDirectory, rootDirectory, servingCertificate, logFile } = distribution;
  const settings = {
    KUBELET_CONFIG_DIR: configDirectory,
    KUBELET_ROOT_DIR: rootDirectory,
    KUBELET_SERVICE: unit === UNIT ? undefined : unit,
    KUBELET_SERVING_CERTS: servingCertificate,
    KUBELET_LOG_FILE: logFile,
  };
  const env = [
    configFile === undefined
      ? { name: 'KUBELET_CONFIG_FILE', $patch: 'delete' }
      : { name: 'KUBELET_CONFIG_FILE', value: configFile },
    ...Object.entries(settings).flatMap(([name, value]) => (value === undefined ? [] : [{ name, value }])),
  ];
  const mounts = [...rootMount(rootDirectory), ...fileMounts(distribution), ...guardMount(unit)];
  const volumes = mounts.flatMap(({ name, mountPath }) =>
    name === undefined ? [] : [{ name, hostPath: { path: mountPath, type: 'DirectoryOrCreate' } }],
  );
  return {
    containers: [{ name: 'agent', env, ...(mounts.length === 0 ? {} : { volumeMounts: mounts }) }],
    ...(volumes.length === 0 ? {} : { volumes }),
  };
}

interface Mount {
  readonly name?: string;
  readonly mountPath: string;
  readonly readOnly?: true;
  readonly mountPropagation?: string;
  readonly $patch?: 'delete';
}

const inPlaceOf = (mountPath: string, mount: Mount): readonly Mount[] => [mount, { $patch: 'delete', mountPath }];

const rootMount = (path: string | undefined): readonly Mount[] =>
  path === undefined
    ? []
    : inPlaceOf(ROOT_DIRECTORY, { name: 'kubelet', mountPath: path, mountPropagation: 'HostToContainer' });

const guardMount = (unit: string): readonly Mount[] =>
  unit === UNIT
    ? []
    : inPlaceOf(`/etc/systemd/system/${UNIT}.d`, { name: 'guard', mountPath: `/etc/systemd/system/${unit}.d` });

/** A directory below one that is mounted already needs no mount of its own. */
function fileMounts({ configFile, configDirectory, rootDirectory = ROOT_DIRECTORY }: Distribution): readonly Mount[] {
  const config = configFile === undefined ? undefined : dirname(configFile);
  const isBelow = (path: string, directory: string): boolean => `${path}/`.startsWith(`${directory}/`);
  const mountsConfig = config !== undefined && !isBelow(config, rootDirectory);
  // k0s rewrites the file in /run at each start, so the agent only reads it. Its drop-in stays.
  const readOnly =
    config?.startsWith('/run/') === true && configDirectory !== undefined ? { readOnly: true as const } : {};
  const covered = [rootDirectory, ...(mountsConfig ? [config] : [])];
  const mountsDropIns = configDirectory !== undefined && !covered.some((place) => isBelow(configDirectory, place));
  return [
    ...(mountsConfig ? [{ name: 'kubelet-config', mountPath: config, ...readOnly }] : []),
    ...(mountsDropIns ? [{ name: 'kubelet-config-dir', mountPath: configDirectory }] : []),
  ];
}
