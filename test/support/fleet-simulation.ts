import { type KubeletNode, type KubeletNodeStatus, LOCAL } from '#shared/contract/api/kubelet-node.ts';
import { fromTimestamp, type Millis, toTimestamp } from '#shared/runtime/clock.ts';
import { applySteps } from '#cli/simulate/fleet/apply-steps.ts';
import { type FailureOf, healthyFor, nextReport, rebooted } from '#cli/simulate/fleet/simulated-agent.ts';
import { type CommitInForce, type DesiredPool, desiredState } from '#reconciler/policy/desired.ts';
import type { JudgePool } from '#reconciler/policy/config-repo/judge-pool.ts';
import type { DrainView, Fleet, NodeView, PodCount } from '#reconciler/policy/fleet.ts';
import type { QueriedPool, QueryAnswers } from '#reconciler/policy/analysis/query-answer.ts';
import { createOwnRecords, type OwnRecords } from '#reconciler/policy/proof/own-records.ts';
import { type CommitToRender, commitsToRender } from '#reconciler/policy/rollout/commits-to-render.ts';
import { queriesToAsk } from '#reconciler/policy/rollout/queries-to-ask.ts';
import type { VitalPods } from '#reconciler/policy/allocatable/vital-pods.ts';
import { type ClockReading, clockJump, shiftTimes } from '#reconciler/policy/first-seen/clock-jump.ts';
import { withoutClockSkew } from '#reconciler/policy/first-seen/clock-skew.ts';
import { type FirstSeenTimes, firstSeenTimes } from '#reconciler/policy/first-seen/first-seen-times.ts';
import { plan, type Plan } from '#reconciler/policy/plan.ts';
import { withLimitsInForce } from '#reconciler/policy/pool-limits/held-limits.ts';
import type { Signals } from '#reconciler/policy/signals.ts';
import type { Step } from '#reconciler/policy/steps.ts';
import { fleetOf, NOW } from './fleet.ts';

const SETTINGS = { namespace: 'kubelet-gitops', keepUnusedMs: 3_600_000 };

/**
 * A cluster in memory in which the reconciler's writes come true at once and agents move when they are told to. Time stands
 * still until it is moved on.
 */
export class FleetSimulation {
  fleet: Fleet = fleetOf({});
  inForce: CommitInForce | null = null;
  now: Millis = NOW;
  /** Nodes whose pods were told to leave, in order. */
  readonly evicted: string[] = [];
  /** How the drains stand, as the test wants them. */
  readonly drains = new Map<string, DrainView>();
  /** How many pods run on a node; undefined where the reconciler may not see pods. */
  running = new Map<string, number>();
  /** Of these, those that the node cannot do without; nobody counted them where a node is not in it. */
  vital = new Map<string, VitalPods>();
  /** What Prometheus says of the canaries of a pool; undefined where there is none. */
  prometheus: ((pool: QueriedPool) => QueryAnswers) | undefined = undefined;
  /** How far the clocks of others are off: of machines by the names of their nodes, and of the API server. */
  clocks: Clocks = { machine: () => 0, apiServer: 0 };
  /** What decides, and what puts its own time in the place of others’: for tests of what a wrong one would do. */
  planner: typeof plan = plan;
  ownTime: typeof withoutClockSkew = withoutClockSkew;
  /** What kubelets have against configs: nothing, where a test does not say so. */
  judge: JudgePool = () => [];
  /** How far the reconciler's own clock is off; it may be put forward and back. */
  own: Millis = 0;
  private sights: FirstSeenTimes | null = null;
  private reading: ClockReading | null = null;
  private ahead: Millis = 0;
  private readonly commits = new Map<string, CommitInForce>();
  private records: OwnRecords = createOwnRecords();
  /** Pools as commits in force said them since the start. */
  private readonly known = new Map<string, DesiredPool>();
  private readonly counts = new Map<string, PodCount>();
  /** SHA-256 of payloads that no kubelet survives. */
  readonly deadly = new Set<string>();
  /** SHA-256 of config files of the nodes' own that no kubelet survives. */
  readonly deadlyBases = new Set<string>();
  /** SHA-256 of payloads that agents refuse when they are asked about them. */
  readonly refused = new Set<string>();
  /** How often the kubelet of a node was restarted. */
  readonly restarts = new Map<string, number>();
  /** The nodes that were granted a turn, in order. */
  readonly granted: string[] = [];
  /** By SHA-256 of a payload, every node that was ever told to run it. */
  readonly exposed = new Map<string, Set<string>>();

