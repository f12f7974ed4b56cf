import type { Resource } from '#shared/kube/kube.ts';
import { type Cause, Refusal, type StatusDetails } from '#sandbox/api-server/status/refusal.ts';

// Reasons, codes and wording are those of a kube-apiserver 1.20.2 asked the same.

/** `kubeletnodes.kubelet-gitops.dev`; core resources have no group. */
export const qualified = (group: string, name: string): string => (group === '' ? name : `${name}.${group}`);

const details = ({ group }: Resource, kind: string, name: string): StatusDetails => ({
  ...(name === '' ? {} : { name }),
  ...(group === '' ? {} : { group }),
  kind,
});

export function notFound(resource: Resource, name: string): Refusal {
  const { group, plural } = resource;
  return new Refusal(
    404,
    'NotFound',
    `${qualified(group, plural)} "${name}" not found`,
    details(resource, plural, name),
  );
}

export function alreadyExists(resource: Resource, name: string): Refusal {
  const { group, plural } = resource;
  const message = `${qualified(group, plural)} "${name}" already exists`;
  return new Refusal(409, 'AlreadyExists', message, details(resource, plural, name));
}

/** @param of what the message names: the plural, or the kind (as the real server does for deletions) */
export function conflict(resource: Resource, name: string, why: string, of: 'plural' | 'kind' = 'plural'): Refusal {
  const message = `Operation cannot be fulfilled on ${qualified(resource.group, resource[of])} "${name}": ${why}`;
  return new Refusal(409, 'Conflict', message, details(resource, resource[of], name));
}

export const STALE = 'the object has been modified; please apply your changes to the latest version and try again';

/** @param of what the message names: the kind, or the plural (as the real server does for a missing resourceVersion) */
export function invalid(
  resource: Resource,
  name: string,
  causes: readonly Cause[],
  of: 'kind' | 'plural' = 'kind',
): Refusal {
  const lines = causes.map(({ field, message }) => `${field}: ${message}`);
  const what = lines.length === 1 ? lines[0] : `[${lines.join(', ')}]`;
  const message = `${qualified(resource.group, resource[of])} "${name}" is invalid: ${what}`;
  return new Refusal(422, 'Invalid', message, { ...details(resource, resource[of], name), causes });
}

export const badRequest = (message: string): Refusal => new Refusal(400, 'BadRequest', message);

/** A patch whose result cannot be read as the type. */
export function patchUnreadable(why: string): Refusal {
  const cause: Cause = { reason: 'FieldValueInvalid', message: `Invalid value: "...": ${why}`, field: 'patch' };
  return new Refusal(422, 'Invalid', ` "" is invalid: patch: ${cause.message}`, { causes: [cause] });
}

export const unclassified = (message: string): Refusal => new Refusal(500, undefined, message);

export const noSuchPath = (): Refusal =>
  new Refusal(404, 'NotFound', 'the server could not find the requested resource', {});

export const methodNotAllowed = (): Refusal =>
  new Refusal(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {});

export const unauthorized = (): Refusal => new Refusal(401, 'Unauthorized', 'Unauthorized');

export function unsupportedMediaType(accepted: readonly string[]): Refusal {
  const message = `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`;
  return new Refusal(415, 'UnsupportedMediaType', message);
}

export const notAcceptable = (message: string): Refusal => new Refusal(406, 'NotAcceptable', message);

export const expired = (message: string): Refusal => new Refusal(410, 'Expired', message);

export function tooOld(asked: number, oldest: number): Refusal {
  return expired(`too old resource version: ${asked} (${oldest})`);
}

export function tooNew(asked: number, current: number): Refusal {
  const message = `Timeout: Too large resource version: ${asked}, current: ${current}`;
  return new Refusal(504, 'Timeout', message, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  });
}

export const noSuchStrategy = (): Refusal =>
  new Refusal(415, 'UnsupportedMediaType', 'the sandbox has a strategic merge of conditions only: send a merge patch');
