import type { Millis } from '#shared/runtime/clock.ts';

/** A config that kills kubelets, and when. */
export interface InjectedFault {
  /** A clause that goes on after "a config that". */
  readonly fault: string;
  /** After how much healthy time a node fails; null for never. `random` is in [0, 1), another for each node. */
  readonly failsAfter: (random: number) => Millis | null;
  /** Which nodes fail is left to chance. */
  readonly byChance?: true;
}

const MINUTE: Millis = 60_000;
/** Of so many nodes one fails. */
const ONE_IN = 30;

/** What `plan` and `simulate` say how far it would get. */
export const INJECTED_FAULTS: readonly InjectedFault[] = [
  { fault: 'kills every kubelet at once', failsAfter: () => 0 },
  { fault: 'kills every kubelet after 8 minutes', failsAfter: () => 8 * MINUTE },
  {
    fault: `kills one kubelet in ${ONE_IN} at once`,
    failsAfter: (random) => (random < 1 / ONE_IN ? 0 : null),
    byChance: true,
  },
];
