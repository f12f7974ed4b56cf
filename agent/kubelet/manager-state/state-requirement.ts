import type { ConfigView } from '#shared/contract/kubelet-config/config-view.ts';
import { isMap } from '#shared/runtime/maps.ts';
import { jsonIn } from '#shared/runtime/lenient.ts';

/** A state file's content as the kubelet wrote it: JSON, with the manager's policy under `policyName`. */
export type ManagerState = Readonly<Record<string, unknown>>;

/** What a kubelet with one config asks of one manager's state file before it starts. */
export interface StateRequirement {
  /** Whether it reads the file at all: there are gates and versions without the manager. */
  readonly isRead: boolean;
  /**
   * All of the config that a state is computed from, in one text that begins with the policy: `static; 2 CPUs`. Configs of
   * one basis take each other's states.
   */
  readonly basis: string;
  /**
   * Whether the kubelet starts with this state, as far as the config can tell: it also compares the state with the
   * machine, which no config changes.
   *
   * @param madeUnder basis of the config that it was written with; undefined if unknown
   */
  accepts(state: ManagerState, madeUnder: string | undefined): boolean;
}

/** The manager is not there: the kubelet leaves the file alone, whatever is in it. */
export const NOT_READ: StateRequirement = { isRead: false, basis: 'not read', accepts: () => true };

/** Ends the basis of what kubelets wrote that not every kubelet of the same minor version reads. */
const POD_LEVEL = '; pod-level';

/**
 * With the gate PodLevelResourceManagers, kubelets 1.36 write both states in another form, whose checksum no kubelet 1.36 without
 * it accepts (`loadCheckpointV1` of the memory manager, `loadAndMigrateCheckpointV2` of the CPU manager): it does not start. What
 * is in the file does not tell. Later versions read each other's, whatever the gate says.
 */
export function withPodLevelFormat(config: ConfigView, demand: StateRequirement): StateRequirement {
  if (config.minor !== 36 || !demand.isRead) return demand;
  const isOn = config.gate('PodLevelResourceManagers');
  return {
    ...demand,
    basis: isOn ? `${demand.basis}${POD_LEVEL}` : demand.basis,
    accepts: (state, madeUnder) => {
      const isOther = madeUnder !== undefined && madeUnder.endsWith(POD_LEVEL) !== isOn;
      return !isOther && demand.accepts(state, madeUnder?.replace(POD_LEVEL, ''));
    },
  };
}

export const managerPolicyOf = (basis: string): string => basis.split('; ', 1)[0] ?? '';

/** Kubelets from 1.37 on write the whole as text under `data`, and beside it what older ones read. @throws where that text is torn */
function withData(value: unknown): unknown {
  const text = isMap(value) ? value['data'] : undefined;
  if (!isMap(value) || typeof text !== 'string' || text === '') return value;
  const data = jsonIn(text);
  return isMap(data) ? { ...value, ...data } : undefined;
}

/** @returns undefined where no kubelet would start with it: torn, empty, or something else */
export function parseState(bytes: Buffer): ManagerState | undefined {
  const text = bytes.toString('utf8');
  if (!Buffer.from(text, 'utf8').equals(bytes)) return undefined;
  const value = withData(jsonIn(text));
  return isMap(value) && typeof value['policyName'] === 'string' ? value : undefined;
}
