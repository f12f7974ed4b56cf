import { powerOf } from '#shared/contract/kubelet-config/security/powers.ts';
import { parseGoDuration } from '#shared/contract/kubelet-config/syntax/go-duration.ts';
import type { Fix, Severity } from '../audit-report.ts';
import { fixOf, type Rule } from '../checks.ts';

/** What a kubelet works with in one field has to be so. */
export interface FieldRule extends Rule {
  /** Paths of the table; the first gives the rule its id. */
  readonly fields: readonly string[];
  /** Undefined where the values do not tell. */
  readonly isGood: (...values: readonly unknown[]) => boolean | undefined;
}

/** Editions of the CIS Kubernetes Benchmark whose numbers these are. */
export const CIS_EDITION = '1.12';

/** The ciphers that CIS 4.2.12 leaves. */
const STRONG_CIPHERS: ReadonlySet<unknown> = new Set([
  'TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256',
  'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256',
  'TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305',
  'TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384',
  'TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305',
  'TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384',
  // Other names of the third and the fifth, and those of TLS 1.3, in which none is weak (crypto/tls).
  'TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256',
  'TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256',
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
]);

/** Fewer than this, and a busy node loses Events: the kubelet's default before 1.27. */
const FEWEST_EVENTS = 5;

/** Where a kubelet without a certificate puts the one that it signs itself (`InitializeTLS`); others may have theirs there, too. */
const SELF_SIGNED = /\/pki\/kubelet\.crt$/;

interface Row {
  readonly fields: FieldRule['fields'];
  readonly isGood: FieldRule['isGood'];
  readonly title: string;
  readonly severity: Severity;
  readonly because?: string;
  readonly fix: Fix;
  readonly cis?: string;
  readonly nsa?: string;
}