  reconcile(): Plan {
    const seen = stampedBy(this.clocks, this.fleet, this.now);
    if (this.inForce !== null) this.commits.set(this.inForce.oid, this.inForce);
    const said = desiredState(this.inForce, seen, this.judge, undefined, this.known);
    const desired = withLimitsInForce(said, seen, this.known, this.records.all());
    for (const pool of desired.pools.values()) if (pool.origin === 'rendered') this.known.set(pool.name, pool);
    const now = this.now + this.own;
    const reading = { wall: now, monotonic: this.now };
    if (this.sights !== null) this.sights = shiftTimes(this.sights, clockJump(this.reading, reading));
    this.reading = reading;
    this.sights = firstSeenTimes(this.sights, desired, seen, now, this.ahead);
    const planned = this.planner(desired, this.ownTime(seen, this.sights), SETTINGS, now, {
      blockers: new Map(),
      queries: this.answers(queriesToAsk(desired, seen)),
      drains: this.drains,
      records: this.records.all(),
      rendered: this.rendered(commitsToRender(desired, seen), seen),
      ...(this.running.size === 0 ? {} : { pods: this.counts }),
    });
    for (const step of planned.steps) this.note(step);
    this.records.adopt(desired, this.fleet.pools, planned.pools);
    this.fleet = applySteps(this.fleet, planned.steps, now);
    for (const step of planned.steps) {
      const written = step.step === 'write-pool-status' ? this.fleet.pools.get(step.pool.metadata.name) : undefined;
      if (written !== undefined) this.records.answered(step, written);
    }
    return planned;
  }

  /** By pool and commit, what git says of commits that were in force before. */
  private rendered(asked: readonly CommitToRender[], seen: Fleet): NonNullable<Signals['rendered']> {
    const found = new Map<string, Map<string, ReadonlySet<string> | null>>();
    for (const { pool: name, commit } of asked) {
      const inForce = this.commits.get(commit);
      const pool = desiredState(inForce ?? null, seen, () => []).pools.get(name);
      const all = new Set([pool?.config?.sha256 ?? '', ...(pool?.classes?.configs.keys() ?? [])]);
      found.set(name, (found.get(name) ?? new Map()).set(commit, inForce === undefined ? null : all));
    }
    return found;
  }

  private answers(pools: readonly QueriedPool[]): ReadonlyMap<string, QueryAnswers> {
    return new Map(
      pools.flatMap((pool) => (this.prometheus === undefined ? [] : [[pool.name, this.prometheus(pool)]])),
    );
  }

  /**
   * The reconciler loses its memory: what it knows is in the cluster.
   *
   * @param own how far the clock of the next one is off
   */
  restart(own = this.own): void {
    this.ahead = own - this.own;
    this.own = own;
    this.sights = null;
    this.reading = null;
    this.known.clear();
    this.records = createOwnRecords();
  }

  addNode(node: NodeView): void {
    this.fleet = { ...this.fleet, nodes: new Map([...this.fleet.nodes, [node.name, node]]) };
  }

  removeNode(name: string): void {
    const nodes = new Map(this.fleet.nodes);
    nodes.delete(name);
    this.fleet = { ...this.fleet, nodes };
  }

  /** The agent of a node takes one step towards what it was told, and says that it lives. */
  agentStep(name: string): void {
    const at = toTimestamp(this.now);
    this.change(name, (node) => {
      const next = nextReport(node, at, this.failureOf);
      if (next?.restarted === true) this.restarts.set(name, (this.restarts.get(name) ?? 0) + 1);
      const status = refusing(next?.status ?? node.status, this.refused, at);
      return { ...node, status: { ...status, heartbeat: at } };
    });
  }

  /** The kubelet of a node on trial has been healthy for so much longer. */
  healthy(name: string, seconds: number): void {
    this.change(name, (node) => {
      const so = (node.status?.trial?.healthySeconds ?? 0) + seconds;
      return { ...node, status: healthyFor(node, so, toTimestamp(this.now)) ?? node.status ?? {} };
    });
  }

  agentsStep(): void {
    for (const name of this.fleet.nodes.keys()) this.agentStep(name);
  }

  /** So many times the reconciler has its turn, and then every agent. */
  rounds(count: number): void {
    for (let round = 0; round < count; round += 1) {
      this.reconcile();
      this.agentsStep();
    }
  }

  /** The pods of a node have left it. */
  drained(name: string): void {
    const since = this.fleet.nodes.get(name)?.drain?.at ?? 0;
    this.drains.set(name, { since, drained: true, because: 'its pods have left' });
  }

  /** An agent that says what it likes. */
  report(name: string, status: KubeletNodeStatus): void {
    this.change(name, (node) => ({ ...node, status }));
  }

  /** The machine of a node reboots, whoever had it do so. */
  reboot(name: string): void {
    this.change(name, rebooted);
  }

  /** Somebody replaces the config file of a node's own by one with this SHA-256. */
  rewriteBase(name: string, sha256: string): void {
    this.change(name, (node) => withNewBase(node, sha256));
  }

  /** The agent of a node says that it lives, and nothing else. */
  beat(name: string): void {
    this.change(name, (node) => ({ ...node, status: { ...node.status, heartbeat: toTimestamp(this.now) } }));
  }

