import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { withComponent } from './component.ts';
import { column } from '../support/columns.ts';

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly rules?: readonly {
    readonly resources: readonly string[];
    readonly verbs: readonly string[];
    readonly resourceNames?: readonly string[];
  }[];
  readonly spec?: {
    readonly minReadySeconds?: number;
    readonly template?: {
      readonly metadata?: { readonly annotations: Readonly<Record<string, string>> };
      readonly spec: PodSpec;
    };
  };
}
interface VolumeMount {
  readonly name: string;
  readonly mountPath: string;
  readonly readOnly?: boolean;
  readonly mountPropagation?: string;
}
interface PodSpec {
  readonly hostPID?: boolean;
  readonly containers: readonly {
    readonly securityContext: Record<string, unknown>;
    readonly env?: readonly { readonly name: string; readonly value?: string }[];
    readonly readinessProbe?: { readonly exec: { readonly command: readonly string[] } };
    readonly volumeMounts?: readonly VolumeMount[];
  }[];
  readonly volumes?: readonly { readonly name: string; readonly hostPath?: { readonly path: string } }[];
}

const files = ['deploy/{rbac,reconciler,namespace}/*.yaml', 'deploy/agent/daemonset.yaml'];
const manifests = globSync(files).flatMap((file) =>
  parseAllDocuments(readFileSync(file, 'utf8')).map((document) => document.toJS() as Manifest),
);
const named = (kind: string, name: string): Manifest => {
  const found = manifests.find((manifest) => manifest.kind === kind && manifest.metadata.name === name);
  assert.ok(found, `${kind} ${name}`);
  return found;
};
const pod = (kind: string, name: string): PodSpec => named(kind, name).spec?.template?.spec ?? { containers: [] };
const agent = pod('DaemonSet', 'kubelet-gitops-agent');
const reconciler = pod('Deployment', 'kubelet-gitops-reconciler');

