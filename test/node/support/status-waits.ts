import type { KubeletNodeStatus } from '#shared/contract/api/kubelet-node.ts';
import { reasonOf } from '#shared/runtime/errors.ts';
import { until } from '../../support/until.ts';
import type { Assignments } from './assignments.ts';

/** Waits that tell on failure what node and agent were doing. */
export interface StatusWaits {
  /** Waits for a status. */
  readonly reaches: (what: string, holds: (status: KubeletNodeStatus) => boolean) => Promise<KubeletNodeStatus>;
  /** Waits for anything else. */
  readonly waits: <T>(what: string, look: () => Promise<T | undefined | false>) => Promise<T>;
  /** The config proved itself, since `before` where that is given, and the kubelet is healthy with it. */
  readonly settlesOn: (name: string, before?: KubeletNodeStatus) => Promise<KubeletNodeStatus>;
  /** The config failed, and the kubelet is healthy with the one before. */
  readonly rejects: (name: string) => Promise<KubeletNodeStatus>;
}

export interface Waited {
  readonly name: string;
  readonly assignments: Pick<Assignments, 'status'>;
  /** Of the kubelet. */
  readonly healthy: () => Promise<boolean>;
  /** What a unit logged. */
  readonly journal: (unit: string, lines: number) => Promise<string>;
  /** Units of agent and kubelet, as `journal` takes them. */
  readonly units: readonly string[];
  /** Milliseconds: ends what hangs, and measures nothing. */
  readonly withinMs: number;
  readonly everyMs: number;
}

export function statusWaits({ name: node, assignments, healthy, withinMs, everyMs, ...told }: Waited): StatusWaits {
  const evidence = async (): Promise<string> => {
    const status = await assignments.status().catch(reasonOf);
    const logs = told.units.map(async (unit) => `--- ${unit}\n${await told.journal(unit, 30).catch(reasonOf)}`);
    return `--- status\n${JSON.stringify(status, undefined, 1)}\n${(await Promise.all(logs)).join('\n')}`;
  };
  const waits: StatusWaits['waits'] = (what, look) =>
    until(`${what} (${node})`, look, { withinMs, everyMs }).catch(async (error: unknown) => {
      throw new Error(`${reasonOf(error)}\n${await evidence()}`, { cause: error });
    });
  const reaches: StatusWaits['reaches'] = (what, holds) => {
    const look = async (): Promise<KubeletNodeStatus | false> => {
      const status = await assignments.status();
      return holds(status) && status;
    };
    return waits(what, look);
  };
  const isUp = (): Promise<true> => waits('a healthy kubelet', async () => (await healthy()) && true);
  return {
    waits,
    reaches,
    async settlesOn(name, before) {
      const isSettled = ({ phase, active, lastKnownGood, error, promotedAt }: KubeletNodeStatus): boolean =>
        phase === 'Idle' &&
        active?.name === name &&
        lastKnownGood?.name === name &&
        (error ?? undefined) === undefined &&
        (before === undefined || promotedAt !== before.promotedAt);
      const status = await reaches(`${name} to be promoted`, isSettled);
      await isUp();
      return status;
    },
    async rejects(name) {
      const isRejected = ({ phase, active, rejected }: KubeletNodeStatus): boolean =>
        phase === 'Idle' && active?.name !== name && rejected?.some((entry) => entry.name === name) === true;
      const isPromoted = ({ lastKnownGood }: KubeletNodeStatus): boolean => lastKnownGood?.name === name;
      const status = await reaches(`${name} to be rejected`, (now) => isRejected(now) || isPromoted(now));
      if (!isRejected(status)) throw new Error(`${name} was promoted: ${JSON.stringify(status)}`);
      await isUp();
      return status;
    },
  };
}
