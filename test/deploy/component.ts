import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

interface Kustomization {
  readonly kind: string;
  readonly patches: readonly {
    readonly target: { readonly kind: string; readonly name: string };
    readonly patch: string;
  }[];
}
interface Operation {
  readonly op: 'add' | 'remove' | 'replace';
  readonly path: string;
  readonly value?: unknown;
}

/**
 * The object as kustomize leaves it with the component: its JSON patches (RFC 6902), as far as ours go.
 *
 * @throws where a patch does not fit, as kustomize does
 */
export function withComponent<T extends { readonly kind: string }>(object: T, component: string): T {
  const file = `deploy/components/${component}/kustomization.yaml`;
  const { patches } = parse(readFileSync(file, 'utf8')) as Kustomization;
  const patched = structuredClone(object);
  for (const { target, patch } of patches.filter((each) => each.target.kind === object.kind)) {
    if (target.name !== nameOf(object)) throw new Error(`${file} is for ${target.name}`);
    for (const operation of parse(patch) as readonly Operation[]) carryOut(patched, operation);
  }
  return patched;
}

const nameOf = (object: object): unknown =>
  (object as { readonly metadata?: { readonly name?: unknown } }).metadata?.name;

function carryOut(object: object, { op, path, value }: Operation): void {
  const steps = path.slice(1).split('/');
  const last = steps.pop() ?? '';
  const place = steps.reduce<unknown>((node, step) => (node as Record<string, unknown> | undefined)?.[step], object);
  if (typeof place !== 'object' || place === null) throw new Error(`${op} ${path}: there is no such place`);
  const parent = place as Record<string, unknown>;
  if (op !== 'add' && !(last in parent)) throw new Error(`${op} ${path}: there is nothing`);
  if (op === 'remove') delete parent[last];
  else if (Array.isArray(place) && last === '-') place.push(value);
  else parent[last] = value;
}
