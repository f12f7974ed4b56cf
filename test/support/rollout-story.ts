import { fc } from './property.ts';
import type { DisruptionSpec, RolloutSpec } from '#shared/contract/api/kubelet-pool.ts';
import { RELEASE_ANNOTATION, SUSPEND_ANNOTATION } from '#shared/contract/api/group.ts';
import { releaseValue } from '#reconciler/policy/rollout/halt.ts';
import { commit, COMMIT_A, nodeView, poolSpec, validPool } from './fleet.ts';
import { FleetSimulation } from './fleet-simulation.ts';

/** Payloads by their maxPods: kubelets survive the first three. */
export const GOOD = [101, 102, 103] as const;
export const DEADLY = 666;
/** Has cgroups of another layout, where the story has anything to say about disruption. */
const REBOOTS = 103;
/** Has another meaning for pods that run. */
const DRAINS = 102;
export const MOST_NODES = 12;
/** Config files of the nodes' own by their SHA-256: kubelets survive all but the last. */
const BASES = ['b1', 'b2', 'b666'] as const;

export type Event =
  | { readonly event: 'commit'; readonly maxPods: number }
  | { readonly event: 'agent' | 'agents' | 'healthy'; readonly node: number }
  | { readonly event: 'ready' | 'not-ready' | 'cordon' | 'join' | 'leave' | 'relabel'; readonly node: number }
  | { readonly event: 'time'; readonly minutes: number }
  | { readonly event: 'rewrite'; readonly node: number; readonly base: (typeof BASES)[number] }
  | { readonly event: 'boot' | 'drained' | 'uncordon'; readonly node: number }
  | { readonly event: 'suspend' | 'resume' | 'release' };

const node = fc.nat(MOST_NODES - 1);

