import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** One request as the API server saw it. */
export interface AuditedRequest {
  readonly user: string;
  /** `watch kubeletnodes`, `patch kubeletnodes/status`. */
  readonly what: string;
  readonly atMs: number;
}

/** The API server's own count of who asks it for what. */
export interface Audit {
  readonly apiServerArgs: readonly string[];
  /** Each request once, when it came in. */
  readonly requests: () => Promise<readonly AuditedRequest[]>;
  readonly remove: () => Promise<void>;
}

/** Only when each came in is of use, and the log must not be so long that a new one is begun. */
const OTHER_STAGES = ['ResponseStarted', 'ResponseComplete', 'Panic'];

/** @param user the only one whose requests count; default: everybody */
export async function prepareAudit(user?: string): Promise<Audit> {
  const directory = await mkdtemp(join(tmpdir(), 'kubelet-gitops-audit-'));
  const policy = join(directory, 'policy.yaml');
  const log = join(directory, 'audit.log');
  const rules = [
    { level: 'Metadata', ...(user === undefined ? {} : { users: [user] }) },
    ...(user === undefined ? [] : [{ level: 'None' }]),
  ];
  await writeFile(
    policy,
    JSON.stringify({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', omitStages: OTHER_STAGES, rules }),
  );
  return {
    apiServerArgs: [`--audit-policy-file=${policy}`, `--audit-log-path=${log}`],
    async requests() {
      const text = await readFile(log, 'utf8').catch(() => '');
      // The last line may not be there wholly.
      const events = text
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line) as AuditEvent);
      return events.filter(({ stage }) => stage === 'RequestReceived').map(asRequest);
    },
    remove: () => rm(directory, { recursive: true, force: true }),
  };
}

interface AuditEvent {
  readonly stage: string;
  readonly verb: string;
  readonly user: { readonly username: string };
  readonly objectRef?: { readonly resource: string; readonly subresource?: string };
  readonly requestReceivedTimestamp: string;
}

function asRequest({ verb, user, objectRef, requestReceivedTimestamp }: AuditEvent): AuditedRequest {
  const { resource = '-', subresource } = objectRef ?? {};
  const what = `${verb} ${subresource === undefined ? resource : `${resource}/${subresource}`}`;
  return { user: user.username, what, atMs: Date.parse(requestReceivedTimestamp) };
}
