import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { readReconcilerSettings } from '#reconciler/settings.ts';
import { withComponent } from './component.ts';

interface Deployment {
  readonly kind: string;
  readonly spec: {
    readonly selector: { readonly matchLabels: Readonly<Record<string, string>> };
    readonly template: {
      readonly spec: {
        readonly containers: readonly {
          readonly env: readonly { readonly name: string; readonly value?: string }[];
          readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
          readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
        }[];
        readonly volumes: readonly { readonly name: string }[];
      };
    };
  };
}

describe('the component signed-commits', () => {
  it('wants signatures, and names keys that are mounted', () => {
    const { spec } = withComponent(
      parse(readFileSync('deploy/reconciler/deployment.yaml', 'utf8')) as Deployment,
      'signed-commits',
    );
    const [container] = spec.template.spec.containers;
    const own = (container?.env ?? []).filter(({ value }) => value !== undefined);
    const env = Object.fromEntries(own.map(({ name, value }) => [name, value]));
    const settings = readReconcilerSettings({ CLUSTER: 'demo', GIT_URL: 'https://git.example.com/a.git', ...env });
    assert.equal(settings.signedCommits, 'on');
    const mount = container?.volumeMounts.find(({ name }) => name === 'trusted-keys');
    assert.equal(settings.trustedKeysDir, mount?.mountPath);
    assert.ok(spec.template.spec.volumes.some(({ name }) => name === 'trusted-keys'));
    const merging = container?.volumeMounts.find(({ name }) => name === 'merge-keys');
    assert.equal(settings.mergeKeysDir, merging?.mountPath);
    assert.notEqual(settings.mergeKeysDir, settings.trustedKeysDir);
    assert.ok(spec.template.spec.volumes.some(({ name }) => name === 'merge-keys'));
  });

  it('cannot be half switched on', () => {
    const env = { CLUSTER: 'demo', GIT_URL: 'https://git.example.com/a.git', REQUIRE_SIGNED_COMMITS: 'on' };
    assert.throws(() => readReconcilerSettings(env), /without TRUSTED_KEYS_DIR would refuse every commit/);
  });
});

describe('the component signed-notes', () => {
  it('names a key that is mounted', () => {
    const bare = parse(readFileSync('deploy/reconciler/deployment.yaml', 'utf8')) as Deployment;
    const { spec } = withComponent(bare, 'signed-notes');
    const [container] = spec.template.spec.containers;
    const file = container?.env.find(({ name }) => name === 'NOTES_SIGNING_KEY_PATH')?.value ?? '';
    const mount = container?.volumeMounts.find(({ name }) => name === 'notes-signing');
    assert.equal(file, `${mount?.mountPath}/key`);
    assert.ok(spec.template.spec.volumes.some(({ name }) => name === 'notes-signing'));
  });
});

describe('the component status-page', () => {
  const bare = parse(readFileSync('deploy/reconciler/deployment.yaml', 'utf8')) as Deployment;
  const settingsOf = ({ spec }: Deployment) => {
    const { env = [] } = spec.template.spec.containers[0] ?? {};
    const set = Object.fromEntries(
      env.filter(({ value }) => value !== undefined).map(({ name, value }) => [name, value]),
    );
    return readReconcilerSettings({ CLUSTER: 'demo', GIT_URL: 'https://git.example.com/a.git', ...set });
  };

  it('is what opens the page to the cluster: without it only the pod itself reaches it', () => {
    assert.equal(settingsOf(bare).statusPage, 'local');
    assert.equal(settingsOf(withComponent(bare, 'status-page')).statusPage, 'cluster');
  });

  it('leads the Service to the port that the page listens on', () => {
    const deployment = withComponent(bare, 'status-page');
    const port = deployment.spec.template.spec.containers[0]?.ports.find(({ name }) => name === 'status');
    assert.equal(port?.containerPort, settingsOf(deployment).statusPort);
    const service = parse(readFileSync('deploy/components/status-page/service.yaml', 'utf8')) as {
      readonly spec: {
        readonly selector: Readonly<Record<string, string>>;
        readonly ports: readonly { readonly targetPort: string }[];
        readonly type?: string;
      };
    };
    assert.equal(service.spec.ports[0]?.targetPort, 'status');
    assert.deepEqual(service.spec.selector, deployment.spec.selector.matchLabels);
    assert.equal(service.spec.type ?? 'ClusterIP', 'ClusterIP');
  });
});

describe('the component webhook', () => {
  const { spec } = withComponent(
    parse(readFileSync('deploy/reconciler/deployment.yaml', 'utf8')) as Deployment,
    'webhook',
  );
  const { containers, volumes } = spec.template.spec;
  const [container] = containers;
  assert.ok(container !== undefined);

  it('names a secret file that is mounted', () => {
    const file = container.env.find(({ name }) => name === 'WEBHOOK_SECRET_FILE')?.value ?? '';
    const mount = container.volumeMounts.find(({ name }) => name === 'webhook-secret');
    assert.equal(file, `${mount?.mountPath}/secret`);
    assert.ok(volumes.some(({ name }) => name === 'webhook-secret'));
  });

  it('leads to the port that is listened on', () => {
    const { webhookPort } = readReconcilerSettings({ CLUSTER: 'demo', GIT_URL: 'https://git.example.com/a.git' });
    assert.equal(container.ports.find(({ name }) => name === 'webhook')?.containerPort, webhookPort);
    const service = parse(readFileSync('deploy/components/webhook/service.yaml', 'utf8')) as {
      readonly spec: {
        readonly selector: object;
        readonly ports: readonly { readonly targetPort: string }[];
      };
    };
    assert.deepEqual(service.spec.selector, spec.selector.matchLabels);
    assert.equal(service.spec.ports[0]?.targetPort, 'webhook');
  });
});

describe('the component notifications', () => {
  const bare = parse(readFileSync('deploy/reconciler/deployment.yaml', 'utf8')) as Deployment;
  const { containers, volumes } = withComponent(bare, 'notifications').spec.template.spec;

  it('names a file in the one directory where the ConfigMap and the Secret are mounted', () => {
    const file = containers[0]?.env.find(({ name }) => name === 'NOTIFICATIONS_FILE')?.value ?? '';
    const env = { CLUSTER: 'demo', GIT_URL: 'https://git.example.com/a.git', NOTIFICATIONS_FILE: file };
    assert.equal(readReconcilerSettings(env).notificationsFile, file);
    const mount = containers[0]?.volumeMounts.find(({ name }) => name === 'notifications');
    assert.equal(file, `${mount?.mountPath}/receivers.yaml`);
    assert.deepEqual(
      volumes.find(({ name }) => name === 'notifications'),
      {
        name: 'notifications',
        projected: {
          // Octal, as kustomize and kubectl read it.
          defaultMode: 440,
          sources: [
            { configMap: { name: 'kubelet-gitops-notifications' } },
            { secret: { name: 'kubelet-gitops-notifications' } },
          ],
        },
      },
    );
  });
});
