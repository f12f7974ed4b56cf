import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** One request that a service account of ours made, as the API server took it down. */
export interface Asked {
  /** `kubelet-gitops-agent`. */
  readonly account: string;
  readonly verb: string;
  readonly group: string;
  /** With its subresource: `nodes/status`. */
  readonly resource: string;
  /** '' for what has none. */
  readonly namespace: string;
  readonly name: string;
  readonly uri: string;
  /** 0 where somebody else asked on its behalf (a kubelet, whether it may read /configz). */
  readonly status: number;
}

/** The API server's record of who asked for what. */
export interface Audit {
  readonly apiServerArgs: readonly string[];
  /** Everything that accounts of the namespace asked for until now. */
  readonly asked: () => Promise<readonly Asked[]>;
}

const OF_OURS = 'system:serviceaccount:kubelet-gitops:';
const POLICY = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [
    // Kubelets ask on behalf of whoever shows them a token.
    { level: 'Request', resources: [{ group: 'authorization.k8s.io', resources: ['subjectaccessreviews'] }] },
    { level: 'Metadata', userGroups: ['system:serviceaccounts:kubelet-gitops'] },
    { level: 'None' },
  ],
};

/** @param directory where the policy and the log go; it has to exist */
export async function prepareAudit(directory: string): Promise<Audit> {
  const policy = join(directory, 'audit-policy.json');
  const log = join(directory, 'audit.log');
  await writeFile(policy, JSON.stringify(POLICY));
  return {
    apiServerArgs: [`--audit-policy-file=${policy}`, `--audit-log-path=${log}`, '--audit-log-mode=blocking'],
    async asked() {
      // The last one may be in the middle of being written.
      const lines = (await readFile(log, 'utf8'))
        .split('\n')
        .slice(0, -1)
        .filter((line) => line.startsWith('{'));
      return lines.flatMap((line) => askedIn(JSON.parse(line) as AuditEvent));
    },
  };
}

interface Attributes {
  readonly resource: string;
  readonly subresource?: string;
  readonly apiGroup?: string;
  readonly group?: string;
  readonly namespace?: string;
  readonly name?: string;
}
interface AuditEvent {
  readonly verb: string;
  readonly requestURI: string;
  readonly user: { readonly username: string };
  readonly objectRef?: Attributes;
  readonly responseStatus?: { readonly code: number };
  readonly requestObject?: {
    readonly spec?: { readonly user?: string; readonly resourceAttributes?: Attributes & { readonly verb: string } };
  };
}

function askedIn({
  verb,
  requestURI: uri,
  user,
  objectRef,
  responseStatus,
  requestObject,
}: AuditEvent): readonly Asked[] {
  const behalf = requestObject?.spec;
  if (behalf?.user?.startsWith(OF_OURS) === true && behalf.resourceAttributes !== undefined) {
    const { verb: asked } = behalf.resourceAttributes;
    return [{ ...placeOf(behalf.resourceAttributes), account: accountOf(behalf.user), verb: asked, uri, status: 0 }];
  }
  if (!user.username.startsWith(OF_OURS) || objectRef === undefined) return [];
  return [{ ...placeOf(objectRef), account: accountOf(user.username), verb, uri, status: responseStatus?.code ?? 0 }];
}

const accountOf = (user: string): string => user.slice(OF_OURS.length);

const placeOf = ({ apiGroup, group, resource, subresource, namespace = '', name = '' }: Attributes) => ({
  group: apiGroup ?? group ?? '',
  resource: subresource === undefined || subresource === '' ? resource : `${resource}/${subresource}`,
  namespace,
  name,
});
