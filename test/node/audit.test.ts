import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { parseAllDocuments, type YAMLSeq } from 'yaml';
import type { AuditReport, AuditSection, SectionId } from '#cli/audit/audit-report.ts';
import { existsIn, FIELDS } from '#shared/contract/kubelet-config/fields/fields.ts';
import { bundle } from '../../scripts/build.ts';
import { checkIn } from '../cli/audit/support/facts.ts';
import { run } from '../cli/support/run.ts';
import { nodeSkipReason } from '../cluster/support/binaries.ts';
import { type ContainerRuntime, startContainerd } from '../cluster/support/container-runtime.ts';
import { type ControlPlane, startControlPlane } from '../cluster/support/control-plane.ts';
import { MINOR } from '../cluster/support/kubelet-of-minor.ts';
import { type Kubelet, startKubelet } from '../cluster/support/kubelet.ts';
import { describeOrSkip } from '../support/describe-or-skip.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';

type Config = Readonly<Record<string, unknown>>;

/** What this minor knows of a config. */
const known = (config: Config): Config =>
  Object.fromEntries(
    Object.entries(config).filter(([name]) => {
      const field = FIELDS.get(name);
      return field !== undefined && existsIn(field, MINOR);
    }),
  );

const STRONG = ['TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384', 'TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256'];

/** Fails every check that a kubelet starts with. */
const UNSAFE: Config = known({
  authentication: { anonymous: { enabled: true }, webhook: { enabled: true } },
  authorization: { mode: 'AlwaysAllow' },
  readOnlyPort: 20_255,
  eventRecordQPS: 1,
  podPidsLimit: -1,
  seccompDefault: false,
  makeIPTablesUtilChains: false,
  rotateCertificates: false,
  tlsMinVersion: 'VersionTLS11',
  featureGates: { RotateKubeletServerCertificate: false },
  healthzBindAddress: '0.0.0.0',
  allowedUnsafeSysctls: ['net.core.somaxconn'],
  clusterDNS: ['8.8.8.8'],
  staticPodURL: 'http://127.0.0.1:9/pods',
  evictionHard: { 'memory.available': '0%' },
});

const FAILING = [
  'authentication.anonymous.enabled',
  'authorization.mode',
  'authentication.x509.clientCAFile',
  'readOnlyPort',
  'streamingConnectionIdleTimeout',
  'makeIPTablesUtilChains',
  'eventRecordQPS',
  'rotateCertificates',
  'featureGates.RotateKubeletServerCertificate',
  'tlsCipherSuites',
  'podPidsLimit',
  'tlsMinVersion',
  'healthzBindAddress',
  'staticPodURL',
  'allowedUnsafeSysctls',
  'clusterDNS',
  ...(MINOR >= 22 ? ['seccompDefault'] : []),
];

/** The only right that the minor needs on the kubelet's own port. */
const RIGHTS = MINOR >= 33 ? ['nodes/configz', 'nodes/stats'] : ['nodes/proxy', 'nodes/stats'];

const AUDITOR = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: auditor }
rules:
  - { apiGroups: [""], resources: [nodes], verbs: [list] }
  - { apiGroups: [""], resources: [${RIGHTS.join(', ')}], verbs: [get] }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: { name: auditor }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: auditor }
