import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type LoadOptions, loadRepo } from '#reconciler/policy/config-repo/load-repo.ts';
import type { LoadedPool, PoolBounds } from '#reconciler/policy/config-repo/loaded-repo.ts';
import { CLUSTER, filesOf, KUBELET, POOL } from './support/load.ts';

const LAYER = `${KUBELET}maxPods: 5\nport: 10251\n`;

function load(
  poolFields: string,
  clusterFields = '',
  options: Partial<LoadOptions> = {},
  layer = LAYER,
): LoadedPool | undefined {
  const tree = {
    'clusters/prod.yaml': `${CLUSTER}  maxUnassign: 1\n${clusterFields}`,
    'pools/x/pool.yaml': `${POOL}${poolFields}`,
    'pools/x/kubelet.yaml': layer,
  };
  return loadRepo(filesOf(tree), { cluster: 'prod', ...options }).pools[0];
}

const brief = (pool: LoadedPool | undefined): readonly string[] =>
  (pool?.findings ?? []).map(({ code, file, line, field }) => `${code} ${file}:${line} ${field}`);
const allowed = (pool: LoadedPool | undefined) => (pool?.status === 'valid' ? pool.spec.allowFields : 'invalid');
const DENIED = 'denied-field pools/x/kubelet.yaml:4 port';

