import { clusterWide } from '#shared/kube/kube.ts';
import { DEFAULT_NAMESPACE } from '#shared/contract/api/group.ts';
import type { Transport } from '#shared/kube/transport.ts';
import { RIGHTS } from '../installation.generated.ts';
import type { Right } from '../rights.ts';

const ACCESS_REVIEWS = clusterWide('authorization.k8s.io/v1', 'SubjectAccessReview');
const MOST_BYTES = 1024 * 1024;

/** The manifests' namespace stands for the one that is asked about. */
export const rightsIn = (namespace: string): readonly Right[] =>
  RIGHTS.map((right) => (right.namespace === DEFAULT_NAMESPACE ? { ...right, namespace } : right));

/**
 * Those rights of the two service accounts that the API server says they lack. Nothing is stored by the question.
 *
 * @throws KubeError without the right to ask (the verb "create" on subjectaccessreviews)
 */
export async function readMissingRights(transport: Transport, namespace: string): Promise<readonly Right[]> {
  const answers = await Promise.all(
    rightsIn(namespace).map(async (right) => ({ right, has: await isAllowed(transport, namespace, right) })),
  );
  return answers.filter(({ has }) => !has).map(({ right }) => right);
}

async function isAllowed(transport: Transport, accounts: string, right: Right): Promise<boolean> {
  const [resource, subresource] = right.resource.split('/');
  const { group, verb, name, namespace } = right;
  const spec = {
    user: `system:serviceaccount:${accounts}:${right.account}`,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${accounts}`, 'system:authenticated'],
    resourceAttributes: { group, version: '*', resource, subresource, verb, name, namespace },
  };
  const body = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec };
  const answer = await transport.ask({ verb: 'create', resource: ACCESS_REVIEWS, body }, MOST_BYTES, undefined);
  if (!answer.ok) throw answer.error;
  const status = (answer.body as { readonly status?: { readonly allowed?: boolean } } | null)?.status;
  return status?.allowed === true;
}