const ROWS: readonly Row[] = [
  {
    fields: ['authentication.anonymous.enabled'],
    isGood: (value) => value !== true,
    title: 'Refuse anonymous requests',
    severity: 'high',
    because:
      'opens to strangers whatever RBAC gives system:anonymous; with AlwaysAllow, they run commands in every pod',
    fix: fixOf({ 'authentication.anonymous.enabled': false }),
    cis: '4.2.1',
    nsa: 'anonymous requests',
  },
  {
    fields: ['authorization.mode'],
    isGood: (value) => value !== 'AlwaysAllow',
    title: 'Ask the API server what callers may do',
    severity: 'high',
    because: 'lets every authenticated client run commands in every pod of the node',
    fix: fixOf({ 'authorization.mode': 'Webhook' }),
    cis: '4.2.2',
    nsa: 'authentication and authorization',
  },
  {
    fields: ['authentication.x509.clientCAFile'],
    isGood: (value) => typeof value === 'string' && value !== '',
    title: 'Check client certificates against an authority',
    severity: 'medium',
    because: 'shuts out the API server and all others who come with a certificate',
    fix: fixOf({ 'authentication.x509.clientCAFile': '/etc/kubernetes/pki/ca.crt' }, 'give the path of your authority'),
    cis: '4.2.3',
    nsa: 'authentication and authorization',
  },
  {
    fields: ['readOnlyPort'],
    isGood: (value) => Number(value ?? 0) === 0,
    title: 'Close the read-only port',
    severity: 'high',
    because: powerOf('readOnlyPort')?.gives ?? '',
    fix: fixOf({ readOnlyPort: 0 }),
    cis: '4.2.4',
    nsa: 'network separation',
  },
  {
    fields: ['streamingConnectionIdleTimeout'],
    isGood: (value) => parseGoDuration(String(value)) !== 0,
    title: 'End idle exec and port-forward sessions',
    severity: 'low',
    because: 'keeps idle sessions open forever, before kubelet 1.24; since then the runtime decides',
    fix: fixOf({ streamingConnectionIdleTimeout: '4h' }),
    cis: '4.2.5',
  },
  {
    fields: ['makeIPTablesUtilChains'],
    isGood: (value) => value !== false,
    title: 'Let the kubelet keep its iptables rules',
    severity: 'medium',
    because: powerOf('makeIPTablesUtilChains')?.gives ?? '',
    fix: fixOf({ makeIPTablesUtilChains: true }),
    cis: '4.2.6',
  },
  {
    fields: ['eventRecordQPS'],
    isGood: (value) => Number(value) === 0 || Number(value) >= FEWEST_EVENTS,
    title: 'Allow enough Events a second',
    severity: 'low',
    because: powerOf('eventRecordQPS')?.gives ?? '',
    fix: fixOf({ eventRecordQPS: 50 }),
    cis: '4.2.8',
    nsa: 'audit logging',
  },
  {
    fields: ['tlsCertFile', 'tlsPrivateKeyFile', 'serverTLSBootstrap'],
    isGood: (cert, key, bootstrap) => {
      if (bootstrap === true) return true;
      const isSet = typeof cert === 'string' && cert !== '' && typeof key === 'string' && key !== '';
      return isSet && SELF_SIGNED.test(cert) ? undefined : isSet;
    },
    title: 'Serve with a certificate that clients can check',
    severity: 'medium',
    because: 'has the kubelet sign its own certificate: clients cannot tell it from an impostor',
    fix: fixOf({ serverTLSBootstrap: true }, 'and approve the requests of kubelets for serving certificates'),
    cis: '4.2.9',
    nsa: 'encryption',
  },
  {
    fields: ['rotateCertificates'],
    isGood: (value) => value === true,
    title: 'Renew the client certificate',
    severity: 'medium',
    because: 'has the node drop out of the cluster when its certificate ends, unless something else renews it',
    fix: fixOf({ rotateCertificates: true }),
    cis: '4.2.10',
  },
  {
    fields: ['featureGates.RotateKubeletServerCertificate'],
    isGood: (value) => value !== false,
    title: 'Allow the serving certificate to be renewed',
    severity: 'low',
    because: 'ends the renewal of the kubelet’s serving certificate',
    fix: fixOf({ 'featureGates.RotateKubeletServerCertificate': true }),
    cis: '4.2.11',
  },
  {
    fields: ['tlsCipherSuites', 'tlsMinVersion'],
    isGood: (suites, version) =>
      version === 'VersionTLS13' ||
      (Array.isArray(suites) && suites.length > 0 && suites.every((suite) => STRONG_CIPHERS.has(suite))),
    title: 'Allow only strong ciphers',
    severity: 'low',
    because: 'lets clients use ciphers with CBC, which Go takes where the list is empty, or others that are weaker',
    fix: fixOf({ tlsMinVersion: 'VersionTLS13' }, 'or list the ciphers in tlsCipherSuites'),
    cis: '4.2.12',
    nsa: 'encryption',
  },
  {
    fields: ['podPidsLimit'],
    isGood: (value) => Number(value) > 0,
    title: 'Limit the process IDs of a pod',
    severity: 'medium',
    because: powerOf('podPidsLimit')?.gives ?? '',
    fix: fixOf({ podPidsLimit: 4096 }),
    cis: '4.2.13',
    nsa: 'resource policies',
  },
  {
    fields: ['seccompDefault'],
    isGood: (value) => value === true,
    title: 'Use the runtime’s seccomp profile by default',
    severity: 'medium',
    because: powerOf('seccompDefault')?.gives ?? '',
    fix: fixOf({ seccompDefault: true }, 'pods that need more system calls name their profile'),
    cis: '4.2.14',
    nsa: 'hardening with seccomp',
  },
  {
    fields: ['tlsMinVersion'],
    isGood: (value) => value !== 'VersionTLS10' && value !== 'VersionTLS11',
    title: 'Require TLS 1.2 or newer',
    severity: 'medium',
    because: powerOf('tlsMinVersion')?.gives ?? '',
    fix: fixOf({ tlsMinVersion: 'VersionTLS12' }),
    nsa: 'encryption',
  },
  {
    fields: ['healthzBindAddress', 'healthzPort'],
    isGood: (address, port) => port === 0 || /^(?:127\.|::1$)/.test(String(address)),
    title: 'Keep the health port on loopback',
    severity: 'low',
    because: 'answers anybody who reaches the node, without a credential',
    fix: fixOf({ healthzBindAddress: '127.0.0.1' }),
    nsa: 'network separation',
  },
  {
    fields: ['enableSystemLogQuery'],
    isGood: (value) => value !== true,
    title: 'Do not serve the journals of the host',
    severity: 'medium',
    because: powerOf('enableSystemLogQuery')?.gives ?? '',
    fix: fixOf({ enableSystemLogQuery: false }),
  },
  {
    fields: ['staticPodURL'],
    isGood: (value) => value === undefined || value === '',
    title: 'Take no pods from a URL',
    severity: 'high',
    because: powerOf('staticPodURL')?.gives ?? '',
    fix: { how: 'take staticPodURL out of the node’s own config' },
  },
];

/** What has to hold of fields of its own: the checks of CIS 4.2 and the NSA/CISA guide that a config shows, and ours. */
export const FIELD_RULES: readonly FieldRule[] = ROWS.map(({ cis, nsa, fields, ...row }) => ({
  ...row,
  fields,
  id: `safety/${fields[0]}`,
  references: [...(cis === undefined ? [] : [`CIS ${cis}`]), ...(nsa === undefined ? [] : [`NSA/CISA ${nsa}`])],
}));
