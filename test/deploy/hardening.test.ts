import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { SETTINGS } from '#cli/doctor/installation.generated.ts';
import { readDocuments } from './admission-policy.ts';
import { withComponent } from './component.ts';
import { brokenControls, type Pod } from './pod-security.ts';
import { column } from '../support/columns.ts';

interface Workload {
  readonly kind: string;
  readonly spec: { readonly template: { readonly metadata: { readonly labels: Labels }; readonly spec: Pod } };
}
type Labels = Readonly<Record<string, string>>;

const workload = (file: string): Workload => parse(readFileSync(file, 'utf8')) as Workload;
const reconciler = workload('deploy/reconciler/deployment.yaml');
const agent = workload('deploy/agent/daemonset.yaml');
const components = globSync('deploy/components/*').map((path) => path.split('/').at(-1) ?? '');

describe('the pods, by the Pod Security Standards', () => {
  it('the reconciler’s would be admitted by "restricted", with every component too', () => {
    assert.deepEqual(brokenControls(reconciler.spec.template.spec), []);
    const forIt = components.filter((name) => {
      const { patches = [] } = parse(readFileSync(`deploy/components/${name}/kustomization.yaml`, 'utf8')) as {
        readonly patches?: readonly { readonly target: { readonly kind: string } }[];
      };
      return patches.some(({ target }) => target.kind === 'Deployment');
    });
    assert.ok(forIt.length >= 3);
    for (const name of forIt) {
      assert.deepEqual(brokenControls(withComponent(reconciler, name).spec.template.spec), [], name);
    }
  });

  it('the agent’s breaks what its work is about, and no control more', () => {
    assert.deepEqual(brokenControls(agent.spec.template.spec), [
      'Host Namespaces',
      'HostPath Volumes',
      'AppArmor',
      'Running as Non-root',
      'Running as Non-root user',
    ]);
  });

  it('are in a namespace that says which profile they need', () => {
    const { metadata } = parse(readFileSync('deploy/namespace/namespace.yaml', 'utf8')) as {
      readonly metadata: { readonly labels: Labels };
    };
    for (const mode of ['enforce', 'warn', 'audit']) {
      assert.equal(metadata.labels[`pod-security.kubernetes.io/${mode}`], 'privileged', mode);
    }
  });
});

describe('the pods, when a node is short of something', () => {
  it('are let in after a boot, whatever a config left for pods: the agent asks for nothing, and says so', () => {
    const nothing = { cpu: '0', memory: '0' };
    const { containers, initContainers = [] } = agent.spec.template.spec as unknown as {
      readonly containers: readonly {
        readonly resources?: { readonly requests?: unknown; readonly limits?: object };
      }[];
      readonly initContainers?: readonly unknown[];
    };
    assert.deepEqual(initContainers, []);
    for (const { resources } of containers) {
      assert.deepEqual(resources?.requests, nothing);
      // Of what is limited and not asked for, the limit is the request.
      for (const resource of Object.keys(resources?.limits ?? {})) assert.ok(resource in nothing, resource);
    }
    const values = parse(readFileSync('deploy/helm/kubelet-gitops/values.yaml', 'utf8')) as {
      readonly agent: { readonly resources: { readonly requests: unknown }; readonly priorityClassName: string };
    };
    assert.deepEqual(values.agent.resources.requests, nothing);
    assert.equal(values.agent.priorityClassName, 'system-node-critical');
  });

  it('are among the last to go: those who can take back what made it short', () => {
    assert.equal(agent.spec.template.spec.priorityClassName, 'system-node-critical');
    assert.equal(reconciler.spec.template.spec.priorityClassName, 'system-cluster-critical');
  });

  it('are let in where critical pods need a quota, by the component for it', () => {
    const [quota] = readDocuments(
      'deploy/components/critical-pods-quota/quota.yaml',
    ) as readonly unknown[] as readonly {
      readonly spec: { readonly scopeSelector: { readonly matchExpressions: readonly { readonly values: unknown }[] } };
    }[];
    assert.deepEqual(column(quota?.spec.scopeSelector.matchExpressions, 'values'), [
      [agent, reconciler].map(({ spec }) => spec.template.spec.priorityClassName),
    ]);
  });
});

describe('tokens', () => {
  it('go into our own pods only, because the accounts give none to others', () => {
    const accounts = globSync('deploy/rbac/*.yaml')
      .flatMap(readDocuments)
      .filter(({ kind }) => kind === 'ServiceAccount') as readonly unknown[] as readonly Pod[];
    assert.equal(accounts.length, 2);
    for (const { automountServiceAccountToken } of accounts) assert.equal(automountServiceAccountToken, false);
    for (const { spec } of [reconciler, agent]) {
      assert.equal(spec.template.spec.automountServiceAccountToken, true);
      assert.equal(spec.template.spec.enableServiceLinks, false);
    }
  });
});

