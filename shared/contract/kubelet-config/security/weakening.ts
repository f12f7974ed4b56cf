import { weakeningGate } from './gates.ts';
import { isMap } from '../../../runtime/maps.ts';

interface Weakening {
  /** As of a row of powers. */
  readonly gives: string;
  /** Whether this value weakens nothing. Null is asked as well: it takes back what the node has. */
  readonly isHarmless: (value: unknown) => boolean;
}

/** What is no text stands for none: it is found elsewhere. */
const textOf = (value: unknown): string => (typeof value === 'string' || typeof value === 'number' ? `${value}` : '');

/** At this verbosity the kubelet logs what it sends and receives, Secrets among it. */
const LOGS_BODIES = 8;

/** Fields that take a protection away without any node failing: people see them in review. */
export const WEAKENING: Readonly<Record<string, Weakening>> = {
  clusterDNS: {
    gives: 'answers every name that pods look up, from an address outside of private networks',
    isHarmless: (value) => Array.isArray(value) && !value.some(isPublicAddress),
  },
  resolvConf: {
    gives: 'answers names for pods by a file outside of /etc and /run, which a pod may be able to write',
    isHarmless: (value) => value === '' || (typeof value === 'string' && /^\/(?:etc|run)\/(?!.*\.\.)/.test(value)),
  },
  allowedUnsafeSysctls: {
    gives: 'lets pods set kernel parameters that reach other pods or the whole node',
    isHarmless: (value) => Array.isArray(value) && value.length === 0,
  },
  defaultPodSysctls: {
    gives: 'sets kernel parameters in every pod that does not set them itself',
    isHarmless: (value) => !isMap(value) || Object.keys(value).length === 0,
  },
  protectKernelDefaults: {
    gives: 'has the kubelet change kernel parameters of the host instead of refusing to start',
    isHarmless: (value) => value === true,
  },
  seccompDefault: {
    gives: 'runs pods that name no seccomp profile without any: every system call is open to them',
    isHarmless: (value) => value === true,
  },
  makeIPTablesUtilChains: {
    gives: 'drops the rules that keep other hosts from services on the node’s loopback',
    isHarmless: (value) => value === true,
  },
  podPidsLimit: {
    gives: 'lets one pod take all process numbers of the node',
    isHarmless: (value) => Number(value) > 0,
  },
  tlsMinVersion: {
    gives: 'lets somebody between the kubelet and its clients force TLS 1.0 or 1.1',
    isHarmless: (value) => value === 'VersionTLS12' || value === 'VersionTLS13',
  },
  tlsCipherSuites: {
    gives: 'lets somebody between the kubelet and its clients use ciphers that are broken (RC4, 3DES, CBC)',
    isHarmless: (value) => Array.isArray(value) && !value.some((suite) => /RC4|3DES|_CBC_/.test(textOf(suite))),
  },
  streamingConnectionIdleTimeout: {
    gives: 'keeps idle exec and port-forward sessions open forever',
    isHarmless: (value) => value === null || !/^[0.]+(?:h|m|s|ms|us|µs|ns)?$/.test(textOf(value)),
  },
  'tracing.endpoint': {
    gives: 'is sent what the kubelet does, with the names of pods and images, by every node',
    isHarmless: (value) => value === null || /^(?:|localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?$/.test(textOf(value)),
  },
  imagePullCredentialsVerificationPolicy: {
    gives: 'lets pods use private images that others pulled, without having access to them',
    isHarmless: (value) => value !== 'NeverVerify',
  },
  preloadedImagesVerificationAllowlist: {
    gives: 'lets pods use the listed private images without having access to them',
    isHarmless: (value) => value === null || (Array.isArray(value) && value.length === 0),
  },
  'logging.verbosity': {
    gives: 'has the kubelet log what it sends and receives, Secrets among it',
    isHarmless: (value) => !(Number(value) >= LOGS_BODIES),
  },
  'logging.vmodule': {
    gives: 'has parts of the kubelet log what they send and receive, Secrets among it',
    isHarmless: (value) =>
      !Array.isArray(value) || value.every((item) => !isMap(item) || !(Number(item['verbosity']) >= LOGS_BODIES)),
  },
  featureGates: {
    gives: 'switches a protection off, or an unfinished feature on, gate by gate',
    isHarmless: (value) =>
      !isMap(value) || Object.entries(value).every(([gate, on]) => weakeningGate(gate, on) === undefined),
  },
};

/**
 * A public address: outside of RFC 1918, 6598, 3927, 4193, 4291 and of loopback. What is no address is refused elsewhere.
 */
function isPublicAddress(address: unknown): boolean {
  const text = textOf(address).toLowerCase();
  if (text.includes(':')) return !/^(?:f[cd]|fe[89ab]|::1$)/.test(text);
  const [first = 0, second = 0, ...rest] = text.split('.').map(Number);
  if (rest.length !== 2 || Number.isNaN(first) || Number.isNaN(second)) return false;
  return !(
    first === 10 ||
    first === 127 ||
    (first === 192 && second === 168) ||
    (first === 169 && second === 254) ||
    (first === 172 && second >= 16 && second <= 31) ||
    (first === 100 && second >= 64 && second <= 127)
  );
}
