import type { Overlay } from './render.ts';

export const REQUIRED_VALUES = {
  cluster: 'demo',
  git: { url: 'https://git.example.com/platform/kubelet-config.git' },
} as const;
export const REQUIRED_SETTINGS = [
  'CLUSTER=demo',
  'GIT_URL=https://git.example.com/platform/kubelet-config.git',
] as const;

/** A value of the chart, and what somebody writes for it who uses kustomize. */
export interface Option {
  readonly name: string;
  readonly values: Readonly<Record<string, unknown>>;
  readonly settings?: readonly string[];
  readonly overlay?: Overlay;
}

type Pod = Readonly<Record<string, unknown>>;
const patch = (kind: 'Deployment' | 'DaemonSet', name: string, spec: object): Overlay => ({
  patches: [
    {
      patch: JSON.stringify({
        apiVersion: 'apps/v1',
        kind,
        metadata: { name, namespace: 'kubelet-gitops' },
        spec,
      }),
    },
  ],
});
const reconciler = (container: object, pod: Pod = {}, more: object = {}): Overlay =>
  patch('Deployment', 'kubelet-gitops-reconciler', {
    ...more,
    template: { spec: { ...pod, containers: [{ name: 'reconciler', ...container }] } },
  });
const agent = (container: object, pod: Pod = {}): Overlay =>
  patch('DaemonSet', 'kubelet-gitops-agent', {
    template: { spec: { ...pod, containers: [{ name: 'agent', ...container }] } },
  });
const directory = (name: string, path: string) => ({ name, hostPath: { path, type: 'DirectoryOrCreate' } });

const patchesOf = ({ patches }: Overlay): readonly object[] => patches as readonly object[];

const DIGEST = `sha256:${'0a'.repeat(32)}`;
const TOLERATIONS = [{ key: 'dedicated', operator: 'Equal', value: 'platform', effect: 'NoSchedule' }];
const RESOURCES = { requests: { cpu: '100m', memory: '256Mi' }, limits: { memory: '512Mi' } };
const EXTRA = {
  env: [{ name: 'NODE_EXTRA_CA_CERTS', value: '/etc/extra/ca.pem' }],
  volumeMounts: [{ name: 'extra', mountPath: '/etc/extra', readOnly: true }],
  volumes: [{ name: 'extra', configMap: { name: 'extra' } }],
};

const RECONCILER: readonly Option[] = [
  {
    name: 'another branch, a folder, another rhythm and level, rewrites followed, notes off, and settings that have no value of their own',
    values: {
      git: { ...REQUIRED_VALUES.git, branch: 'production', path: 'infra/kubelet' },
      poll: '5m',
      onRewrite: 'follow',
      notes: { enabled: false },
      logLevel: 'debug',
      settings: { KEEP_UNUSED: '2h', HEALTH_PORT: 8080 },
    },
    settings: [
      'GIT_BRANCH=production',
      'GIT_PATH=infra/kubelet',
      'POLL_INTERVAL=5m',
      'ON_REWRITE=follow',
      'NOTES=off',
      'LOG_LEVEL=debug',
      'KEEP_UNUSED=2h',
      'HEALTH_PORT=8080',
    ],
  },
  {
    name: 'credentials in another Secret',
    values: { git: { ...REQUIRED_VALUES.git, credentialsSecret: 'config-deploy-key' } },
    overlay: reconciler({}, { volumes: [{ name: 'git-credentials', secret: { secretName: 'config-deploy-key' } }] }),
  },
  {
    name: 'a credential of its own for notes, and a private authority of the git server',
    values: {
      git: { ...REQUIRED_VALUES.git, caConfigMap: 'git-ca' },
      notes: { credentialsSecret: 'kubelet-gitops-notes' },
    },
    overlay: reconciler(
      {
        env: [
          { name: 'GIT_CA_FILE', value: '/etc/kubelet-gitops/git-ca/ca.crt' },
          { name: 'NOTES_CREDENTIALS_DIR', value: '/var/run/secrets/kubelet-gitops/notes' },
        ],
        volumeMounts: [
          { name: 'git-ca', mountPath: '/etc/kubelet-gitops/git-ca', readOnly: true },
          { name: 'notes-credentials', mountPath: '/var/run/secrets/kubelet-gitops/notes', readOnly: true },
        ],
      },
      {
        volumes: [
          { name: 'git-ca', configMap: { name: 'git-ca' } },
          { name: 'notes-credentials', secret: { secretName: 'kubelet-gitops-notes', defaultMode: 0o440 } },
        ],
      },
    ),
  },
  {
    name: 'another image',
    values: { image: { repository: 'registry.example.com/platform/kubelet-gitops', tag: '0.2.0-ssh' } },
    overlay: {
      images: [
        { name: 'kubelet-gitops', newName: 'registry.example.com/platform/kubelet-gitops', newTag: '0.2.0-ssh' },
      ],
    },
  },
  {
    name: 'an image by its digest',
    values: { image: { repository: 'registry.example.com/platform/kubelet-gitops', digest: DIGEST } },
    overlay: {
      images: [{ name: 'kubelet-gitops', newName: 'registry.example.com/platform/kubelet-gitops', digest: DIGEST }],
    },
  },
  {
    name: 'another priority',
    values: { reconciler: { priorityClassName: 'platform' }, agent: { priorityClassName: 'platform-node' } },
    overlay: {
      patches: [
        ...patchesOf(reconciler({}, { priorityClassName: 'platform' })),
        ...patchesOf(agent({}, { priorityClassName: 'platform-node' })),
      ],
    },
  },
  {
    name: 'more reconcilers, on other nodes, with more memory and things of yours',
    values: {
      reconciler: {
        replicas: 2,
        resources: RESOURCES,
        nodeSelector: { role: 'platform' },
        tolerations: TOLERATIONS,
        ...EXTRA,
      },
    },
    overlay: reconciler(
      { resources: RESOURCES, env: EXTRA.env, volumeMounts: EXTRA.volumeMounts },
      { nodeSelector: { role: 'platform' }, tolerations: TOLERATIONS, volumes: EXTRA.volumes },
      { replicas: 2 },
    ),
  },
  {
    name: 'a pull policy and a Secret for the registry',
    values: { image: { pullPolicy: 'Always' }, imagePullSecrets: [{ name: 'registry' }] },
    overlay: {
      patches: [
        ...patchesOf(reconciler({ imagePullPolicy: 'Always' }, { imagePullSecrets: [{ name: 'registry' }] })),
        ...patchesOf(agent({ imagePullPolicy: 'Always' }, { imagePullSecrets: [{ name: 'registry' }] })),
      ],
    },
  },
];

