import type { AuditCheck, AuditReport, RoomClass } from '#cli/audit/audit-report.ts';

const GIB = 2 ** 30;
const MIB = 2 ** 20;

const names = (prefix: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}-${String(index + 1).padStart(2, '0')}`);

const general = names('general', 40);
const gpu = names('gpu', 12);
const edge = names('edge', 5);

export const check = (more: Partial<AuditCheck> & Pick<AuditCheck, 'id'>): AuditCheck => ({
  title: `Title of ${more.id}`,
  severity: 'medium',
  result: 'pass',
  groups: [],
  references: [],
  ...more,
});

const SAFETY: readonly AuditCheck[] = [
  check({
    id: 'safety/readOnlyPort',
    title: 'The read-only port is open',
    severity: 'high',
    result: 'fail',
    because: 'whoever reaches the node reads its pods, their specs and their metrics without any credential',
    groups: [
      {
        result: 'fail',
        count: 12,
        nodes: gpu,
        evidence: [{ field: 'readOnlyPort', value: '10255', by: 'flag', place: '--read-only-port' }],
      },
      {
        result: 'fail',
        count: 2,
        nodes: edge.slice(0, 2),
        evidence: [
          { field: 'readOnlyPort', value: '10255', by: 'config', place: '/etc/kubernetes/kubelet/kubelet-config.json' },
        ],
      },
      { result: 'pass', count: 43, nodes: general.slice(0, 6), evidence: [] },
    ],
    fix: { yaml: 'readOnlyPort: 0\n', how: 'take the flag --read-only-port out of the unit first, because flags win' },
    references: ['CIS 4.2.4', 'NSA/CISA kubelet authentication'],
  }),
  check({
    id: 'safety/protectKernelDefaults',
    title: 'The kubelet changes kernel parameters',
    severity: 'medium',
    result: 'fail',
    because: 'what the host hardened is undone at each start',
    groups: [
      {
        result: 'fail',
        count: 57,
        nodes: [...edge, ...general, ...gpu],
        evidence: [{ field: 'protectKernelDefaults', value: 'unset', by: 'default' }],
      },
    ],
    fix: { yaml: 'protectKernelDefaults: true\n' },
    references: ['CIS 4.2.6'],
  }),
  check({
    id: 'safety/tlsCertFile',
    title: 'The serving certificate ends soon',
    severity: 'low',
    result: 'info',
    groups: [
      {
        result: 'info',
        count: 1,
        nodes: ['edge-03'],
        evidence: [{ field: 'certificate', value: 'ends 2026-12-24', by: 'kubelet' }],
      },
    ],
  }),
  check({
    id: 'safety/kubeconfig-mode',
    title: 'Others may read the kubelet’s kubeconfig',
    result: 'not-visible',
    because: 'files of the host are seen by agents alone',
  }),
  check({ id: 'safety/anonymous', title: 'Anonymous requests are answered', severity: 'high' }),
  check({ id: 'safety/authorization', title: 'Every request is authorized', severity: 'high' }),
];

const room = (more: Partial<RoomClass> & Pick<RoomClass, 'name'>): RoomClass => ({
  count: 40,
  nodes: general.slice(0, 6),
  resources: [
    {
      resource: 'cpu',
      capacity: 4,
      kubeReserved: 0.08,
      systemReserved: 0,
      eviction: 0,
      allocatable: 3.92,
      used: { median: 0.11, most: 0.31, kind: 'p99', nodes: 40, days: 7, at: '2026-11-28T09:00:00Z' },
      profiles: [
        { name: 'gke', amount: 0.08 },
        { name: 'aks', amount: 0.14 },
      ],
    },
    {
      resource: 'memory',
      capacity: 15.6 * GIB,
      kubeReserved: 512 * MIB,
      systemReserved: 256 * MIB,
      eviction: 100 * MIB,
      allocatable: 14.8 * GIB,
      used: { median: 1.1 * GIB, most: 1.9 * GIB, kind: 'moment', nodes: 38, at: '2026-11-29T12:00:00Z' },
      parts: [
        { name: 'kubelet', most: 180 * MIB },
        { name: 'runtime', most: 640 * MIB },
      ],
      profiles: [
        { name: 'gke', amount: 2.6 * GIB },
        { name: 'eks', amount: 1.4 * GIB },
        { name: 'openshift', amount: 2.6 * GIB },
      ],
    },
  ],
  ...more,
});

/** What an audit of 60 nodes of three kinds finds, with each part of a report in it. */
export const EXAMPLE: AuditReport = {
  kind: 'AuditReport',
  version: 1,
  at: '2026-11-29T12:03:10Z',
  source: {
    from: 'cluster',
    of: 'https://prod.example.com:6443',
    notes: [
      'The right nodes/proxy, by which this was asked, also lets its holder run commands in every pod of a node.',
    ],
  },
  nodes: { seen: 57, of: 60 },
  unseen: [
    {
      reason: 'forbidden',
      because: 'the API server refused to ask the kubelets',
      right: 'get nodes/proxy',
      nodes: ['vault-1', 'vault-2'],
    },
    { reason: 'not-ready', because: 'the Node is not Ready', nodes: ['general-41'] },
  ],
  sections: [
    {
      id: 'sameness',
      title: 'Sameness',
      summary: '4 configs in 3 groups; 3 nodes run something else than their like',
      result: 'fail',
      checks: [
        check({
          id: 'sameness/group',
          title: 'Nodes of a group run different configs',
          severity: 'low',
          result: 'fail',
          groups: [{ result: 'fail', count: 3, nodes: ['general-07', 'general-19', 'general-22'], evidence: [] }],
        }),
      ],
      groups: [
        {
          name: 'general',
          labels: 'node.kubernetes.io/pool in (general)',
          count: 40,
          versions: [
            { version: '1.33', count: 8 },
            { version: '1.34', count: 32 },
          ],
          configs: [
            { count: 37, nodes: general.slice(0, 6), differences: [] },
            {
              count: 3,
              nodes: ['general-07', 'general-19', 'general-22'],
              differences: [
                { field: 'maxPods', value: '250', others: '110' },
                { field: 'evictionHard', value: '{memory.available: 500Mi}', others: 'unset' },
              ],
            },
          ],
        },
        {
          name: 'gpu',
          labels: 'accelerator in (a100)',
          count: 12,
          versions: [{ version: '1.34', count: 12 }],
          configs: [{ count: 12, nodes: gpu.slice(0, 6), differences: [] }],
        },
        {
          name: 'rest',
          labels: '',
          count: 5,
          versions: [{ version: '1.32', count: 5 }],
          configs: [{ count: 5, nodes: edge, differences: [] }],
        },
      ],
    },
    { id: 'safety', title: 'Safety', summary: '2 of 5 checks fail, 1 cannot be seen', result: 'fail', checks: SAFETY },
    {
      id: 'upgrades',
      title: 'Upgrades',
      summary: 'nothing that the next three minors refuse',
      result: 'pass',
      checks: [check({ id: 'upgrades/1.37', title: 'What 1.37 refuses' })],
    },
    {
      id: 'room',
      title: 'Room',
      summary: 'memory is under-reserved by up to 1.1Gi on 40 nodes',
      result: 'fail',
      checks: [
        check({
          id: 'room/memory-under-reserved',
          title: 'Less memory is reserved than the system uses',
          severity: 'high',
          result: 'fail',
          because: 'pods that use what they were promised push the kubelet or the runtime out of memory',
          groups: [
            {
              result: 'fail',
              count: 40,
              nodes: general,
              evidence: [
                { field: 'memory.used', value: '1.9Gi', by: 'kubelet' },
                {
                  field: 'kubeReserved.memory',
                  value: '512Mi',
                  by: 'repository',
                  place: 'pools/general/kubelet.yaml:12',
                },
              ],
            },
          ],
          fix: { yaml: 'kubeReserved:\n  memory: 1.4Gi\nsystemReserved:\n  memory: 600Mi\n' },
        }),
      ],
      classes: [
        room({ name: '4 cores, 15.6Gi' }),
        room({
          name: '96 cores, 1.1Ti',
          count: 12,
          nodes: gpu.slice(0, 6),
          profile: 'gke',
          resources: [
            {
              resource: 'memory',
              capacity: 1100 * GIB,
              kubeReserved: 28 * GIB,
              systemReserved: 0,
              eviction: 100 * MIB,
              profiles: [{ name: 'gke', amount: 28 * GIB }],
            },
          ],
        }),
      ],
    },
    { id: 'drift', title: 'Drift', summary: 'every node runs what the repository says', result: 'pass', checks: [] },
  ],
  since: {
    at: '2026-11-22T12:00:00Z',
    fresh: [
      {
        id: 'safety/readOnlyPort',
        title: 'The read-only port is open',
        severity: 'high',
        nodes: ['edge-01', 'edge-02'],
      },
    ],
    gone: [],
  },
};
