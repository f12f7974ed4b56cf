import { goUrlScheme } from '../syntax/go-url.ts';
import { at, type Complaint, type Rule } from './rule.ts';

/**
 * What kubelets read no sooner than at their start, long after their validation, and then exit for. Only warnings: the
 * verdict is about what they make of the file.
 */
export const AT_START_RULES: readonly Rule[] = [
  function* curves(config) {
    const ids = config.numbers('tlsCurvePreferences');
    for (const [index, id] of ids.entries()) {
      if (id === undefined) continue;
      const isDoubled = ids.indexOf(id) < index;
      if (CURVES.includes(id) && !isDoubled) continue;
      const reason = isDoubled ? 'is there twice' : 'is not a curve that Go knows';
      yield {
        ...exits(`${id} ${reason}`),
        at: ['tlsCurvePreferences', index],
        ...(isDoubled ? {} : { suggestion: 'write numbers such as 29 (X25519), 23 (P-256) or 4588 (X25519MLKEM768)' }),
      };
    }
  },
  function* endpoints(config) {
    for (const field of ['containerRuntimeEndpoint', 'imageServiceEndpoint']) {
      const scheme = schemeOfEndpoint(config.text(field) ?? '');
      if (scheme !== undefined && ENDPOINT_SCHEMES.includes(scheme)) continue;
      const suggestion = 'write unix:///run/containerd/containerd.sock or the like';
      const fault = scheme === undefined ? `${field} is not an address` : `no kubelet reaches a runtime over ${scheme}`;
      yield { ...exits(fault), at: at(field), suggestion };
    }
  },
  function* certificate(config) {
    const [cert, key] = ['tlsCertFile', 'tlsPrivateKeyFile'] as const;
    for (const [one, other] of [[cert, key] as const, [key, cert] as const]) {
      if ((config.text(one) ?? '') === '' || (config.text(other) ?? '') !== '') continue;
      const restsOn = [other];
      if (config.minor < 36) yield { ...exits(`${one} is nothing without ${other}`), at: at(one), restsOn };
      else if (config.flag('serverTLSBootstrap') !== true)
        yield { code: 'no-effect', severity: 'warning', at: at(one), message: UNSERVED, restsOn };
    }
  },
  function* ports(config) {
    const port = config.number('port');
    if (port === undefined || config.number('readOnlyPort') !== port) return;
    if (config.flag('enableServer') === false) return;
    const restsOn = ['port', 'readOnlyPort', 'enableServer'];
    yield { ...exits(`port ${port} is taken by the kubelet's own server`), at: at('readOnlyPort'), restsOn };
  },
];

/** Numbers of `crypto/tls.CurveID`: P-256, P-384, P-521, X25519 and the hybrids with ML-KEM. */
const CURVES: readonly number[] = [23, 24, 25, 29, 4587, 4588, 4589];

/** Kubelets up to 1.35 exit for it. */
const UNSERVED =
  'a certificate and its key go together: with one of them the kubelet starts, and refuses every connection to its port';

/** What the kubelet makes of an address of a runtime (`GetAddressAndDialer`, k8s.io/cri-client): without a scheme it is a path. */
function schemeOfEndpoint(endpoint: string): string | undefined {
  const scheme = goUrlScheme(endpoint) ?? '';
  return scheme === '' ? goUrlScheme(`unix://${endpoint}`) : scheme;
}

/** Windows nodes have npipe. */
const ENDPOINT_SCHEMES = ['unix', 'npipe'];

const exits = (fault: string): Pick<Complaint, 'code' | 'severity' | 'message'> => ({
  code: 'fails-at-start',
  severity: 'warning',
  message: `${fault}: the kubelet takes the file, and exits when it comes to it`,
});