const unitPlace = (unit: string) => ({
  volumeMounts: [
    { name: 'guard', mountPath: `/etc/systemd/system/${unit}.d` },
    { $patch: 'delete', mountPath: '/etc/systemd/system/kubelet.service.d' },
  ],
  volumes: [{ name: 'guard', hostPath: { path: `/etc/systemd/system/${unit}.d`, type: 'DirectoryOrCreate' } }],
});

const K3S = unitPlace('k3s-agent.service');
const DROP_INS = '/var/lib/rancher/k3s/agent/etc/kubelet.conf.d';
const CERTIFICATE = '/var/lib/rancher/k3s/agent/serving-kubelet.crt';

const AGENT: readonly Option[] = [
  {
    name: 'fewer nodes, other tolerations, other resources, another port and things of yours for the agent',
    values: {
      agent: {
        nodeSelector: { 'kubelet-gitops.dev/manage': 'true' },
        tolerations: TOLERATIONS,
        resources: RESOURCES,
        metricsPort: 0,
        ...EXTRA,
      },
    },
    overlay: agent(
      {
        resources: RESOURCES,
        env: [...EXTRA.env, { name: 'METRICS_PORT', value: '0' }],
        volumeMounts: EXTRA.volumeMounts,
      },
      { nodeSelector: { 'kubelet-gitops.dev/manage': 'true' }, tolerations: TOLERATIONS, volumes: EXTRA.volumes },
    ),
  },
  {
    name: 'no agents yet',
    values: { agent: { enabled: false } },
    overlay: {
      patches: [
        {
          patch:
            '$patch: delete\napiVersion: apps/v1\nkind: DaemonSet\nmetadata: { name: kubelet-gitops-agent, namespace: kubelet-gitops }',
        },
      ],
    },
  },
  {
    name: 'the config file elsewhere, and drop-ins beside it',
    values: {
      agent: {
        configFile: '/etc/kubernetes/kubelet/config.json',
        configDirectory: '/etc/kubernetes/kubelet/config.json.d',
      },
    },
    overlay: agent(
      {
        env: [
          { name: 'KUBELET_CONFIG_FILE', value: '/etc/kubernetes/kubelet/config.json' },
          { name: 'KUBELET_CONFIG_DIR', value: '/etc/kubernetes/kubelet/config.json.d' },
        ],
        volumeMounts: [{ name: 'kubelet-config', mountPath: '/etc/kubernetes/kubelet' }],
      },
      { volumes: [directory('kubelet-config', '/etc/kubernetes/kubelet')] },
    ),
  },
  {
    name: 'the unit, the drop-ins and the certificate of k3s',
    values: { agent: { service: 'k3s-agent.service', configDirectory: DROP_INS, servingCertificate: CERTIFICATE } },
    overlay: agent(
      {
        env: [
          { name: 'KUBELET_SERVICE', value: 'k3s-agent.service' },
          { name: 'KUBELET_CONFIG_DIR', value: DROP_INS },
          { name: 'KUBELET_SERVING_CERTS', value: CERTIFICATE },
        ],
        volumeMounts: [...K3S.volumeMounts, { name: 'kubelet-config-dir', mountPath: DROP_INS }],
      },
      { volumes: [...K3S.volumes, directory('kubelet-config-dir', DROP_INS)] },
    ),
  },
];

export const OPTIONS: readonly Option[] = [...RECONCILER, ...AGENT];
