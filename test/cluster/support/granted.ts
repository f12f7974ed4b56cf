import { readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';
import type { Asked } from './audit.ts';

/** One verb on one resource, as one rule of a manifest grants it. */
export interface Right {
  readonly account: string;
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  /** undefined: in all of them, and for what has none. */
  readonly namespace: string | undefined;
  /** Empty: whatever its name. */
  readonly names: readonly string[];
  /** The role that it stands in, and where there. */
  readonly role: Role;
  readonly rule: number;
}

export interface Role {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly rules: readonly Rule[];
}
interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}
interface Binding {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly roleRef: { readonly kind: string; readonly name: string };
  readonly subjects: readonly { readonly name: string }[];
}

/** Every right that the files grant, one by one. @param files paths of manifests */
export function rightsIn(files: readonly string[]): readonly Right[] {
  const objects = files.flatMap((file) =>
    parseAllDocuments(readFileSync(file, 'utf8')).map((document) => document.toJS() as Role | Binding),
  );
  const roles = objects.filter((object): object is Role => 'rules' in object);
  const bindings = objects.filter((object): object is Binding => 'roleRef' in object);
  return bindings.flatMap(({ metadata: { namespace }, roleRef, subjects }) => {
    const role = roles.find(
      ({ kind, metadata }) =>
        kind === roleRef.kind && metadata.name === roleRef.name && metadata.namespace === namespace,
    );
    if (role === undefined) throw new Error(`${roleRef.kind} ${roleRef.name} is bound and does not exist`);
    return subjects.flatMap(({ name: account }) => rightsOf(role, account, namespace));
  });
}

const rightsOf = (role: Role, account: string, namespace: string | undefined): readonly Right[] =>
  role.rules.flatMap(({ apiGroups, resources, verbs, resourceNames: names = [] }, rule) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((resource) =>
        verbs.map((verb) => ({ account, verb, group, resource, namespace, names, role, rule })),
      ),
    ),
  );

/** Whether it is this right that allows the request. */
export const allows = (right: Right, asked: Omit<Asked, 'uri' | 'status'>): boolean =>
  right.account === asked.account &&
  right.verb === asked.verb &&
  right.group === asked.group &&
  right.resource === asked.resource &&
  (right.namespace === undefined || right.namespace === asked.namespace) &&
  (right.names.length === 0 || right.names.includes(asked.name));

/** `kubelet-gitops-agent: get nodes`. */
export const titleOf = ({ account, verb, resource, names, namespace }: Right): string =>
  [`${account}: ${verb} ${resource}`, ...names, namespace === undefined ? '' : `in ${namespace}`].join(' ').trim();

/** The role without it. */
export function roleWithout({ role, rule, verb }: Right): Role {
  const rules = role.rules.map((each, index) =>
    index === rule ? { ...each, verbs: each.verbs.filter((other) => other !== verb) } : each,
  );
  return { ...role, rules: rules.filter(({ verbs }) => verbs.length > 0) };
}
