import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { grantedTo } from '../support/granted-rights.ts';
import { startApiServer } from '#sandbox/api-server/server.ts';
import { createKube } from '#shared/kube/client.ts';
import { staticCredentials } from '#shared/kube/kube-credentials.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { conformance } from './suite.ts';
import { PATIENT } from '../shared/kube/support/test-kube.ts';
import { rawClient } from './support/raw.ts';

const RBAC = join(import.meta.dirname, '..', '..', 'deploy', 'rbac', 'agent.yaml');
const AGENT = { namespace: 'kubelet-gitops', name: 'kubelet-gitops-agent' };

conformance('the sandbox is an API server', async () => {
  const manifests = parseAllDocuments(await readFile(RBAC, 'utf8')).map((document): unknown => document.toJS());
  const user = `system:serviceaccount:${AGENT.namespace}:${AGENT.name}`;
  const tokens = { admin: { user: 'admin' }, agent: { user, may: grantedTo(AGENT, manifests) } };
  const server = await startApiServer({ tokens });
  const token = 'admin';
  return {
    kube: createKube({
      server: server.url,
      credentials: staticCredentials({ token }),
      clock: systemClock,
      log: silentLog,
      userAgent: 'conformance',
      timeouts: PATIENT,
    }),
    raw: rawClient({ url: server.url, token }),
    minor: 37,
    agentToken: 'agent',
    forgetHistory: () => Promise.resolve(server.compact()),
    close: server.stop,
  };
});
