import { show } from '../decode/show.ts';
import { at, type Complaint, type Rule } from './rule.ts';

/**
 * What kubelets read no sooner than at their start, long after their validation, and then exit for. Only warnings: the
 * verdict is about what they make of the file.
 */
export const AT_START_RULES: readonly Rule[] = [
  function* sysctls(config) {
    for (const [index, pattern] of config.texts('allowedUnsafeSysctls').entries()) {
      const name = config.minor < 23 ? pattern : pattern.replaceAll('/', '.');
      if (SYSCTL.test(name) && pattern.length <= LONGEST_SYSCTL && isNamespaced(name.replace(/\*$/, ''))) continue;
      yield {
        ...exits(`${show(pattern)} is no sysctl that can be set for one pod alone`),
        at: ['allowedUnsafeSysctls', index],
        suggestion: 'allow only kernel.shm*, kernel.msg*, kernel.sem, fs.mqueue.* and net.*',
      };
    }
  },
  function* curves(config) {
    const ids = config.numbers('tlsCurvePreferences');
    for (const [index, id] of ids.entries()) {
      if (id === undefined) continue;
      const isDoubled = ids.indexOf(id) < index;
      if (CURVES.includes(id) && !isDoubled) continue;
      const reason = isDoubled ? 'is there twice' : 'is no curve that Go knows';
      yield {
        ...exits(`${id} ${reason}`),
        at: ['tlsCurvePreferences', index],
        ...(isDoubled ? {} : { suggestion: 'write numbers such as 29 (X25519), 23 (P-256) or 4588 (X25519MLKEM768)' }),
      };
    }
  },
  function* endpoints(config) {
    for (const field of ['containerRuntimeEndpoint', 'imageServiceEndpoint']) {
      const [, scheme] = /^([A-Za-z][-+.\w]*):\/\//.exec(config.text(field) ?? '') ?? [];
      if (scheme === undefined || ENDPOINT_SCHEMES.includes(scheme.toLowerCase())) continue;
      const suggestion = 'write unix:///run/containerd/containerd.sock or the like';
      yield { ...exits(`no kubelet reaches a runtime over ${scheme}`), at: at(field), suggestion };
    }
  },
  function* certificate(config) {
    const [cert, key] = ['tlsCertFile', 'tlsPrivateKeyFile'] as const;
    for (const [one, other] of [[cert, key] as const, [key, cert] as const]) {
      if ((config.text(one) ?? '') === '' || (config.text(other) ?? '') !== '') continue;
      yield { ...exits(`${one} is nothing without ${other}`), at: at(one), restsOn: [other] };
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

const SEGMENT = '[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?';
const SYSCTL = new RegExp(String.raw`^(?:${SEGMENT}\.)*(?:${SEGMENT}|[a-z0-9][-_a-z0-9]*\*|\*)$`);
const LONGEST_SYSCTL = 253;
const NAMESPACED = ['kernel.shm', 'kernel.msg', 'fs.mqueue.', 'net.'];
const isNamespaced = (name: string): boolean =>
  name === 'kernel.sem' || NAMESPACED.some((prefix) => name.startsWith(prefix));

/** Numbers of `crypto/tls.CurveID`: P-256, P-384, P-521, X25519 and the hybrids with ML-KEM. */
const CURVES: readonly number[] = [23, 24, 25, 29, 4587, 4588, 4589];

/** Windows nodes have npipe. */
const ENDPOINT_SCHEMES = ['unix', 'npipe'];

const exits = (fault: string): Pick<Complaint, 'code' | 'severity' | 'message'> => ({
  code: 'fails-at-start',
  severity: 'warning',
  message: `${fault}: the kubelet takes the file, and exits when it comes to it`,
});
