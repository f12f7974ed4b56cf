import type { Path } from './position.ts';
import { FIELDS } from './fields/fields.ts';
import { isMap } from './walk.ts';

/** Fields, or whole branches of them: `authentication` means everything below it as well. */
export interface FieldPolicy {
  /** May be set although they are denied by default. */
  readonly allow: readonly string[];
  /** May not be set, whoever allows them further down. */
  readonly deny: readonly string[];
}

export const NO_FIELD_POLICY: FieldPolicy = { allow: [], deny: [] };

const IDENTITY = 'it identifies the node, and cannot be the same on all nodes of a pool';
const LOCKS_OUT = 'a wrong value locks the API server, or us, out of the node';
const CREDENTIALS = 'a wrong value costs the node its certificate';
const STATIC_PODS = 'it decides which pods run without the API server: the control plane itself, on some nodes';

/**
 * Denied unless a cluster or a pool allows them: what identifies a node, what secures it, and what could cut it off so
 * that nobody can take the change back from outside.
 */
export const DENIED_BY_DEFAULT: Readonly<Record<string, string>> = {
  address: LOCKS_OUT,
  authentication: LOCKS_OUT,
  authorization: LOCKS_OUT,
  contentType: LOCKS_OUT,
  enableServer: LOCKS_OUT,
  healthzBindAddress: LOCKS_OUT,
  healthzPort: LOCKS_OUT,
  podCIDR: IDENTITY,
  port: LOCKS_OUT,
  providerID: IDENTITY,
  rotateCertificates: CREDENTIALS,
  runOnce: 'it makes a kubelet that ends when its pods have ended',
  serverTLSBootstrap: CREDENTIALS,
  staticPodPath: STATIC_PODS,
  staticPodURL: STATIC_PODS,
  staticPodURLHeader: STATIC_PODS,
  tlsCertFile: CREDENTIALS,
  tlsPrivateKeyFile: CREDENTIALS,
};

/** A field that may not be set, and why. */
export interface DeniedField {
  readonly path: Path;
  readonly why: string;
  /** Allowing it helps: nobody but the default list denies it. */
  readonly allowable: boolean;
}

/**
 * What of a config may not be there. A cluster's `deny` stands above everything; a pool may allow what is denied by default,
 * and deny more for itself. Null counts as setting a field: it takes back what the node has.
 */
export function deniedFields(
  config: Readonly<Record<string, unknown>>,
  cluster: FieldPolicy,
  pool: FieldPolicy,
): readonly DeniedField[] {
  const allowed = [...cluster.allow, ...pool.allow];
  const judge = (path: Path, name: string): DeniedField | undefined => {
    if (covers(cluster.deny, name)) return { path, why: "the cluster's file denies it", allowable: false };
    if (covers(pool.deny, name)) return { path, why: 'the pool itself denies it', allowable: false };
    const why = Object.entries(DENIED_BY_DEFAULT).find(([field]) => isWithin(name, field))?.[1];
    return why === undefined || covers(allowed, name) ? undefined : { path, why, allowable: true };
  };
  return leavesOf(config).flatMap(([path, name]) => judge(path, name) ?? []);
}

/** What a node may be told in spite of the default list: the words that travel with an assignment. Sorted. */
export function allowedFields(cluster: FieldPolicy, pool: FieldPolicy): readonly string[] {
  const allowed = [...new Set([...cluster.allow, ...pool.allow])];
  return allowed.filter((field) => !covers(cluster.deny, field)).sort();
}

/** Whether the table has the field, or it is a branch or a key of one. */
export function isPolicyField(field: string): boolean {
  if (FIELDS.has(field)) return true;
  const dot = field.lastIndexOf('.');
  return dot > 0 && isPolicyField(field.slice(0, dot));
}

const covers = (fields: readonly string[], name: string): boolean => fields.some((field) => isWithin(name, field));
const isWithin = (name: string, field: string): boolean => name === field || name.startsWith(`${field}.`);

/** Every value that is no map, and every empty map, with its path as keys and as one name. */
function leavesOf(config: Readonly<Record<string, unknown>>): readonly (readonly [Path, string])[] {
  const leaves: (readonly [Path, string])[] = [];
  const visit = (map: Readonly<Record<string, unknown>>, path: readonly string[]): void => {
    for (const [key, value] of Object.entries(map)) {
      const here = [...path, key];
      if (isMap(value) && Object.keys(value).length > 0) visit(value, here);
      else leaves.push([here, here.join('.')]);
    }
  };
  visit(config, []);
  return leaves;
}
