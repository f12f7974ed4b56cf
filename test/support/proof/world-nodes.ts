import type { NodeView } from '#reconciler/policy/fleet.ts';
import type { FleetSimulation } from '../fleet-simulation.ts';
import { type Kind, kindOf, machine, type Version } from './machine-pools.ts';
import type { ToNode } from './world-events.ts';

/** No kubelet survives it. */
const DEADLY = 7;
/** The kubelets of one kind of machine do not survive it. */
const DEADLY_FOR_ONE = 6;
const MOST_NODES = 24;

/** The machines of a world: what happens to them, and their agents. */
export class WorldNodes {
  private readonly sim: FleetSimulation;
  private readonly victim: Kind | null;
  /** Numbers by the bytes that they stand for. */
  private readonly numbers = new Map<string, number>();
  private readonly silent = new Set<string>();
  private added = 0;
  private rounds = 0;

  /** @param victim see `Setting` */
  constructor(sim: FleetSimulation, victim: Kind | null) {
    this.sim = sim;
    this.victim = victim;
  }

  /** What the bytes of a version stand for. */
  learn({ bytes, values }: Version): void {
    for (const [kind, sha256] of bytes.entries()) this.numbers.set(sha256, values[kind] ?? 0);
  }

  /** A machine that has been there for long. */
  add(pool: string, kind: Kind, view: Partial<NodeView> = {}): void {
    this.sim.addNode(machine(`n${this.added}`, kind, pool, view));
    this.added += 1;
  }

  join(pool: string, kind: Kind): void {
    const { now, fleet } = this.sim;
    if (fleet.nodes.size < MOST_NODES) this.add(pool, kind, { createdAt: now, readySince: now });
  }

  /** The n-th node that is there. */
  nth(index: number): string {
    const names = [...this.sim.fleet.nodes.keys()];
    return names[index % Math.max(1, names.length)] ?? '';
  }

  relabel(name: string, labels: Readonly<Record<string, string>>): void {
    this.view(name, (view) => ({ labels: { ...view.labels, ...labels } }));
  }

  allWell(): void {
    this.silent.clear();
    for (const name of this.sim.fleet.nodes.keys()) this.view(name, wellSince(this.sim.now));
  }

  happen(what: ToNode, name: string): void {
    const { sim } = this;
    switch (what) {
      case 'cordon':
      case 'uncordon':
        return this.view(name, () => ({ cordoned: what === 'cordon' }));
      case 'ready':
        return this.view(name, wellSince(sim.now));
      case 'not-ready':
        return this.view(name, ({ ready, readySince }) => ({ ready: false, readySince: ready ? sim.now : readySince }));
      case 'silence':
        return void this.silent.add(name);
      case 'speak':
        return void this.silent.delete(name);
      case 'leave':
        this.silent.delete(name);
        return sim.removeNode(name);
    }
  }

  /** Agents that are not silent take a step, or every other one, or all of them only say that their kubelets are well. */
  agents(who: 'all' | 'some' | 'none'): void {
    this.rounds += 1;
    for (const name of this.sim.fleet.nodes.keys()) if (!this.silent.has(name)) this.agent(name, who);
  }

  private agent(name: string, who: 'all' | 'some' | 'none'): void {
    const steps = who === 'all' || (who === 'some' && (Number(name.slice(1)) + this.rounds) % 2 === 0);
    if (!steps) {
      this.sim.healthy(name, 60);
      return this.sim.beat(name);
    }
    const view = this.sim.fleet.nodes.get(name);
    const sha256 = this.sim.fleet.kubeletNodes.get(name)?.status?.active?.sha256 ?? '';
    this.sim.deadly.clear();
    if (view !== undefined && this.isDeadly(kindOf(view), sha256)) this.sim.deadly.add(sha256);
    this.sim.agentStep(name);
  }

  private isDeadly(kind: Kind, sha256: string): boolean {
    const number = this.numbers.get(sha256);
    if (this.victim === null) return false;
    return number === DEADLY || (number === DEADLY_FOR_ONE && kind === this.victim);
  }

  private view(name: string, how: (view: NodeView) => Partial<NodeView>): void {
    const view = this.sim.fleet.nodes.get(name);
    if (view !== undefined) this.sim.addNode({ ...view, ...how(view) });
  }
}

const wellSince =
  (now: number) =>
  ({ ready, readySince }: NodeView): Partial<NodeView> => ({
    ready: true,
    cordoned: false,
    readySince: ready ? readySince : now,
  });