describe('the manifests', () => {
  it('run nothing privileged, with no capability, on a read-only root', () => {
    for (const container of [...agent.containers, ...reconciler.containers]) {
      const { privileged, capabilities, readOnlyRootFilesystem, allowPrivilegeEscalation } = container.securityContext;
      assert.equal(privileged, undefined);
      assert.deepEqual(capabilities, { drop: ['ALL'] });
      assert.equal(readOnlyRootFilesystem, true);
      assert.equal(allowPrivilegeEscalation, false);
    }
  });

  it('give the agent five places of the host, two of them to look at only, and not its processes', () => {
    const paths = new Map((agent.volumes ?? []).map(({ name, hostPath }) => [name, hostPath?.path]));
    const mounts = agent.containers.flatMap(({ volumeMounts }) => volumeMounts ?? []);
    const places = mounts.map(({ name, readOnly }) => `${paths.get(name)} ${readOnly === true ? 'ro' : 'rw'}`);
    assert.deepEqual(places, [
      // The kubelet's config file is replaced by renaming.
      '/var/lib/kubelet rw',
      '/var/lib/kubelet-gitops rw',
      // systemd; connecting to its socket takes no write access.
      '/run/dbus ro',
      // The guard has to be where systemd reads it at the next boot.
      '/etc/systemd/system/kubelet.service.d rw',
      // Preflight: a config may name any path of the host. An attacker with the bus could read it anyway.
      '/ ro',
    ]);
    assert.equal(agent.hostPID, undefined);
  });

  it('have the host’s paths where the host has them, because systemd and the guard are told of them', () => {
    const paths = new Map((agent.volumes ?? []).map(({ name, hostPath }) => [name, hostPath?.path]));
    for (const { name, mountPath } of agent.containers.flatMap(({ volumeMounts }) => volumeMounts ?? [])) {
      assert.equal(mountPath, name === 'host' ? '/host' : paths.get(name));
    }
  });

  it('hold no volume of another pod: what has mounts below it follows the host', () => {
    const mounts = agent.containers.flatMap(({ volumeMounts }) => volumeMounts ?? []);
    const following = mounts.filter(({ mountPropagation }) => mountPropagation === 'HostToContainer');
    assert.deepEqual(column(following, 'mountPath'), ['/var/lib/kubelet', '/host']);
  });

  it('let no kubelet that is on trial kill the agent by a probe', () => {
    for (const container of agent.containers) {
      assert.deepEqual(
        Object.keys(container).filter((key) => key.endsWith('Probe')),
        [],
      );
    }
  });

  it('say the same of AppArmor to kubelets of all versions', () => {
    const template = named('DaemonSet', 'kubelet-gitops-agent').spec?.template;
    const annotation = template?.metadata?.annotations['container.apparmor.security.beta.kubernetes.io/agent'];
    assert.equal(annotation, 'unconfined');
    assert.deepEqual(agent.containers[0]?.securityContext['appArmorProfile'], { type: 'Unconfined' });
  });

  it('give the reconciler nothing of the host', () => {
    assert.deepEqual(
      (reconciler.volumes ?? []).filter((volume) => volume.hostPath !== undefined),
      [],
    );
  });

  it('let nobody read secrets, and nobody do everything', () => {
    const rules = manifests.flatMap((manifest) => manifest.rules ?? []);
    assert.ok(rules.length > 10);
    for (const { resources, verbs } of rules) {
      assert.ok(
        !resources.includes('secrets') && !resources.includes('*') && !verbs.includes('*'),
        JSON.stringify(resources),
      );
    }
  });

  it('let agents write nothing but status, and the reconciler no status of a node', () => {
    const writes = (name: string): readonly string[] =>
      manifests
        .filter((manifest) => manifest.metadata.name === name)
        .flatMap((manifest) => manifest.rules ?? [])
        .filter(({ verbs }) => verbs.some((verb) => !['get', 'list', 'watch'].includes(verb)))
        .flatMap(({ resources }) => resources);
    assert.deepEqual(writes('kubelet-gitops-agent'), ['kubeletnodes/status']);
    assert.ok(!writes('kubelet-gitops-reconciler').includes('kubeletnodes/status'));
  });
});

describe('the components', () => {
  const patched = (component: string) => {
    const { spec } = withComponent(named('DaemonSet', 'kubelet-gitops-agent'), component);
    const container = spec?.template?.spec.containers[0];
    assert.ok(spec !== undefined && container !== undefined);
    return { spec, container };
  };

  it('uninstall: the agent gives the node up, and its pod is ready when nothing is left', () => {
    const { spec, container } = patched('uninstall');
    assert.deepEqual(
      container.env?.filter(({ name }) => name === 'MODE'),
      [{ name: 'MODE', value: 'uninstall' }],
    );
    // test/cluster/since-1.30/removal.test.ts plays it.
    assert.equal(spec.minReadySeconds, 90);
    const [program, flag, script = ''] = container.readinessProbe?.exec.command ?? [];
    assert.deepEqual([program, flag], ['/usr/bin/node', '--eval']);
    const readiness = (directory: string): number | null =>
      spawnSync(process.execPath, ['--eval', script.replace('/var/lib/kubelet-gitops', directory)]).status;
    const directory = mkdtempSync(join(tmpdir(), 'kubelet-gitops-ready-'));
    try {
      assert.equal(readiness(directory), 0);
      mkdirSync(join(directory, 'meta'));
      assert.equal(readiness(directory), 1);
    } finally {
      rmSync(directory, { recursive: true });
    }
    assert.notEqual(readiness(directory), 0);
  });

  it('apparmor-before-1.30: no field that such an API server does not know', () => {
    const { appArmorProfile, ...others } = patched('apparmor-before-1.30').container.securityContext;
    assert.equal(appArmorProfile, undefined);
    assert.ok(Object.keys(others).length > 4);
  });

  it('selinux: a type that may touch its host', () => {
    assert.deepEqual(patched('selinux').container.securityContext['seLinuxOptions'], { type: 'spc_t' });
  });
});