export const events: fc.Arbitrary<Event> = fc.oneof(
  {
    weight: 1,
    arbitrary: fc.record({ event: fc.constant('commit' as const), maxPods: fc.constantFrom(...GOOD, DEADLY) }),
  },
  { weight: 8, arbitrary: fc.record({ event: fc.constantFrom('agent' as const, 'agents' as const), node }) },
  { weight: 6, arbitrary: fc.record({ event: fc.constant('healthy' as const), node }) },
  {
    weight: 3,
    arbitrary: fc.record({ event: fc.constant('time' as const), minutes: fc.integer({ min: 1, max: 12 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      event: fc.constantFrom(
        'ready' as const,
        'not-ready' as const,
        'cordon' as const,
        'join' as const,
        'leave' as const,
        'relabel' as const,
      ),
      node,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ event: fc.constant('rewrite' as const), node, base: fc.constantFrom(...BASES) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ event: fc.constantFrom('suspend' as const, 'resume' as const, 'release' as const) }),
  },
);

/** As many again of what only changes that need more than a restart come across. */
export const roughEvents: fc.Arbitrary<Event> = fc.oneof(
  { weight: 3, arbitrary: events },
  {
    weight: 1,
    arbitrary: fc.record({
      event: fc.constantFrom('boot' as const, 'drained' as const, 'uncordon' as const),
      node,
    }),
  },
);

const reboot = { by: 'systemd', timeout: '1h' } as const;

/** What pools allow; the payload `REBOOTS` needs a reboot, where anything is allowed at all. */
export const disruptions: fc.Arbitrary<DisruptionSpec | undefined> = fc.constantFrom(
  undefined,
  { allow: ['restart'], drainTimeout: '10m' },
  { allow: ['restart', 'drain'], drainTimeout: '10m' },
  { allow: ['restart', 'reboot'], drainTimeout: '10m', reboot },
  { allow: ['restart', 'drain', 'reboot'], drainTimeout: '10m', reboot },
);

/** What `maxUnavailable` and the like may be. */
export const amounts = fc.oneof(fc.integer({ min: 1, max: 4 }), fc.constantFrom('10%', '34%', '50%'));

/** Longer than what a node on trial says at a time, and shorter. */
const PROBATIONS = ['full', '50s', '2m'] as const;

/** Ways to roll out: at both paces, budgets with and without zones, canaries of both kinds, steps, both actions. */
export const rollouts: fc.Arbitrary<RolloutSpec> = fc
  .record({
    maxUnavailable: amounts,
    probation: fc.constantFrom(...PROBATIONS),
    soak: fc.constantFrom('0s', '5m'),
    onFailure: fc.record({
      threshold: fc.constantFrom(1, 2, '30%'),
      action: fc.constantFrom('halt' as const, 'revert' as const),
    }),
    more: fc.record(
      {
        maxUnavailablePerZone: amounts,
        maxOnTrial: amounts,
        notReadyNodes: fc.constantFrom('wait' as const, 'change' as const),
        canary: fc.oneof(
          fc.record({ nodes: amounts, soak: fc.constantFrom('1m', '10m') }),
          fc.constant({ selector: { matchLabels: { canary: 'yes' } } }),
        ),
        steps: fc.constantFrom([{ nodes: 4 }], [{ nodes: '25%' }, { nodes: '75%', soak: '2m' }]),
      },
      { requiredKeys: [] },
    ),
  })
  .map(({ more, ...rest }) => ({ ...rest, ...more }));

/** A fleet of one pool that gets a story told, with nodes in three zones; two of them canaries, three of the control plane. */
export class RolloutStory {
  readonly fleet = new FleetSimulation();
  readonly rollout: RolloutSpec;
  readonly disruption: DisruptionSpec | undefined;
  private joined = 0;

  constructor(rollout: RolloutSpec, nodes: number, disruption?: DisruptionSpec) {
    this.rollout = rollout;
    this.disruption = disruption;
    this.fleet.deadly.add(this.pool(DEADLY).sha256);
    this.fleet.deadlyBases.add(BASES[2]);
    for (let i = 0; i < nodes; i += 1) this.join(i);
    this.commit(GOOD[0]);
  }

  pool(maxPods: number): ReturnType<typeof validPool> {
    const rollout = { ...poolSpec().rollout, ...this.rollout };
    if (this.disruption === undefined) return validPool('workers', maxPods, { rollout });
    const fields =
      maxPods === REBOOTS ? { cgroupRoot: '/pods' } : maxPods === DRAINS ? { topologyManagerScope: 'pod' } : {};
    return validPool('workers', maxPods, { rollout, disruption: this.disruption }, fields);
  }

  commit(maxPods: number): void {
    this.fleet.inForce = commit(COMMIT_A, this.pool(maxPods));
  }

  happen(event: Event): void {
    const { fleet } = this;
    switch (event.event) {
      case 'commit':
        return this.commit(event.maxPods);
      case 'time':
        fleet.now += event.minutes * 60_000;
        return this.heartbeats();
      case 'agent':
        return fleet.agentStep(`n${event.node}`);
      case 'agents':
        return fleet.agentsStep();
      case 'healthy':
        return fleet.healthy(`n${event.node}`, 60);
      case 'suspend':
        return fleet.annotatePool('workers', { [SUSPEND_ANNOTATION]: 'a look at it' });
      case 'resume':
        return fleet.annotatePool('workers', { [SUSPEND_ANNOTATION]: undefined });
      case 'release': {
        const halt = fleet.fleet.pools.get('workers')?.status?.halt;
        return fleet.annotatePool('workers', halt === undefined ? {} : { [RELEASE_ANNOTATION]: releaseValue(halt) });
      }
      case 'rewrite':
        return fleet.rewriteBase(`n${event.node}`, event.base);
      case 'join':
        return this.join(event.node);
      case 'leave':
        return fleet.removeNode(`n${event.node}`);
      case 'relabel':
        return this.change(event.node, ({ labels }) => ({
          labels: { ...labels, pool: labels['pool'] === 'workers' ? 'nobody' : 'workers' },
        }));
      case 'boot':
        return fleet.reboot(`n${event.node}`);
      case 'drained': {
        const since = fleet.fleet.nodes.get(`n${event.node}`)?.drain?.at;
        if (since !== undefined) fleet.drains.set(`n${event.node}`, { since, drained: true, because: 'they left' });
        return;
      }
      case 'uncordon':
        return this.change(event.node, () => ({ cordoned: false }));
      case 'cordon':
        return this.change(event.node, () => ({ cordoned: true }));
      case 'ready':
      case 'not-ready': {
        const ready = event.event === 'ready';
        return this.change(event.node, (view) => ({
          ready,
          cordoned: false,
          readySince: view.ready === ready ? view.readySince : fleet.now,
        }));
      }
    }
  }

  private heartbeats(): void {
    for (const name of this.fleet.fleet.nodes.keys()) this.fleet.beat(name);
  }

  private join(index: number): void {
    const name = `n${index}`;
    if (this.fleet.fleet.nodes.has(name)) return;
    this.joined += 1;
    const labels = {
      pool: 'workers',
      'topology.kubernetes.io/zone': `z${index % 3}`,
      ...(index < 2 ? { canary: 'yes' } : {}),
      ...(index >= 9 ? { 'node-role.kubernetes.io/control-plane': '' } : {}),
    };
    const { now } = this.fleet;
    this.fleet.addNode(
      nodeView(name, 'workers', {
        uid: `${name}-${this.joined}`,
        labels,
        createdAt: now,
        readySince: now,
        ...(index % 2 === 0 ? { gated: true } : {}),
      }),
    );
  }

  private change(
    index: number,
    how: (view: ReturnType<typeof nodeView>) => Partial<ReturnType<typeof nodeView>>,
  ): void {
    const view = this.fleet.fleet.nodes.get(`n${index}`);
    if (view !== undefined) this.fleet.addNode({ ...view, ...how(view) });
  }
}
