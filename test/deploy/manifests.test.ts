import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { parseAllDocuments } from 'yaml';

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly rules?: readonly {
    readonly resources: readonly string[];
    readonly verbs: readonly string[];
    readonly resourceNames?: readonly string[];
  }[];
  readonly spec?: { readonly template?: { readonly spec: PodSpec } };
}
interface PodSpec {
  readonly hostPID?: boolean;
  readonly containers: readonly {
    readonly securityContext: Record<string, unknown>;
    readonly volumeMounts?: readonly { readonly name: string }[];
  }[];
  readonly volumes?: readonly { readonly name: string; readonly hostPath?: { readonly path: string } }[];
}

const manifests = globSync('deploy/{rbac,agent,reconciler,namespace}/*.yaml').flatMap((file) =>
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

  it('give the agent three directories of the host and not its processes', () => {
    const paths = (agent.volumes ?? []).map((volume) => volume.hostPath?.path);
    assert.deepEqual(paths, ['/var/lib/kubelet', '/var/lib/kubelet-gitops', '/run/dbus']);
    assert.equal(agent.hostPID, undefined);
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
