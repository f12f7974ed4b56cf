import type { IncomingMessage } from 'node:http';
import type { ApiCall, ResourceCall } from '#sandbox/api-server/request/api-call.ts';
import { Refusal } from '#sandbox/api-server/status/refusal.ts';
import { qualified, unauthorized } from '#sandbox/api-server/status/status-refusals.ts';

/** The holder of a token. */
export interface Subject {
  /** `system:serviceaccount:kubelet-gitops:kubelet-gitops-agent`. */
  readonly user: string;
  /** What it may do with resources; everything where left out. */
  readonly may?: (call: ResourceCall) => boolean;
}

/** Who shows which bearer token. */
export type Tokens = ReadonlyMap<string, Subject>;

/** @param tokens subjects by token, or tokens alone, which then may do everything */
export function readTokens(tokens: readonly string[] | Readonly<Record<string, Subject>>): Tokens {
  return new Map<string, Subject>(
    isList(tokens)
      ? tokens.map((token, index) => [token, { user: `administrator-${index + 1}` }])
      : Object.entries(tokens),
  );
}

const isList = (tokens: readonly string[] | object): tokens is readonly string[] => Array.isArray(tokens);

const NOBODY: Subject = { user: 'system:anonymous', may: () => false };

/**
 * @param anonymous the user of a request without a token; default: one without rights
 * @throws Refusal 401 for an unknown token
 */
export function subjectOf({ headers }: IncomingMessage, tokens: Tokens, anonymous: Subject = NOBODY): Subject {
  const { authorization } = headers;
  if (authorization === undefined) return anonymous;
  const subject = tokens.get(/^Bearer +(\S+)$/i.exec(authorization)?.[1] ?? '');
  if (subject === undefined) throw unauthorized();
  return subject;
}

/** Paths that are open to everybody who is not refused (system:public-info-viewer). */
const PUBLIC = /^\/(healthz|livez|readyz|version)(\/|$)/;

/** @throws Refusal 403 */
export function requireRight({ user, may }: Subject, { path, method, of }: ApiCall): void {
  if (of === undefined) {
    if (PUBLIC.test(path) || user !== NOBODY.user) return;
    const message = `forbidden: User "${user}" cannot ${method.toLowerCase()} path "${path}"`;
    throw new Refusal(403, 'Forbidden', message, {});
  }
  if (may === undefined || may(of)) return;
  const { group, resource, subresource, namespace, verb, name } = of;
  const object = name === undefined ? '' : ` "${name}"`;
  const full = subresource === undefined ? resource : `${resource}/${subresource}`;
  const where = namespace === undefined ? 'at the cluster scope' : `in the namespace "${namespace}"`;
  const message = `${qualified(group, resource)}${object} is forbidden: User "${user}" cannot ${verb} resource "${full}" in API group "${group}" ${where}`;
  throw new Refusal(403, 'Forbidden', message, {
    ...(name === undefined ? {} : { name }),
    ...(group === '' ? {} : { group }),
    kind: resource,
  });
}