describe('the field policy of a repository', () => {
  it('refuses a denied field, at the line of the layer that sets it, and says how to allow it and what it gives', () => {
    const pool = load('');
    assert.deepEqual([pool?.status, brief(pool)], ['invalid', [DENIED]]);
    const [finding] = pool?.findings ?? [];
    assert.match(finding?.suggestion ?? '', /fields\.allow of the cluster's file, in a commit of its own before/);
    assert.match(finding?.message ?? '', /Whoever chooses it moves the kubelet’s API/);
    assert.equal(finding?.kind, 'security');
  });

  it('takes the cluster’s allowance, and hands it on to the nodes', () => {
    const pool = load('', '  fields: {allow: [port]}\n');
    assert.deepEqual([brief(pool), allowed(pool)], [[], ['port']]);
  });

  it('takes none from a pool, and says so', () => {
    const pool = load('  fields: {allow: [port]}\n');
    assert.deepEqual(brief(pool), ['pool-cannot-allow pools/x/pool.yaml:5 spec.fields.allow', DENIED]);
    const harmless = load('  fields: {allow: [port]}\n', '', {}, LAYER.replace('port: 10251\n', ''));
    assert.deepEqual([harmless?.status, allowed(harmless)], ['valid', undefined]);
    assert.deepEqual([harmless?.findings[0]?.severity, harmless?.findings[0]?.kind], ['warning', 'security']);
  });

  it('says a field below another one once where it is denied, and not at all where it is allowed', () => {
    const weak = `${LAYER.replace('port: 10251\n', '')}logging: {verbosity: 9}\n`;
    const path = 'logging.verbosity';
    const codes = (pool: LoadedPool | undefined) => (pool?.findings ?? []).map(({ code, field }) => [code, field]);
    assert.deepEqual(codes(load(`  fields: {deny: [${path}]}\n`, '', {}, weak)), [['denied-field', path]]);
    assert.deepEqual(codes(load('', `  fields: {allow: [${path}]}\n`, {}, weak)), []);
    assert.deepEqual(codes(load('', '', {}, weak)), [['weakens-security', path]]);
  });

  it('says nothing of allowances to nodes where there are none', () => {
    const pool = load('  fields: {deny: [featureGates]}\n', '  fields: {allow: [port], deny: [port]}\n');
    assert.deepEqual(brief(pool), [DENIED]);
    assert.equal(pool?.findings[0]?.suggestion, undefined);
  });

  it('refuses words that are no fields, and a cluster file with one allows nothing', () => {
    assert.deepEqual(brief(load('  fields: {deny: [port, maxPodz]}\n')), [
      'unknown-value pools/x/pool.yaml:5 spec.fields.deny[1]',
    ]);
    assert.deepEqual(brief(load('', '  fields: {allow: [port, prot]}\n')), [DENIED]);
  });

  it('shows a protection that is taken away, and is told that it is meant, or that it is not', () => {
    const weak = `${LAYER.replace('port: 10251\n', '')}seccompDefault: false\n`;
    const pool = load('', '', {}, weak);
    assert.deepEqual(
      [pool?.status, brief(pool)],
      ['valid', ['weakens-security pools/x/kubelet.yaml:4 seccompDefault']],
    );
    assert.deepEqual([pool?.findings[0]?.severity, pool?.findings[0]?.kind], ['warning', 'security']);
    assert.deepEqual(brief(load('', '  fields: {allow: [seccompDefault]}\n', {}, weak)), []);
    const denied = load('', '  fields: {deny: [seccompDefault]}\n', {}, weak);
    assert.deepEqual(brief(denied), ['denied-field pools/x/kubelet.yaml:4 seccompDefault']);
  });
});

describe('a credential in a config', () => {
  const layer = (lines: string): string => `${LAYER.replace('port: 10251\n', '')}${lines}`;
  const found = (lines: string): readonly string[] => {
    const pool = load('', '  fields: {allow: [staticPodURL, staticPodURLHeader]}\n', {}, layer(lines));
    for (const finding of pool?.findings ?? []) {
      assert.deepEqual([finding.severity, finding.kind], ['warning', 'security']);
      assert.doesNotMatch(JSON.stringify(finding), /hunter2|s3cr3t|0123456789abcdef/, 'and it is not said again');
    }
    return brief(pool);
  };
  const CASES: Readonly<Record<string, string>> = {
    'staticPodURLHeader.Authorization[0]': 'staticPodURLHeader: {Authorization: ["Basic aHVudGVyMg=="]}\n',
    'staticPodURLHeader.x-whatever[1]': 'staticPodURLHeader: {Accept: [text/yaml], x-whatever: ["", hunter2]}\n',
    'staticPodURLHeader.X-Host[0]': 'staticPodURLHeader: {X-Host: [hunter2]}\n',
    'staticPodURLHeader.Host-Key[0]': 'staticPodURLHeader: {Host-Key: [hunter2]}\n',
    staticPodURL: 'staticPodURL: https://us:s3cr3t@pods.example.com/pod.yaml\n',
    'tracing.endpoint': 'tracing: {endpoint: "localhost:4317/?token=s3cr3t"}\n',
    clusterDomain: 'clusterDomain: ghp_0123456789abcdef0123456789abcdef0123\n',
  };

  for (const [field, lines] of Object.entries(CASES)) {
    it(`is shown to those who review it, and nowhere said again: ${field}`, () => {
      const codes = found(lines).filter((line) => line.startsWith('credential-in-config'));
      assert.deepEqual(codes, [`credential-in-config pools/x/kubelet.yaml:4 ${field}`]);
    });
  }

  it('is found in nothing that a config says otherwise', () => {
    const all = `staticPodURL: https://pods.example.com/pod.yaml
staticPodURLHeader: {Accept: [text/yaml], Accept-Encoding: [gzip], User-Agent: [kubelet], Host: [pods]}
tlsCipherSuites: [TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256]
clusterDomain: cluster.local
kubeReservedCgroup: /kubelet.slice/kubelet.service
evictionHard: {memory.available: 100Mi, nodefs.available: 10%}
`;
    assert.deepEqual(
      found(all).filter((line) => line.startsWith('credential-in-config')),
      [],
    );
  });
});

describe('a commit', () => {
  const before = (allow: readonly string[], deny: readonly string[] = []): { readonly boundsBefore: PoolBounds } => ({
    boundsBefore: { fields: { allow, deny } },
  });

  it('cannot use what it allows itself: the commit before it has to', () => {
    const pool = load('', '  fields: {allow: [port]}\n', before([]));
    assert.deepEqual([pool?.status, brief(pool)], ['invalid', [DENIED]]);
    assert.match(pool?.findings[0]?.suggestion ?? '', /since this very commit: that counts from the next/);
    assert.deepEqual(allowed(load('', '  fields: {allow: [port]}\n', before(['port']))), ['port']);
  });

  it('gets no more than both allow', () => {
    const both = load('', '  fields: {allow: [port, authentication]}\n', before(['port', 'authentication.x509']));
    assert.deepEqual(allowed(both), ['authentication.x509', 'port']);
  });

  it('takes an allowance back at once, and a denial only for those after it', () => {
    assert.deepEqual(brief(load('', '', before(['port']))), [DENIED]);
    assert.deepEqual(brief(load('', '  fields: {allow: [port]}\n', before(['port'], ['port']))), [DENIED]);
  });

  it('may use what is allowed from outside of the repository', () => {
    assert.deepEqual(allowed(load('', '', { ...before([]), allowFields: ['port'] })), ['port']);
    assert.deepEqual(allowed(load('', '', { allowFields: ['port'] })), ['port']);
    assert.deepEqual(brief(load('', '  fields: {deny: [port]}\n', { allowFields: ['port'] })), [DENIED]);
  });
});
