import type { ConfigView } from '../config-view.ts';
import { isGoAddress } from '../syntax/go-address.ts';
import { runtimeEndpoint } from '../syntax/runtime-endpoint.ts';
import { at, type Complaint, type Rule } from './rule.ts';
import { CIPHER_SUITES } from './serving.ts';

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
  function* ciphers(config) {
    const suites = config.texts('tlsCipherSuites');
    if (suites.length === 0 || config.text('tlsMinVersion') === 'VersionTLS13') return;
    if (config.flag('enableServer') === false || suites.some((suite) => CIPHERS_OF_HTTP2.includes(suite))) return;
    // A name that Go does not have is a fault of its own.
    if (!suites.every((suite) => CIPHER_SUITES.includes(suite))) return;
    yield {
      ...exits('the server of Go speaks HTTP/2, which needs one of two ciphers that are not there'),
      at: at('tlsCipherSuites'),
      suggestion: `add ${CIPHERS_OF_HTTP2.join(' or ')}, or set tlsMinVersion: VersionTLS13`,
      restsOn: ['tlsCipherSuites', 'tlsMinVersion', 'enableServer'],
    };
  },
  function* endpoints(config) {
    for (const field of ['containerRuntimeEndpoint', 'imageServiceEndpoint']) {
      const address = config.text(field) ?? '';
      const url = runtimeEndpoint(address);
      const isReached = url !== undefined && ENDPOINT_SCHEMES.includes(url.scheme);
      if (address === '' || (isReached && (url.scheme !== 'unix' || url.path !== ''))) continue;
      const suggestion = 'write unix:///run/containerd/containerd.sock or the like';
      const away = url === undefined ? `${field} is not an address` : `no kubelet reaches a runtime over ${url.scheme}`;
      yield { ...exits(isReached ? `${field} names no socket` : away), at: at(field), suggestion };
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
  function* address(config) {
    const address = config.text('address') ?? '';
    const isServed = config.flag('enableServer') !== false || (config.number('readOnlyPort') ?? 0) > 0;
    if (!isServed || address === '' || isGoAddress(address)) return;
    const suggestion = 'write an IP address; 0.0.0.0 is all of them';
    yield { ...exits(`"${address}" is not an IP address`), at: at('address'), suggestion, restsOn: ['address'] };
  },
  function* ports(config) {
    for (const [index, server] of SERVERS.entries()) {
      const port = portOf(config, server);
      const rival = SERVERS.slice(0, index).find((other) => port > 0 && isSamePlace(config, server, other));
      if (rival === undefined) continue;
      const what =
        rival.field === 'port' ? 'the kubelet’s own server' : `${rival.field}, and one of the two goes without`;
      yield {
        ...exits(`port ${port} is taken by ${what}`),
        at: at(server.field),
        restsOn: [server.field, rival.field, ...(rival.field === 'port' ? ['enableServer'] : [])],
      };
    }
  },
  function* idsOfPods(config) {
    const { minor } = config;
    // 1.33 and 1.34 make their manager before they know idsPerPod; from 1.35 on there is none without the gate (MakeUserNsManager).
    if (minor < 30 || (minor >= 35 && !config.gate('UserNamespacesSupport'))) return;
    const ids = (minor >= 35 ? config.number(IDS) : undefined) ?? 65_536;
    // What no kubelet reads is a fault of its own.
    if (!(ids >= 65_536 && ids % 65_536 === 0)) return;
    const pods = config.number('maxPods') ?? 0;
    const most = Math.floor((2 ** 32 - 1) / ids);
    const isSet = minor >= 35 && config.isSet(IDS);
    const place = at(isSet ? IDS : 'maxPods');
    const restsOn = minor >= 35 ? [IDS, 'maxPods'] : ['maxPods'];
    if (pods > most)
      yield {
        ...exits(`a node has user ids for ${most} pods with ${ids} each, and maxPods is ${pods}`),
        at: place,
        suggestion: isSet ? 'lower userNamespaces.idsPerPod or maxPods' : `set maxPods to ${most} or less`,
        restsOn,
      };
    else if (2 ** 32 % ids !== 0)
      yield {
        ...exits(
          `idsPerPod of ${ids} does not divide the ids of a node where its user kubelet has no range of its own`,
        ),
        at: place,
        suggestion: `write 65536 or that times a power of two, such as ${2 ** Math.floor(Math.log2(ids))}`,
      };
  },
  function* systemCgroups(config) {
    if (config.text('systemCgroups') !== '/') return;
    const suggestion = 'name another cgroup, such as /system';
    yield {
      ...exits('the system’s processes cannot be moved to the root cgroup'),
      at: at('systemCgroups'),
      suggestion,
    };
  },
  function* enforcedWithoutReservation(config) {
    const items = config.texts('enforceNodeAllocatable');
    for (const [index, item] of items.entries()) {
      const { field, cgroup } = RESERVED_BY[config.minor < 32 ? item : item.replace(/-compressible$/, '')] ?? {};
      if (field === undefined || (config.text(cgroup ?? '') ?? '') === '') continue;
      if (config.entries(field).length > 0 || (config.text('reservedSystemCPUs') ?? '') !== '') continue;
      yield {
        ...exits(`${item} is enforced, and ${field} reserves nothing`),
        at: ['enforceNodeAllocatable', index],
        suggestion: `set ${field}, or take ${item} out`,
        restsOn: [field],
      };
    }
  },
  function* timeouts(config) {
    const timeout = config.duration('runtimeRequestTimeout');
    if (timeout !== undefined && timeout < 1e6) {
      const suggestion = 'leave it out: the default is 2m';
      yield { ...exits('no runtime answers in less than 1ms'), at: at('runtimeRequestTimeout'), suggestion };
    }
    // A ticker of Go panics (pkg/kubelet/config/file.go).
    if ((config.duration('fileCheckFrequency') ?? 0) >= 0 || (config.text('staticPodPath') ?? '') === '') return;
    const restsOn = ['fileCheckFrequency', 'staticPodPath'];
    yield { ...exits('fileCheckFrequency is negative'), at: at('fileCheckFrequency'), restsOn };
  },
  function* openFiles(config) {
    const files = config.number('maxOpenFiles');
    if (files === undefined || files >= FEWEST_FILES || files < 0) return;
    const suggestion = 'leave it out: the default is 1000000';
    yield {
      ...exits(`${files} open files are too few for a kubelet without a pod`),
      at: at('maxOpenFiles'),
      suggestion,
    };
  },
];

/** Numbers of `crypto/tls.CurveID`: P-256, P-384, P-521, X25519 and the hybrids with ML-KEM. */
const CURVES: readonly number[] = [23, 24, 25, 29, 4587, 4588, 4589];

/** `ConfigureServer` of golang.org/x/net/http2. */
const CIPHERS_OF_HTTP2 = ['TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256', 'TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256'];

/** Kubelets up to 1.35 exit for it. */
const UNSERVED =
  'a certificate and its key go together: with one of them the kubelet starts, and refuses every connection to its port';

const IDS = 'userNamespaces.idsPerPod';

/** What `enforceExistingCgroup` limits a cgroup to; it takes no empty list. */
const RESERVED_BY: Readonly<Record<string, { readonly field: string; readonly cgroup: string }>> = {
  'system-reserved': { field: 'systemReserved', cgroup: 'systemReservedCgroup' },
  'kube-reserved': { field: 'kubeReserved', cgroup: 'kubeReservedCgroup' },
};

/** A kubelet 1.37 of a node without pods was seen to end with 20, and to start with 25. */
const FEWEST_FILES = 25;

interface Server {
  readonly field: string;
  readonly address: string;
}

/** Each takes its port in a goroutine of its own; the first two end the kubelet where they do not get it. */
const SERVERS: readonly Server[] = [
  { field: 'port', address: 'address' },
  { field: 'readOnlyPort', address: 'address' },
  { field: 'healthzPort', address: 'healthzBindAddress' },
];

/** 0 where there is no such server. */
const portOf = (config: ConfigView, { field }: Server): number =>
  field === 'port' && config.flag('enableServer') === false ? 0 : (config.number(field) ?? 0);

/** A server on every address leaves none to others. */
function isSamePlace(config: ConfigView, one: Server, other: Server): boolean {
  if (portOf(config, one) !== portOf(config, other)) return false;
  const [here, there] = [one, other].map(({ address }) => config.text(address) ?? '');
  return here === there || [here, there].some((address) => address === '0.0.0.0' || address === '::');
}

/** Windows nodes have npipe. */
const ENDPOINT_SCHEMES = ['unix', 'npipe'];

const exits = (fault: string): Pick<Complaint, 'code' | 'severity' | 'message'> => ({
  code: 'fails-at-start',
  severity: 'warning',
  message: `${fault}: the kubelet takes the file, and exits when it comes to it`,
});
