import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import type { CheckResult } from '#cli/audit/audit-report.ts';
import type { NodeFacts } from '#cli/audit/node-facts.ts';
import { auditSafety } from '#cli/audit/sections/safety.ts';
import { validateKubeletConfig } from '#shared/contract/kubelet-config/validate.ts';
import { hasErrors } from '#shared/contract/finding.ts';
import { mergePatch } from '#shared/contract/kubelet-config/merge.ts';
import { answering, checkIn, withFile } from '../support/facts.ts';

type Config = NodeFacts['running'];

const NOW = Date.parse('2026-11-29T12:00:00Z');
const DAY = 86_400_000;

const resultOf = (id: string, facts: NodeFacts): CheckResult => checkIn(auditSafety([facts], NOW), id).result;

/** A failing and a passing config for each check; as the kubelet answers, unless it says `file`. */
const ROWS: readonly (readonly [id: string, fails: Config | undefined, passes: Config])[] = [
  ['authentication.anonymous.enabled', { authentication: { anonymous: { enabled: true } } }, {}],
  ['authorization.mode', { authorization: { mode: 'AlwaysAllow' } }, { authorization: { mode: 'Webhook' } }],
  ['authentication.x509.clientCAFile', {}, { authentication: { x509: { clientCAFile: '/ca.crt' } } }],
  ['readOnlyPort', { readOnlyPort: 10_255 }, {}],
  [
    'streamingConnectionIdleTimeout',
    { streamingConnectionIdleTimeout: '0s' },
    { streamingConnectionIdleTimeout: '10m0s' },
  ],
  ['streamingConnectionIdleTimeout', { streamingConnectionIdleTimeout: '0h0m0s' }, {}],
  ['makeIPTablesUtilChains', { makeIPTablesUtilChains: false }, {}],
  ['eventRecordQPS', { eventRecordQPS: 1 }, { eventRecordQPS: 5 }],
  ['tlsCertFile', {}, { serverTLSBootstrap: true }],
  ['tlsCertFile', { tlsCertFile: '/a.crt' }, { tlsCertFile: '/a.crt', tlsPrivateKeyFile: '/a.key' }],
  ['rotateCertificates', {}, { rotateCertificates: true }],
  ['featureGates.RotateKubeletServerCertificate', { featureGates: { RotateKubeletServerCertificate: false } }, {}],
  ['tlsCipherSuites', {}, { tlsCipherSuites: ['TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384'] }],
  ['tlsCipherSuites', { tlsCipherSuites: ['TLS_RSA_WITH_AES_128_GCM_SHA256'] }, { tlsMinVersion: 'VersionTLS13' }],
  ['podPidsLimit', { podPidsLimit: -1 }, { podPidsLimit: 4096 }],
  ['podPidsLimit', {}, { podPidsLimit: 1 }],
  ['seccompDefault', {}, { seccompDefault: true }],
  ['tlsMinVersion', { tlsMinVersion: 'VersionTLS11' }, {}],
  ['healthzBindAddress', { healthzBindAddress: '0.0.0.0' }, {}],
  ['healthzBindAddress', { healthzBindAddress: '::' }, { healthzBindAddress: '0.0.0.0', healthzPort: 0 }],
  ['enableSystemLogQuery', { enableSystemLogQuery: true }, {}],
  ['staticPodURL', { staticPodURL: 'https://example.org/pods' }, {}],
  ['clusterDNS', { clusterDNS: ['8.8.8.8'] }, { clusterDNS: ['10.96.0.10'] }],
  ['resolvConf', { resolvConf: '/tmp/resolv.conf' }, { resolvConf: '/run/systemd/resolve/resolv.conf' }],
  ['allowedUnsafeSysctls', { allowedUnsafeSysctls: ['net.*'] }, {}],
  ['defaultPodSysctls', { defaultPodSysctls: { 'net.core.somaxconn': '1' } }, {}],
  ['tracing.endpoint', { tracing: { endpoint: '192.0.2.1:4317' } }, { tracing: { endpoint: 'localhost:4317' } }],
  [
    'imagePullCredentialsVerificationPolicy',
    { imagePullCredentialsVerificationPolicy: 'NeverVerify' },
    { imagePullCredentialsVerificationPolicy: 'AlwaysVerify' },
  ],
  ['preloadedImagesVerificationAllowlist', { preloadedImagesVerificationAllowlist: ['example.org/*'] }, {}],
  ['logging.verbosity', { logging: { verbosity: 8 } }, { logging: { verbosity: 7 } }],
  ['logging.vmodule', { logging: { vmodule: [{ filePattern: 'a', verbosity: 9 }] } }, {}],
  ['featureGates', { featureGates: { AllAlpha: true } }, { featureGates: { AllAlpha: false } }],
  ['featureGates', { featureGates: { KubeletFineGrainedAuthz: false } }, { featureGates: { AppArmor: true } }],
];

