import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AUDIT_CONFIG_MAP } from '#shared/contract/audit-summary.ts';
import { AUDIT } from '#cli/audit/command.ts';
import { parseCommandLine } from '#cli/parse-command-line.ts';
import { PROGRAMS } from '../../scripts/build.ts';
import { readDocuments } from './admission-policy.ts';
import { brokenControls, type Pod } from './pod-security.ts';

const documents = readDocuments('deploy/examples/audit.yaml') as readonly unknown[] as readonly Manifest[];
interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly data?: object;
  readonly automountServiceAccountToken?: boolean;
  readonly rules?: readonly unknown[];
  readonly spec?: { readonly jobTemplate: { readonly spec: { readonly template: { readonly spec: JobPod } } } };
}
interface JobPod extends Pod {
  readonly serviceAccountName: string;
}
const only = (kind: string): Manifest => {
  const [found, ...more] = documents.filter((each) => each.kind === kind);
  assert.ok(found !== undefined && more.length === 0, kind);
  return found;
};

describe('the example that audits a cluster every day', () => {
  const pod = only('CronJob').spec?.jobTemplate.spec.template.spec ?? assert.fail();

  it('may list nodes, ask kubelets two things, and write one ConfigMap', () => {
    assert.deepEqual(only('ClusterRole').rules, [
      { apiGroups: [''], resources: ['nodes'], verbs: ['list'] },
      { apiGroups: [''], resources: ['nodes/configz', 'nodes/stats'], verbs: ['get'] },
    ]);
    assert.deepEqual(only('Role').rules, [
      { apiGroups: [''], resources: ['configmaps'], resourceNames: [AUDIT_CONFIG_MAP], verbs: ['patch'] },
    ]);
  });

  it('has the ConfigMap where it writes, without what the next apply would take back', () => {
    const { metadata, data } = only('ConfigMap');
    assert.deepEqual([metadata.name, metadata.namespace, data], [AUDIT_CONFIG_MAP, 'kubelet-gitops', undefined]);
  });

  it('would be admitted by "restricted", with a token for its own pod only', () => {
    assert.deepEqual(brokenControls(pod), []);
    assert.equal(only('ServiceAccount').automountServiceAccountToken, false);
    assert.equal(pod.serviceAccountName, only('ServiceAccount').metadata.name);
  });

  it('starts a program of the image with arguments that it knows', () => {
    const [container] = pod.containers as unknown as readonly [{ readonly args: readonly string[] }];
    const [file = '', ...args] = container.args;
    assert.ok(
      Object.keys(PROGRAMS).some((name) => file === `/app/${name}.js`),
      file,
    );
    const parsed = parseCommandLine(['audit', ...args], [AUDIT]);
    assert.equal(parsed.line, 'run', JSON.stringify(parsed));
  });
});
