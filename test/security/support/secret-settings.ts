import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { REPOSITORY } from '../../support/forge-server.ts';
import { CANARIES, USERS } from './canaries.ts';
import { kubeconfigOf } from '../../support/kubeconfig/one-cluster.ts';

type Env = Readonly<Record<string, string>>;

/** Every secret as the programs find it: in files, as mounted Secrets are, and in kubeconfigs. */
export async function writeSecretFiles(
  directory: string,
  { apiServer, receiver, ca }: Readonly<Record<'apiServer' | 'receiver' | 'ca', string>>,
): Promise<void> {
  const files = {
    'git/username': USERS.git,
    'git/password': CANARIES['password of git'],
    'notes/username': USERS.notes,
    'notes/password': CANARIES['password of notes'],
    webhook: CANARIES['secret of the webhook'],
    forge: CANARIES['token of the forge'],
    prometheus: CANARIES['token of Prometheus'],
    'notifications/url': `${receiver}/${CANARIES['address of a receiver']}`,
    'notifications/key': CANARIES['key of notifications'],
    'notifications/receivers.yaml': RECEIVERS,
    kubeconfig: kubeconfig(apiServer, ca),
    'kubeconfig-broken': `users: [{name: c, user: {token: ${CANARIES['token of the reconciler']}\n`,
    'kubeconfig-address': kubeconfig(`http://u:${CANARIES['password in an address']}@127.0.0.1:1`, ca),
  };
  for (const name of ['git', 'notes', 'notifications']) await mkdir(join(directory, name));
  for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text);
}

const RECEIVERS = JSON.stringify({
  apiVersion: 'kubelet-gitops.dev/v1alpha1',
  kind: 'NotificationReceivers',
  spec: { receivers: [{ name: 'all', type: 'cloudevents', urlFile: 'url', keyFile: 'key', plainHttp: true }] },
});

function kubeconfig(server: string, ca: string): string {
  const authority = Buffer.from(ca).toString('base64');
  const cluster = { server, 'certificate-authority-data': authority };
  return kubeconfigOf(cluster, { token: CANARIES['token of the reconciler'] });
}

/** The reconciler's settings but for addresses and ports: everything on that has a secret, and the most talkative log. */
export const settingsFor = (directory: string): Env => ({
  KUBECONFIG: join(directory, 'kubeconfig'),
  CLUSTER: 'demo',
  GIT_CREDENTIALS_DIR: join(directory, 'git'),
  NOTES_CREDENTIALS_DIR: join(directory, 'notes'),
  NOTES_INTERVAL: '1s',
  POLL_INTERVAL: '1s',
  FORGE: 'gitea',
  FORGE_REPOSITORY: REPOSITORY,
  FORGE_TOKEN_FILE: join(directory, 'forge'),
  WEBHOOK_SECRET_FILE: join(directory, 'webhook'),
  NOTIFICATIONS_FILE: join(directory, 'notifications', 'receivers.yaml'),
  PROMETHEUS_TOKEN_FILE: join(directory, 'prometheus'),
  LOG_LEVEL: 'trace',
});

export interface BadStart {
  /** What is wrong. */
  readonly name: string;
  readonly program: 'agent' | 'reconciler' | 'cli';
  readonly env: Env;
  /** What it has to say. */
  readonly why: RegExp;
}

/** Settings that are mistaken and have a secret in them. */
export function badStarts(good: Env, directory: string): readonly BadStart[] {
  const url = CANARIES['password in an address'];
  const reconciler = (name: string, wrong: Env, why: RegExp): BadStart => ({
    name,
    program: 'reconciler',
    env: { ...good, ...wrong },
    why,
  });
  return [
    reconciler('an address of git', { GIT_URL: `https://u:${url}@git.invalid/a.git` }, /credential/),
    reconciler('no address of git', { GIT_URL: `https://u:${url}@git invalid/` }, /address/),
    reconciler('an address over SSH', { GIT_URL: `ssh://u:${url}@git.invalid/a.git` }, /\S/),
    reconciler('an address of the forge', { FORGE_API_URL: `https://u:${url}@f.invalid/ x` }, /\S/),
    reconciler('an address of Prometheus', { PROMETHEUS_TOKEN_URL: `://u:${url}@p` }, /PROMETHEUS/),
    reconciler('a broken kubeconfig', { KUBECONFIG: join(directory, 'kubeconfig-broken') }, /YAML/),
    {
      name: 'an address of the API server',
      program: 'cli',
      env: { KUBECONFIG: join(directory, 'kubeconfig-address') },
      why: /\S/,
    },
    {
      name: 'the agent’s API server',
      program: 'agent',
      env: { NODE_NAME: 'a', KUBE_SERVER: `x://u:${url}@k` },
      why: /KUBE_SERVER/,
    },
  ];
}
