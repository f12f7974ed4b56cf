import type { Path } from './position.ts';
import { childrenOf, FIELDS } from './fields/fields.ts';
import { isMap } from '../../runtime/maps.ts';

/** Fields, or whole branches of them: `authentication` means everything below it as well. */
export interface FieldPolicy {
  /** May be set although they are denied by default. */
  readonly allow: readonly string[];
  /** May not be set, even if a lower level allows them. */
  readonly deny: readonly string[];
}

export const NO_FIELD_POLICY: FieldPolicy = { allow: [], deny: [] };

const IDENTITY = 'it identifies the node, and cannot be the same on all nodes of a pool';
const LOCKS_OUT = 'a wrong value locks the API server or us out';
const CREDENTIALS = 'a wrong value costs the node its certificate';
const STATIC_PODS = 'it decides which pods run without the API server: the control plane itself, on some nodes';
const RUNS_CODE = 'whoever chooses it runs code as root on the node';
const OPENS_API = 'it opens the API of the kubelet';
const HOST_FILES = 'it lets files of the host be read or removed';

/**
 * Denied unless the reconciler's settings or the cluster's file allow them: what owns a node, what identifies it, and what could
 * cut it off so that the change cannot be taken back from outside. `security/powers.ts` says more of each.
 */
export const DENIED_BY_DEFAULT: Readonly<Record<string, string>> = {
  address: LOCKS_OUT,
  authentication: LOCKS_OUT,
  authorization: LOCKS_OUT,
  containerRuntimeEndpoint: RUNS_CODE,
  contentType: LOCKS_OUT,
  enableDebugFlagsHandler: OPENS_API,
  enableDebuggingHandlers: OPENS_API,
  enableProfilingHandler: OPENS_API,
  enableServer: LOCKS_OUT,
  enableSystemLogHandler: HOST_FILES,
  enableSystemLogQuery: HOST_FILES,
  healthzBindAddress: LOCKS_OUT,
  healthzPort: LOCKS_OUT,
  imageServiceEndpoint: RUNS_CODE,
  podCIDR: IDENTITY,
  podLogsDir: HOST_FILES,
  port: LOCKS_OUT,
  providerID: IDENTITY,
  readOnlyPort: OPENS_API,
  rotateCertificates: CREDENTIALS,
  runOnce: 'it makes a kubelet that ends when its pods have ended',
  serverTLSBootstrap: CREDENTIALS,
  staticPodPath: STATIC_PODS,
  staticPodURL: STATIC_PODS,
  staticPodURLHeader: STATIC_PODS,
  tlsCertFile: CREDENTIALS,
  tlsPrivateKeyFile: CREDENTIALS,
  volumePluginDir: RUNS_CODE,
};

/** Values of denied fields that shut something, and that anybody may set. Null is none: it takes back what the node has. */
export const RESTRICTIVE_VALUES: Readonly<Record<string, unknown>> = {
  enableDebugFlagsHandler: false,
  enableDebuggingHandlers: false,
  enableProfilingHandler: false,
  enableSystemLogHandler: false,
  enableSystemLogQuery: false,
  readOnlyPort: 0,
};

/** A field that may not be set, and why. */
export interface DeniedField {
  readonly path: Path;
  readonly why: string;
  /** Allowing it helps: only the default list denies it. */
  readonly allowable: boolean;
}

/**
 * What of a config may not be there. A cluster's `deny` stands above everything; a pool may deny more for itself, and allows
 * nothing. Null counts as setting a field: it takes back what the node has.
 *
 * @param cluster what the cluster allows and denies
 * @param deny    what the pool denies besides
 */
export function deniedFields(
  config: Readonly<Record<string, unknown>>,
  cluster: FieldPolicy,
  deny: readonly string[] = [],
): readonly DeniedField[] {
  const judge = (path: Path, name: string, value: unknown): DeniedField | undefined => {
    // Null takes back whatever is below it.
    const isIn = (fields: readonly string[]): boolean =>
      covers(fields, name) || (value === null && fields.some((field) => isWithin(field, name)));
    if (isIn(cluster.deny)) return { path, why: "the cluster's file denies it", allowable: false };
    if (isIn(deny)) return { path, why: 'the pool itself denies it', allowable: false };
    const why = Object.entries(DENIED_BY_DEFAULT).find(([field]) => isWithin(name, field))?.[1];
    if (why === undefined || (Object.hasOwn(RESTRICTIVE_VALUES, name) && RESTRICTIVE_VALUES[name] === value))
      return undefined;
    return covers(cluster.allow, name) ? undefined : { path, why, allowable: true };
  };
  return leavesOf(config).flatMap(([path, name, value]) => judge(path, name, value) ?? []);
}

/**
 * The fields of a node's own config that stay where a payload takes its place: what may not be set may not be taken away either. Sorted.
 *
 * @param cluster what the cluster allows and denies
 * @param deny    what the pool denies besides
 */
export function keptFields({ allow, deny }: FieldPolicy, poolDeny: readonly string[] = []): readonly string[] {
  const notAllowed = (field: string): readonly string[] => {
    if (covers(allow, field)) return [];
    if (!allow.some((each) => isWithin(each, field))) return [field];
    const below = childrenOf(field);
    // Of what has no fields below it, a key that is allowed is a map's: what the payload says of it counts, and the others stay.
    return below.length === 0 ? [field] : below.flatMap((name) => notAllowed(`${field}.${name}`));
  };
  const denied = new Set([...Object.keys(DENIED_BY_DEFAULT).flatMap(notAllowed), ...deny, ...poolDeny]);
  return [...denied].filter((field) => ![...denied].some((each) => each !== field && isWithin(field, each))).sort();
}

/** What an assignment may set in spite of the default list: the words that travel with an assignment. Sorted. */
export const allowedFields = ({ allow, deny }: FieldPolicy): readonly string[] =>
  [...new Set(allow)].filter((field) => !covers(deny, field)).sort();

/** What two lists of fields both cover: `authentication` and `authentication.x509` have the second in common. */
export const commonFields = (some: readonly string[], others: readonly string[]): readonly string[] => [
  ...new Set([...some.filter((field) => covers(others, field)), ...others.filter((field) => covers(some, field))]),
];

/** Whether the table has the field, or it is a branch or a key of one. */
export function isPolicyField(field: string): boolean {
  if (FIELDS.has(field)) return true;
  const dot = field.lastIndexOf('.');
  return dot > 0 && isPolicyField(field.slice(0, dot));
}

/** Whether a list has the field, or a branch that it is in. */
export const covers = (fields: readonly string[], name: string): boolean =>
  fields.some((field) => isWithin(name, field));
const isWithin = (name: string, field: string): boolean => name === field || name.startsWith(`${field}.`);

/** Every value that is no map, and every empty map, with its path as keys and as one name. */
export function leavesOf(config: Readonly<Record<string, unknown>>): readonly (readonly [Path, string, unknown])[] {
  const leaves: (readonly [Path, string, unknown])[] = [];
  const visit = (map: Readonly<Record<string, unknown>>, path: readonly string[]): void => {
    for (const [key, value] of Object.entries(map)) {
      const here = [...path, key];
      if (isMap(value) && Object.keys(value).length > 0) visit(value, here);
      else leaves.push([here, here.join('.'), value]);
    }
  };
  visit(config, []);
  return leaves;
}
