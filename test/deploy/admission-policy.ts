import { readFileSync } from 'node:fs';
import { Environment } from '@marcbachmann/cel-js';
import { parseAllDocuments } from 'yaml';

interface Expression {
  readonly name: string;
  readonly expression: string;
}
interface ResourceRule {
  readonly apiGroups: readonly string[];
  readonly apiVersions: readonly string[];
  readonly operations: readonly string[];
  readonly resources: readonly string[];
}
export interface Policy {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly failurePolicy: 'Fail' | 'Ignore';
    readonly matchConstraints: {
      readonly resourceRules: readonly ResourceRule[];
      readonly namespaceSelector?: { readonly matchLabels: Readonly<Record<string, string>> };
    };
    readonly matchConditions?: readonly Expression[];
    readonly variables?: readonly Expression[];
    readonly validations: readonly {
      readonly expression: string;
      readonly message?: string;
      readonly messageExpression?: string;
    }[];
  };
}
export interface Binding {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: { readonly policyName: string; readonly validationActions: readonly string[] };
}

/** What the API server knows of a request when it admits it. Shape of `admission.k8s.io/v1` AdmissionRequest. */
export interface AdmissionRequest {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE';
  readonly resource: { readonly group: string; readonly version: string; readonly resource: string };
  readonly subResource: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly userInfo: { readonly username: string; readonly extra?: Readonly<Record<string, readonly string[]>> };
}

/** The object as it is to be, and as it was; null where there is none. */
export interface Objects {
  readonly object?: unknown;
  readonly oldObject?: unknown;
  /** What the authorizer grants who asks, as `approve kubeletpools.kubelet-gitops.dev/gpu`; absent for nothing. */
  readonly grants?: readonly string[];
}

/** The authorizer as expressions ask it. Source: k8s.io/apiserver/pkg/cel/library, authz. */
class Authorizer {
  readonly grants: readonly string[];
  readonly asked: Readonly<Record<'group' | 'resource' | 'name' | 'check', string>>;
  constructor(
    grants: readonly string[],
    asked: Authorizer['asked'] = { group: '', resource: '', name: '', check: '' },
  ) {
    this.grants = grants;
    this.asked = asked;
  }
  allowed(): boolean {
    const { group, resource, name, check } = this.asked;
    return this.grants.includes(`${check} ${resource}.${group}/${name}`);
  }
}

function withAuthorizer(cel: Environment): Environment {
  cel.registerType('Authorizer', Authorizer);
  for (const part of ['group', 'resource', 'name', 'check'] as const) {
    cel.registerFunction(
      `Authorizer.${part}(string): Authorizer`,
      ({ grants, asked }: Authorizer, value: string) => new Authorizer(grants, { ...asked, [part]: value }),
    );
  }
  return cel.registerFunction('Authorizer.allowed(): bool', (authorizer: Authorizer) => authorizer.allowed());
}

export type Verdict = { readonly admitted: true } | { readonly admitted: false; readonly why: readonly string[] };

export const readDocuments = (file: string): readonly { readonly kind: string }[] =>
  parseAllDocuments(readFileSync(file, 'utf8')).map((document) => document.toJS() as { readonly kind: string });

/**
 * What an API server would say by one policy: constraints first, then conditions, then every validation; what cannot be
 * evaluated counts as the policy's `failurePolicy` says.
 *
 * Source: Kubernetes, "Validating Admission Policy"; k8s.io/apiserver/pkg/admission/plugin/policy/validating.
 */
export function judge({ spec }: Policy, request: AdmissionRequest, objects: Objects = {}): Verdict {
  if (!spec.matchConstraints.resourceRules.some((rule) => matches(rule, request))) return { admitted: true };
  const namespace = spec.matchConstraints.namespaceSelector?.matchLabels['kubernetes.io/metadata.name'];
  if (namespace !== undefined && namespace !== request.namespace) return { admitted: true };
  const cel = withAuthorizer(new Environment({ enableOptionalTypes: true, unlistedVariablesAreDyn: true }));
  const { object = null, oldObject = null, grants = [] } = objects;
  // What is empty is not there at all: an expression that asks for it without has() cannot be evaluated.
  const { subResource, ...rest } = request;
  const context = {
    request: subResource === '' ? rest : request,
    object,
    oldObject,
    authorizer: new Authorizer(grants),
    variables: {},
  };
  const evaluate = (expression: string): unknown => cel.evaluate(expression, context);
  try {
    if ((spec.matchConditions ?? []).some(({ expression }) => evaluate(expression) !== true)) return { admitted: true };
    for (const { name, expression } of spec.variables ?? []) {
      Object.assign(context.variables, { [name]: evaluate(expression) });
    }
    const why = spec.validations.flatMap(({ expression, message, messageExpression }) =>
      evaluate(expression) === true ? [] : [String(messageExpression ? evaluate(messageExpression) : message)],
    );
    return why.length === 0 ? { admitted: true } : { admitted: false, why };
  } catch (error) {
    if (spec.failurePolicy === 'Ignore') return { admitted: true };
    return { admitted: false, why: [`it cannot be evaluated: ${String(error)}`] };
  }
}

const matches = (rule: ResourceRule, { operation, resource, subResource }: AdmissionRequest): boolean => {
  const among = (list: readonly string[], value: string): boolean => list.includes('*') || list.includes(value);
  const full = subResource === '' ? resource.resource : `${resource.resource}/${subResource}`;
  return (
    among(rule.apiGroups, resource.group) &&
    among(rule.apiVersions, resource.version) &&
    among(rule.operations, operation) &&
    (among(rule.resources, full) || (subResource !== '' && rule.resources.includes(`${resource.resource}/*`)))
  );
};
