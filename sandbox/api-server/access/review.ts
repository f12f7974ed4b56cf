import type { IncomingMessage } from 'node:http';
import type { Subject, Tokens } from '#sandbox/api-server/access/subject.ts';
import type { ApiVerb, ResourceCall } from '#sandbox/api-server/request/api-call.ts';
import { objectIn, readBytes } from '#sandbox/api-server/request/request-body.ts';
import { badRequest } from '#sandbox/api-server/status/status-refusals.ts';
import { isJson, type Json, memberOf } from '#sandbox/api-server/stored-object.ts';

const REVIEWS: readonly string[] = [
  'authorization.k8s.io/subjectaccessreviews',
  'authorization.k8s.io/selfsubjectaccessreviews',
  'authentication.k8s.io/selfsubjectreviews',
];

/** The reviews that are answered: whether a user, or the caller, may do something, and who the caller is. */
export const isReview = ({ group, version, resource, verb }: ResourceCall): boolean =>
  version === 'v1' && verb === 'create' && REVIEWS.includes(`${group}/${resource}`);

/** Every known caller may ask who it is: by default, Kubernetes binds that right to all of them. */
export const isForEverybody = (call: ResourceCall): boolean => isReview(call) && call.resource === 'selfsubjectreviews';

/** A caller without a token of the sandbox may do nothing. Nothing is stored. @throws Refusal for a body that is no object */
export async function review(
  request: IncomingMessage,
  { tokens }: { readonly tokens: Tokens },
  asking: Subject,
): Promise<Json> {
  const body = objectIn(request, await readBytes(request));
  if (!isJson(body)) throw badRequest('the body is not an object');
  if (body['kind'] === 'SelfSubjectReview') return { ...body, status: { userInfo: { username: asking.user } } };
  const user = memberOf(body, 'spec', 'user');
  const subject = user === undefined ? asking : [...tokens.values()].find((each) => each.user === user);
  const text = (key: string): string | undefined => {
    const value = memberOf(body, 'spec', 'resourceAttributes', key);
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  const call: ResourceCall = {
    verb: (text('verb') ?? 'get') as ApiVerb,
    group: text('group') ?? '',
    version: text('version') ?? '*',
    resource: text('resource') ?? '',
    subresource: text('subresource'),
    namespace: text('namespace'),
    name: text('name'),
  };
  const allowed = subject !== undefined && (subject.may === undefined || subject.may(call));
  return { ...body, status: { allowed } };
}
