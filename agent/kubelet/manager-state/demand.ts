/** A state file's content as the kubelet wrote it: JSON, with the manager's policy under `policyName`. */
export type ManagerState = Readonly<Record<string, unknown>>;

/** What a kubelet with one config asks of one manager's state file before it starts. */
export interface Demand {
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
   * @param madeUnder basis of the config that it was written with; undefined where nobody knows
   */
  accepts(state: ManagerState, madeUnder: string | undefined): boolean;
}

/** The manager is not there: the kubelet leaves the file alone, whatever is in it. */
export const NOT_READ: Demand = { isRead: false, basis: 'not read', accepts: () => true };

export const managerPolicyOf = (basis: string): string => basis.split('; ', 1)[0] ?? '';

/** @returns undefined where no kubelet would start with it: torn, empty, or something else */
export function parseState(bytes: Buffer): ManagerState | undefined {
  const text = bytes.toString('utf8');
  if (!Buffer.from(text, 'utf8').equals(bytes)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    const isState = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isState && typeof (value as ManagerState)['policyName'] === 'string' ? (value as ManagerState) : undefined;
  } catch {
    return undefined;
  }
}
