import type { NodeReading } from '#cli/import/nodes/importable-nodes.ts';
import { OPT_OUT_LABEL } from '#shared/contract/api/group.ts';
import { fc } from '../../../support/property.ts';

const HOSTNAME = 'kubernetes.io/hostname';

/** Labels as fleets have them, a few that no selector may name, and few enough values for nodes to share them. */
const labels = fc
  .record(
    {
      'node-role.kubernetes.io/control-plane': fc.constantFrom('', 'true'),
      'node-role.kubernetes.io/master': fc.constant(''),
      'node-role.kubernetes.io/worker': fc.constantFrom('', 'true'),
      'eks.amazonaws.com/nodegroup': fc.constantFrom('blue', 'green', '1.30', 'true'),
      agentpool: fc.constantFrom('nodepool1', 'on'),
      'karpenter.sh/nodepool': fc.constant('default'),
      'nvidia.com/gpu.present': fc.constantFrom('true', 'false'),
      'node.kubernetes.io/instance-type': fc.constantFrom('m5.large', 'c5.xlarge'),
      'kubernetes.io/os': fc.constantFrom('linux', 'windows'),
      'topology.kubernetes.io/zone': fc.constantFrom('a', 'b'),
      'example.org/team': fc.constantFrom('../../etc', 'payments', 'a b', 'x'.repeat(80), '# no\nkey: 1'),
      constructor: fc.constantFrom('yes', ''),
      'not a key': fc.constant('v'),
    },
    { requiredKeys: [], noNullPrototype: true },
  )
  .map((all): Readonly<Record<string, string>> => all);

/** Fields that kubelets 1.30 to 1.35 take, as they show them. */
const running = fc
  .record(
    {
      maxPods: fc.constantFrom(110, 110, 250, 58, 17),
      podPidsLimit: fc.constantFrom(-1, 4096),
      kubeReserved: fc.constantFrom({ cpu: '100m' }, { cpu: '100m', memory: '1Gi' }, { memory: '2Gi' }),
      evictionHard: fc.constantFrom(
        { 'memory.available': '200Mi' },
        { 'memory.available': '500Mi', 'nodefs.available': '10%' },
      ),
      containerLogMaxSize: fc.constantFrom('10Mi', '50Mi'),
      imageGCHighThresholdPercent: fc.constantFrom(85, 90),
      serializeImagePulls: fc.boolean(),
      featureGates: fc.constantFrom({}, { RotateKubeletServerCertificate: true }),
      allowedUnsafeSysctls: fc.constantFrom([], ['net.core.somaxconn']),
      cgroupDriver: fc.constantFrom('systemd', 'cgroupfs'),
      clusterDNS: fc.constantFrom(['10.96.0.10'], ['169.254.20.10']),
      staticPodPath: fc.constant('/etc/kubernetes/manifests'),
      someday: fc.constant('later'),
    },
    { requiredKeys: [], noNullPrototype: true },
  )
  // The second has a default that follows the first, which kubelets always show.
  .chain((config) =>
    fc
      .constantFrom({}, { nodeStatusUpdateFrequency: '20s', nodeStatusReportFrequency: '5m0s' })
      .map((more): Readonly<Record<string, unknown>> => ({ ...config, ...more })),
  );

const hostname = fc.constantFrom('own', 'own', 'own', 'own', 'own', 'own', 'own', 'none', 'shared', 'bad name');

const node = fc.record({
  labels,
  hostname,
  isOptedOut: fc.integer({ min: 0, max: 19 }).map((chance) => chance === 0),
  isSilent: fc.integer({ min: 0, max: 9 }).map((chance) => chance === 0),
  kubeletVersion: fc.constantFrom('v1.30.4', 'v1.34.2', 'v1.34.2', 'v1.35.0'),
  /** Of the configs of the fleet: most nodes share a few. */
  config: fc.nat(),
  own: fc.option(running, { freq: 8 }),
});

/** Fleets of 1 to 40 nodes with few configs, some hand-tuned nodes, and nodes that nobody can ask. */
export const messyFleets: fc.Arbitrary<readonly NodeReading[]> = fc
  .tuple(fc.array(running, { minLength: 1, maxLength: 4 }), fc.array(node, { minLength: 1, maxLength: 40 }))
  .map(([configs, nodes]) =>
    nodes.map((each, index): NodeReading => {
      const name = `n-${index}`;
      const named = { own: name, none: undefined, shared: 'twin', 'bad name': 'bad name' }[each.hostname];
      return {
        name,
        labels: {
          ...each.labels,
          ...(named === undefined ? {} : { [HOSTNAME]: named }),
          ...(each.isOptedOut ? { [OPT_OUT_LABEL]: 'true' } : {}),
        },
        kubeletVersion: each.kubeletVersion,
        osImage: '',
        running: each.isSilent ? undefined : (each.own ?? configs[each.config % configs.length]),
      };
    }),
  );
