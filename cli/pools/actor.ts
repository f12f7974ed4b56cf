import { clusterWide, type Resource } from '#shared/kube/kube.ts';
import type { Transport } from '#shared/kube/transport.ts';

const MOST_BYTES = 1024 * 1024;

/** API servers have it from 1.26 on, and by this version from 1.28 on. Everybody may ask. */
const reviews = (version: string): Resource => clusterWide(`authentication.k8s.io/${version}`, 'SelfSubjectReview');

/** The user's name on the API server; undefined if it does not say. Never rejects. */
export async function readActor(transport: Transport): Promise<string | undefined> {
  for (const version of ['v1', 'v1beta1']) {
    const resource = reviews(version);
    const body = { apiVersion: `${resource.group}/${version}`, kind: resource.kind };
    const answer = await transport
      .ask({ verb: 'create', resource, body }, MOST_BYTES, undefined)
      .catch(() => undefined);
    if (answer === undefined) return undefined;
    if (answer.ok) return nameIn(answer.body);
  }
  return undefined;
}

function nameIn(body: unknown): string | undefined {
  const review = body as { readonly status?: { readonly userInfo?: { readonly username?: unknown } } } | null;
  const name = review?.status?.userInfo?.username;
  return typeof name === 'string' && name !== '' ? name : undefined;
}