interface Peer {
  readonly namespaceSelector?: object;
  readonly ipBlock?: { readonly cidr: string };
}
interface Rule {
  readonly from?: readonly Peer[];
  readonly to?: readonly Peer[];
  readonly ports: readonly { readonly protocol: string; readonly port: number }[];
}
interface NetworkPolicy {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly spec: {
    readonly podSelector: { readonly matchLabels?: Labels };
    readonly policyTypes: readonly string[];
    readonly ingress?: readonly Rule[];
    readonly egress?: readonly Rule[];
  };
}

describe('the component network-policy', () => {
  const policies = readDocuments('deploy/components/network-policy/policies.yaml') as readonly NetworkPolicy[];
  const [closed, open] = policies;
  assert.ok(closed !== undefined && open !== undefined && policies.length === 2);

  it('closes the namespace both ways for every pod', () => {
    assert.deepEqual(closed.spec, { podSelector: {}, policyTypes: ['Ingress', 'Egress'] });
    for (const { metadata } of policies) assert.equal(metadata.namespace, 'kubelet-gitops');
  });

  it('selects the reconciler, and nothing that it would not hold for', () => {
    assert.deepEqual(open.spec.podSelector.matchLabels, reconciler.spec.template.metadata.labels);
    assert.equal(reconciler.spec.template.spec.hostNetwork, undefined);
    // Whoever is in the host's network is not reached by any policy; none pretends to.
    assert.equal(agent.spec.template.spec.hostNetwork, true);
  });

  it('opens the ports that are listened on, and metrics to one namespace only', () => {
    const [metrics, webhook] = open.spec.ingress ?? [];
    const container = withComponent(reconciler, 'webhook').spec.template.spec.containers[0] as unknown as {
      readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
    };
    const port = (name: string): number | undefined =>
      container.ports.find((each) => each.name === name)?.containerPort;
    assert.deepEqual([metrics?.ports[0]?.port, webhook?.ports[0]?.port], [port('metrics'), port('webhook')]);
    assert.equal(metrics?.from?.length, 1);
  });

  it('lets out to names, the API server, git, the forge and Prometheus, and to nothing else', () => {
    const out = (open.spec.egress ?? []).flatMap(({ to, ports }) =>
      ports.map(({ protocol, port }) => `${protocol} ${port}${to === undefined ? '' : ' within the cluster'}`),
    );
    assert.deepEqual(out, [
      'UDP 53 within the cluster',
      'TCP 53 within the cluster',
      'TCP 443',
      'TCP 6443',
      'TCP 22',
      'TCP 9090 within the cluster',
    ]);
    const addresses = (open.spec.egress ?? []).flatMap(({ to = [] }) =>
      to.flatMap(({ ipBlock }) => ipBlock?.cidr ?? []),
    );
    assert.deepEqual(addresses, ['169.254.20.10/32'], 'NodeLocal DNSCache, which is no pod');
  });
});

describe('the reconciler’s environment', () => {
  const [container] = reconciler.spec.template.spec.containers as unknown as readonly [
    {
      readonly env: readonly {
        readonly name: string;
        readonly valueFrom?: { readonly configMapKeyRef?: { readonly key: string } };
      }[];
    },
  ];
  const fromConfigMap = container.env.filter(({ valueFrom }) => valueFrom?.configMapKeyRef !== undefined);

  it('takes settings from a ConfigMap by their names alone, and none that Node reads, that is a file, or that lets commits in', () => {
    assert.ok(!('envFrom' in container));
    for (const { name, valueFrom } of fromConfigMap) {
      assert.equal(valueFrom?.configMapKeyRef?.key, name);
      assert.ok(SETTINGS.has(name), name);
      assert.doesNotMatch(name, /^NODE_|_(?:FILE|DIR)$|SIGN|TRUSTED|TOKEN|PROXY|KUBECONFIG|NAMESPACE|POD_NAME/);
    }
  });

  it('takes all settings that the ConfigMap comes with', () => {
    const given = [...readFileSync('deploy/reconciler/settings.env', 'utf8').matchAll(/^(\w+)=/gm)].map(
      ([, name]) => name,
    );
    assert.ok(given.length > 5);
    assert.deepEqual(
      given.filter((name) => !fromConfigMap.some((taken) => taken.name === name)),
      [],
    );
  });

  it('is the same in the chart, whose values name no other setting', () => {
    const template = readFileSync('deploy/helm/kubelet-gitops/templates/deployment.yaml', 'utf8');
    const taken = [...template.matchAll(/configMapKeyRef: \{ name: kubelet-gitops-settings, key: (\w+),/g)];
    assert.deepEqual(
      taken.map(([, name]) => name),
      fromConfigMap.map(({ name }) => name),
    );
    const schema = JSON.parse(readFileSync('deploy/helm/kubelet-gitops/values.schema.json', 'utf8')) as {
      readonly properties: { readonly settings: { readonly propertyNames: { readonly enum: readonly string[] } } };
    };
    for (const name of schema.properties.settings.propertyNames.enum) {
      assert.ok(
        fromConfigMap.some((one) => one.name === name),
        name,
      );
    }
  });
});