describe('the safety of kubelets', () => {
  for (const [field, fails, passes] of ROWS) {
    it(`${field}: ${JSON.stringify(fails)} fails, ${JSON.stringify(passes)} passes`, () => {
      assert.equal(resultOf(`safety/${field}`, answering(fails ?? {})), 'fail');
      assert.equal(resultOf(`safety/${field}`, answering(passes)), 'pass');
    });
  }

  it('has a row for every check that a config shows', () => {
    const tried = new Set(ROWS.map(([field]) => `safety/${field}`));
    const others = auditSafety([answering({})], NOW)
      .checks.map(({ id }) => id)
      .filter((id) => !tried.has(id));
    assert.deepEqual(others.sort(), ['safety/certificate-ends', 'safety/hostname-override']);
  });

  it('has every check of CIS 4.2 once', () => {
    const numbers = auditSafety([answering({})], NOW).checks.flatMap(({ references }) =>
      references.flatMap((reference) => /^CIS 4\.2\.(\d+)$/.exec(reference)?.[1] ?? []),
    );
    assert.deepEqual(
      numbers.map(Number).sort((one, other) => one - other),
      Array.from({ length: 14 }, (_, index) => index + 1),
    );
  });

  it('fixes what fails: with its YAML the check passes, and a kubelet takes it', () => {
    for (const [field, fails] of ROWS) {
      const { fix } = checkIn(auditSafety([answering(fails ?? {})], NOW), `safety/${field}`);
      if (fix?.yaml === undefined) continue;
      const patch = parse(fix.yaml) as Config;
      assert.equal(resultOf(`safety/${field}`, answering(mergePatch(fails, patch) as Config)), 'pass', field);
      const file = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration', ...patch };
      assert.ok(!hasErrors(validateKubeletConfig(file, { minor: '1.34' })), field);
    }
  });

  it('tells a file from what a kubelet answers: in a file zero is unset, in an answer a flag said it', () => {
    const zero = { streamingConnectionIdleTimeout: '0s' };
    assert.equal(resultOf('safety/streamingConnectionIdleTimeout', withFile(zero)), 'pass');
    assert.equal(resultOf('safety/streamingConnectionIdleTimeout', answering(zero)), 'fail');
  });

  it('takes the default of no version for too few Events', () => {
    assert.equal(resultOf('safety/eventRecordQPS', withFile({}, { kubeletVersion: 'v1.20.0' })), 'pass');
    assert.equal(resultOf('safety/eventRecordQPS', withFile({ eventRecordQPS: 4 })), 'fail');
  });

  it('believes a flag that the distribution always passes more than the file', () => {
    const file = withFile({ readOnlyPort: 10_255 }, { kubeletVersion: 'v1.34.2+k3s1' });
    const check = checkIn(auditSafety([file], NOW), 'safety/readOnlyPort');
    assert.equal(check.result, 'pass');
    assert.deepEqual(check.groups[0]?.evidence, [
      { field: 'readOnlyPort', value: '0', by: 'flag', place: '--read-only-port=0' },
    ]);
    const answer = answering({ readOnlyPort: 10_255 }, { kubeletVersion: 'v1.34.2+k3s1' });
    assert.equal(resultOf('safety/readOnlyPort', answer), 'fail');
  });

  it('says nothing of what only some nodes of a distribution have by a flag, unless the file says it', () => {
    const kops = { labels: { 'kops.k8s.io/instancegroup': 'a' } };
    assert.equal(resultOf('safety/authorization.mode', withFile({}, kops)), 'not-visible');
    assert.equal(
      resultOf('safety/authorization.mode', withFile({ authorization: { mode: 'AlwaysAllow' } }, kops)),
      'fail',
    );
  });

  it('does not take the certificate that a kubelet may have signed itself for one, nor for none', () => {
    const pki = {
      tlsCertFile: '/var/lib/kubelet/pki/kubelet.crt',
      tlsPrivateKeyFile: '/var/lib/kubelet/pki/kubelet.key',
    };
    assert.equal(resultOf('safety/tlsCertFile', answering(pki)), 'not-visible');
  });

  it('warns of certificates 30 days before their end', () => {
    const ends = (days: number) =>
      resultOf('safety/certificate-ends', answering({}, { certificateEnds: NOW + days * DAY }));
    assert.deepEqual([ends(-1), ends(29.9), ends(30)], ['fail', 'fail', 'pass']);
    assert.equal(resultOf('safety/certificate-ends', answering({})), 'not-visible');
  });

  it('shows no credential of a config', () => {
    const secret = {
      staticPodURL: 'https://user:hunter2@example.org/',
      staticPodURLHeader: { Authorization: ['hunter2'] },
    };
    assert.ok(!JSON.stringify(auditSafety([answering(secret)], NOW)).includes('hunter2'));
  });
});
