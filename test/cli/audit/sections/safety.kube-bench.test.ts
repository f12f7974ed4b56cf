import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { NodeFacts } from '#cli/audit/node-facts.ts';
import { auditSafety } from '#cli/audit/sections/safety.ts';
import { valueIn } from '#shared/runtime/maps.ts';
import { fc } from '../../../support/property.ts';
import { checkIn, withFile } from '../support/facts.ts';

type Config = NodeFacts['running'];

/** What kube-bench wants of one field of the config file; `unset` also passes where it is not there. */
interface Item {
  readonly path: string;
  readonly op?: 'eq' | 'noteq' | 'nothave' | 'gte' | 'valid_elements';
  readonly value?: string;
  readonly unset?: true;
}

const STRONG =
  'TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305,' +
  'TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305,TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384';

/** The conditions of aquasecurity/kube-bench, `cfg/cis-1.12/node.yaml` at a73ce378, as far as they look into the config file. */
const CONDITIONS: Readonly<Record<string, readonly Item[]>> = {
  '4.2.1': [{ path: 'authentication.anonymous.enabled', op: 'eq', value: 'false' }],
  '4.2.2': [{ path: 'authorization.mode', op: 'nothave', value: 'AlwaysAllow' }],
  '4.2.3': [{ path: 'authentication.x509.clientCAFile' }],
  '4.2.4': [{ path: 'readOnlyPort', op: 'eq', value: '0', unset: true }],
  '4.2.5': [{ path: 'streamingConnectionIdleTimeout', op: 'noteq', value: '0', unset: true }],
  '4.2.6': [{ path: 'makeIPTablesUtilChains', op: 'eq', value: 'true', unset: true }],
  '4.2.8': [{ path: 'eventRecordQPS', op: 'gte', value: '0', unset: true }],
  '4.2.9': [{ path: 'tlsCertFile' }, { path: 'tlsPrivateKeyFile' }],
  '4.2.10': [{ path: 'rotateCertificates', op: 'eq', value: 'true', unset: true }],
  '4.2.11': [{ path: 'featureGates.RotateKubeletServerCertificate', op: 'nothave', value: 'false', unset: true }],
  '4.2.12': [{ path: 'tlsCipherSuites', op: 'valid_elements', value: STRONG }],
  '4.2.13': [{ path: 'podPidsLimit' }],
  '4.2.14': [{ path: 'seccompDefault' }],
};

function passes(config: Config, { path, op, value = '', unset }: Item): boolean {
  const found = valueIn(config, path.split('.'));
  if (found === undefined) return unset === true;
  const text = Array.isArray(found) ? found.join(',') : typeof found === 'string' ? found : JSON.stringify(found);
  if (op === 'eq') return text === value;
  if (op === 'noteq') return text !== value;
  if (op === 'nothave') return !text.includes(value);
  if (op === 'gte') return Number(text) >= Number(value);
  const valid = new Set(value.split(','));
  return op === undefined || text.split(',').every((each) => valid.has(each));
}

/** Where the two may differ, and why: kube-bench takes the file for all there is, and that something is set for good. */
function reasonToDiffer(id: string, config: Config): string | undefined {
  const at = (path: string): unknown => valueIn(config, path.split('.'));
  if ((id === '4.2.1' || id === '4.2.2') && at(CONDITIONS[id]?.[0]?.path ?? '') === undefined)
    return 'a file without it is safe: the default of v1beta1';
  if (id === '4.2.8' && Number(at('eventRecordQPS')) > 0 && Number(at('eventRecordQPS')) < 5)
    return 'so few lose Events';
  if (id === '4.2.9' && at('serverTLSBootstrap') === true) return 'the cluster signs its certificate';
  if (id === '4.2.9' && String(at('tlsCertFile')).endsWith('/pki/kubelet.crt')) return 'it may have signed that itself';
  if (id === '4.2.10' && at('rotateCertificates') === undefined)
    return 'a file without it does not rotate: the default of v1beta1';
  if (id === '4.2.12' && at('tlsMinVersion') === 'VersionTLS13') return 'TLS 1.3 has no weak cipher';
  if (id === '4.2.13' && Number(at('podPidsLimit')) <= 0) return 'set to no limit';
  if (id === '4.2.14' && at('seccompDefault') === false) return 'set to off';
  return undefined;
}

const optional: { requiredKeys: never[]; noNullPrototype: true } = { requiredKeys: [], noNullPrototype: true };
const files: fc.Arbitrary<Config> = fc.record(
  {
    authentication: fc.record(
      {
        anonymous: fc.record({ enabled: fc.boolean() }, optional),
        x509: fc.record({ clientCAFile: fc.constant('/etc/kubernetes/pki/ca.crt') }, optional),
      },
      optional,
    ),
    authorization: fc.record({ mode: fc.constantFrom('Webhook', 'AlwaysAllow') }, optional),
    readOnlyPort: fc.constantFrom(0, 10_255),
    streamingConnectionIdleTimeout: fc.constantFrom('0s', '5m', '4h0m0s'),
    makeIPTablesUtilChains: fc.boolean(),
    eventRecordQPS: fc.constantFrom(0, 1, 4, 5, 50),
    tlsCertFile: fc.constantFrom('/etc/a.crt', '/var/lib/kubelet/pki/kubelet.crt'),
    tlsPrivateKeyFile: fc.constant('/etc/a.key'),
    serverTLSBootstrap: fc.boolean(),
    rotateCertificates: fc.boolean(),
    featureGates: fc.record({ RotateKubeletServerCertificate: fc.boolean(), AppArmor: fc.boolean() }, optional),
    tlsCipherSuites: fc.subarray([...STRONG.split(','), 'TLS_RSA_WITH_AES_128_CBC_SHA'], { minLength: 1 }),
    tlsMinVersion: fc.constantFrom('VersionTLS12', 'VersionTLS13'),
    podPidsLimit: fc.constantFrom(-1, 0, 4096),
    seccompDefault: fc.boolean(),
  },
  optional,
);

describe('the kubelet checks of kube-bench on a config file', () => {
  const idOf = new Map(
    auditSafety([withFile({})], 0).checks.flatMap(({ id, references }) =>
      references.flatMap((reference) => (reference.startsWith('CIS ') ? [[reference.slice(4), id] as const] : [])),
    ),
  );

  it('come to what the audit says, but where there is a reason to differ, each of which is met', () => {
    const met = new Map<string, boolean>();
    fc.assert(
      fc.property(files, (config) => {
        const section = auditSafety([withFile(config, { kubeletVersion: 'v1.34.2' })], 0);
        for (const [number, items] of Object.entries(CONDITIONS)) {
          const { result } = checkIn(section, idOf.get(number) ?? '');
          const theirs = items.every((item) => passes(config, item)) ? 'pass' : 'fail';
          const reason = reasonToDiffer(number, config);
          if (reason === undefined) assert.equal(result, theirs, `CIS ${number}`);
          else met.set(reason, (met.get(reason) ?? false) || result !== theirs);
        }
      }),
      { numRuns: 300 },
    );
    assert.deepEqual(
      [...met].filter(([, differed]) => !differed),
      [],
    );
    assert.equal(met.size, 8);
  });

  it('are all but the one that no config shows', () => {
    const ours = [...idOf.keys()].sort();
    assert.deepEqual([...Object.keys(CONDITIONS), '4.2.7'].sort(), ours);
  });
});