subjects: [{ kind: ServiceAccount, namespace: default, name: auditor }]
---
apiVersion: v1
kind: ServiceAccount
metadata: { namespace: default, name: auditor }
`;

const NAMESPACE = 'kubelet-gitops';
const MOUNT_POINT = '/var/run/secrets/kubernetes.io/serviceaccount';

function argumentsIn(example: string): readonly string[] {
  const at = ['spec', 'jobTemplate', 'spec', 'template', 'spec', 'containers', 0, 'args'];
  const [args] = parseAllDocuments(example).flatMap((each) => (each.get('kind') === 'CronJob' ? [each.getIn(at)] : []));
  return (args as YAMLSeq).toJSON() as string[];
}

describeOrSkip('an audit of a real kubelet', { skip: await nodeSkipReason() }, () => {
  let cluster: ControlPlane;
  let runtime: ContainerRuntime;
  let kubelet: Kubelet | undefined;
  const directory = temporaryDirectory();
  before(async () => {
    cluster = await startControlPlane();
    runtime = await startContainerd();
  });
  after(async () => {
    await kubelet?.stop();
    await runtime?.stop();
    await cluster?.stop();
  });

  const start = async (config: Config, extraArgs: readonly string[] = []): Promise<void> => {
    await kubelet?.stop();
    kubelet = await startKubelet({ controlPlane: cluster, runtime, nodeName: 'node-a', config, extraArgs });
  };

  /** A certificate of the cluster's for this machine's addresses. */
  const servingCertificate = async (): Promise<Config> => {
    const [key, request, certificate] = ['key', 'csr', 'crt'].map((name) => join(directory, `serving.${name}`)) as [
      string,
      string,
      string,
    ];
    const addresses = Object.values(networkInterfaces()).flatMap((all) =>
      (all ?? []).map(({ address }) => `IP:${address}`),
    );
    const names = `subjectAltName=DNS:node-a,${addresses.filter((each) => !each.includes('%')).join(',')}`;
    const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'];
    execFileSync(
      'openssl',
      ['req', '-new', '-nodes', ...curve, '-keyout', key, '-out', request, '-subj', '/CN=node-a', '-addext', names],
      { stdio: 'ignore' },
    );
    writeFileSync(certificate, await cluster.sign(readFileSync(request, 'utf8'), 'serverAuth'));
    return { tlsCertFile: certificate, tlsPrivateKeyFile: key };
  };

  const audit = async (kubeconfig: string, ...words: readonly string[]): Promise<AuditReport> => {
    const { out, err } = await run('audit', '-o', 'json', '--kubeconfig', kubeconfig, ...words);
    assert.notEqual(out, '', err);
    return JSON.parse(out) as AuditReport;
  };
  const section = ({ sections }: AuditReport, id: SectionId): AuditSection =>
    sections.find((each) => each.id === id) ?? assert.fail(id);

  it('fails each check of a kubelet that is open in every way, one of them by a flag', async () => {
    await start(UNSAFE, ['--streaming-connection-idle-timeout=0']);
    const report = await audit(cluster.adminKubeconfig);
    const safety = section(report, 'safety');
    for (const field of FAILING) assert.equal(checkIn(safety, `safety/${field}`).result, 'fail', field);
    // It serves with what it signed itself.
    assert.equal(checkIn(safety, 'safety/tlsCertFile').result, 'not-visible');
    const room = section(report, 'room');
    assert.equal(checkIn(room, 'room/no-eviction-threshold').result, 'fail');
    assert.equal(checkIn(room, 'room/nothing-reserved').result, 'fail');
  });

  it('passes them all of one that is shut, asked on its own port by somebody who may do nothing else', async () => {
    const serving = await servingCertificate();
    await start({
      ...known({
        podPidsLimit: 4096,
        seccompDefault: true,
        rotateCertificates: true,
        makeIPTablesUtilChains: true,
        tlsCipherSuites: STRONG,
        kubeReserved: { memory: '64Mi', cpu: '50m' },
      }),
      ...serving,
    });
    await cluster.kubectl(['apply', '-f', '-'], { input: AUDITOR });
    const token = await cluster.serviceAccountToken('default', 'auditor');
    const kubeconfig = await cluster.kubeconfigFor({ token });
    const report = await until('the kubelet to know the right', async () => {
      const { out } = await run('audit', '--direct', '-o', 'json', '--kubeconfig', kubeconfig);
      return out === '' ? false : (JSON.parse(out) as AuditReport);
    });
    const safety = section(report, 'safety');
    for (const field of [...FAILING, 'tlsCertFile', 'certificate-ends'])
      // Certificates of these tests last for days.
      assert.equal(checkIn(safety, `safety/${field}`).result, field === 'certificate-ends' ? 'fail' : 'pass', field);
    assert.equal(checkIn(section(report, 'room'), 'room/no-eviction-threshold').result, 'pass');
    assert.notEqual(
      section(report, 'room').classes?.[0]?.resources.find(({ resource }) => resource === 'memory')?.used,
      undefined,
    );
    // Through the API server the same person is refused.
    const { code, err } = await run('audit', '--kubeconfig', kubeconfig);
    if (MINOR >= 33) assert.match(`${code} ${err}`, /^2 .*the right get nodes\/proxy is missing/);
  });

  const CAN_HAVE_EXAMPLE = MINOR >= 33 ? {} : { skip: 'the example is for kubelets that know nodes/configz' };
  it('is made and published by the program of the image, as the example runs it', CAN_HAVE_EXAMPLE, async () => {
    const example = readFileSync('deploy/examples/audit.yaml', 'utf8');
    for (const file of ['deploy/namespace/namespace.yaml', 'deploy/examples/audit.yaml'])
      assert.equal((await cluster.kubectl(['apply', '-f', file])).code, 0);
    // As the kubelet mounts it.
    const account = join(directory, 'account');
    mkdirSync(account);
    writeFileSync(join(account, 'token'), await cluster.serviceAccountToken(NAMESPACE, 'kubelet-gitops-audit'));
    writeFileSync(join(account, 'ca.crt'), cluster.ca);
    mkdirSync(MOUNT_POINT, { recursive: true });
    writeFileSync(join(directory, 'package.json'), '{"type":"module"}');
    await bundle('audit', directory);
    const args = argumentsIn(example)
      .slice(1)
      .map((arg) => arg.replace('$(NAMESPACE)', NAMESPACE));
    const mounted = `mount --bind ${account} ${MOUNT_POINT} && exec "$@"`;
    const program = [process.execPath, join(directory, 'audit.js'), ...args];
    const { hostname, port } = new URL(cluster.url);
    const env = { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port };
    const out = await until('the kubelet to know the right', async () => {
      const { status, stdout } = spawnSync('unshare', ['--mount', 'sh', '-c', mounted, 'sh', ...program], { env });
      return status === 0 && stdout.toString();
    });
    assert.match(out, /certificate/);
    const path = `/api/v1/namespaces/${NAMESPACE}/configmaps/kubelet-gitops-audit`;
    const { data } = (await cluster.request('GET', path)).json() as { data: Record<string, string> };
    assert.match(data['summary.json'] ?? '', /"nodes":{"seen":1,"of":1}/);
  });
});