  /** A person annotates a pool; undefined takes an annotation away. */
  annotatePool(name: string, annotations: Readonly<Record<string, string | undefined>>): void {
    const pool = this.fleet.pools.get(name);
    if (pool === undefined) return;
    const all = Object.entries({ ...pool.metadata.annotations, ...annotations });
    const set = Object.fromEntries(all.flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])));
    const changed = { ...pool, metadata: { ...pool.metadata, annotations: set } };
    this.fleet = { ...this.fleet, pools: new Map([...this.fleet.pools, [name, changed]]) };
  }

  private readonly failureOf: FailureOf = ({ sha256 = '' }, base = '') =>
    this.deadly.has(sha256) || this.deadlyBases.has(base) ? { reason: 'CrashLoop', message: 'exit-code 1' } : null;

  private change(name: string, how: (node: KubeletNode) => KubeletNode): void {
    const node = this.fleet.kubeletNodes.get(name);
    if (node === undefined) return;
    this.fleet = { ...this.fleet, kubeletNodes: new Map([...this.fleet.kubeletNodes, [name, how(node)]]) };
  }

  /** What a step does that no object shows. */
  private note(step: Step): void {
    if (step.step === 'evict') this.evicted.push(step.node);
    if (step.step === 'count-pods') {
      const vital = this.vital.get(step.node);
      this.counts.set(step.node, { at: step.at, pods: this.running.get(step.node) ?? 0, ...(vital && { vital }) });
    }
    // By what is written, not by what the step is called.
    const seen = 'spec' in step && 'turn' in step.spec ? step.spec.turn?.seen : undefined;
    if (seen !== undefined && 'node' in step && typeof step.node !== 'string' && step.node.spec?.turn?.seen !== seen) {
      this.granted.push(step.node.metadata.name);
    }
    if (step.step === 'assign' || step.step === 'unassign' || step.step === 'amend') {
      const sha256 = step.spec.configSource?.sha256 ?? '';
      this.exposed.set(sha256, (this.exposed.get(sha256) ?? new Set()).add(step.node.metadata.name));
    }
  }
}

/** An agent that finds something wrong with a config, where it was asked about it. */
function refusing(
  status: KubeletNodeStatus | undefined,
  refused: ReadonlySet<string>,
  at: string,
): KubeletNodeStatus | undefined {
  const { preflight } = status ?? {};
  if (preflight?.outcome !== 'passed' || !refused.has(preflight.sha256 ?? '')) return status;
  const why = { reason: 'PreflightFailed', message: 'there is no such cgroup', at };
  return { ...status, preflight: { ...preflight, ...why, outcome: 'refused' } };
}

interface Clocks {
  readonly machine: (node: string) => Millis;
  readonly apiServer: Millis;
}

/** The fleet as it looks where every machine writes its own time; kubelets say all the time that they are Ready. */
function stampedBy({ machine, apiServer }: Clocks, fleet: Fleet, now: Millis): Fleet {
  const nodes = [...fleet.nodes].map(([name, node]) => {
    const { ready, readySince, createdAt } = node;
    const view = { ...node, readySince: readySince + machine(name), createdAt: createdAt + apiServer };
    return [name, ready ? { ...view, readyForMs: now - readySince } : view] as const;
  });
  const kubeletNodes = [...fleet.kubeletNodes].map(([name, node]): readonly [string, KubeletNode] => {
    const off = machine(name);
    const { status } = node;
    if (status === undefined || off === 0) return [name, node];
    const at = (stamp: string): string => toTimestamp((fromTimestamp(stamp) ?? 0) + off);
    const { heartbeat, promotedAt } = status;
    const stamped = {
      ...(heartbeat === undefined ? {} : { heartbeat: at(heartbeat) }),
      ...(typeof promotedAt === 'string' ? { promotedAt: at(promotedAt) } : {}),
    };
    return [name, { ...node, status: { ...status, ...stamped } }];
  });
  const configSources = [...fleet.configSources].map(
    ([name, source]) => [name, { ...source, createdAt: source.createdAt + apiServer }] as const,
  );
  return {
    ...fleet,
    nodes: new Map(nodes),
    kubeletNodes: new Map(kubeletNodes),
    configSources: new Map(configSources),
  };
}

/**
 * The node's own config file is replaced by one with this SHA-256, as Ansible or `kubeadm upgrade` does: a node at rest with a config
 * of ours asks for a turn. The file of its last turn needs none, nor does one that failed.
 */
function withNewBase(node: KubeletNode, base: string): KubeletNode {
  const { spec, status = {} } = node;
  const { phase, active, refusedBase, awaitsTurn } = status;
  if ((phase !== 'Idle' && phase !== 'Drifted') || active === undefined || active.name === LOCAL) return node;
  const isKnown = spec?.turn?.seen === base || refusedBase?.sha256 === base;
  if (isKnown) {
    return (awaitsTurn ?? null) === null ? node : { ...node, status: { ...status, phase: 'Idle', awaitsTurn: null } };
  }
  const message = 'its own config file changed';
  const asks = { reason: 'NewBase', seen: base, base, message } as const;
  return { ...node, status: { ...status, phase: 'Drifted', awaitsTurn: asks } };
}
