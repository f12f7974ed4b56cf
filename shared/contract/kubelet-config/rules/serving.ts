import { minorName } from '../minor.ts';
import { unknownValue } from './formats.ts';
import { at, needsGate, type Rule } from './rule.ts';

/** Names of Go's TLS cipher suites, the insecure ones and the two old aliases included: the kubelet takes all of them. */
const CIPHER_SUITES = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  ...['ECDSA', 'RSA'].flatMap((key) =>
    [
      'AES_128_CBC_SHA',
      'AES_128_CBC_SHA256',
      'AES_128_GCM_SHA256',
      'AES_256_CBC_SHA',
      'AES_256_GCM_SHA384',
      'CHACHA20_POLY1305',
      'CHACHA20_POLY1305_SHA256',
      'RC4_128_SHA',
    ].map((cipher) => `TLS_ECDHE_${key}_WITH_${cipher}`),
  ),
  'TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA',
  'TLS_RSA_WITH_3DES_EDE_CBC_SHA',
  'TLS_RSA_WITH_AES_128_CBC_SHA',
  'TLS_RSA_WITH_AES_128_CBC_SHA256',
  'TLS_RSA_WITH_AES_128_GCM_SHA256',
  'TLS_RSA_WITH_AES_256_CBC_SHA',
  'TLS_RSA_WITH_AES_256_GCM_SHA384',
  'TLS_RSA_WITH_RC4_128_SHA',
];

/** The kubelet's own server, its metrics and its traces. */
export const SERVING_RULES: readonly Rule[] = [
  function* cipherSuites(config) {
    for (const [index, suite] of config.texts('tlsCipherSuites').entries()) {
      if (CIPHER_SUITES.includes(suite)) continue;
      const suggestion = 'write the names that Go has, such as TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256';
      yield { suggestion, ...unknownValue(suite, CIPHER_SUITES, ['tlsCipherSuites', index]) };
    }
  },
  function* serverTlsBootstrap(config) {
    if (config.flag('serverTLSBootstrap') !== true || config.gate('RotateKubeletServerCertificate')) return;
    yield needsGate('serverTLSBootstrap', 'RotateKubeletServerCertificate');
  },
  function* systemLogQuery(config) {
    if (config.flag('enableSystemLogQuery') !== true) return;
    if (!config.gate('NodeLogQuery')) yield needsGate('enableSystemLogQuery', 'NodeLogQuery');
    if (config.flag('enableSystemLogHandler') !== false) return;
    const message = 'enableSystemLogQuery needs enableSystemLogHandler: true';
    yield { code: 'missing-partner', at: at('enableSystemLogQuery'), message, restsOn: ['enableSystemLogHandler'] };
  },
  function* hiddenMetrics(config) {
    const shown = config.text('showHiddenMetricsForVersion') ?? '';
    const previous = minorName(config.minor - 1);
    if (shown === '' || shown === previous) return;
    const message = 'a kubelet shows hidden metrics of the minor version before its own only';
    yield {
      code: 'unknown-value',
      at: at('showHiddenMetricsForVersion'),
      message,
      suggestion: `write "${previous}", or leave it out`,
    };
  },
  function* tracing(config) {
    if (config.isSet('tracing') && !config.gate('KubeletTracing')) yield needsGate('tracing', 'KubeletTracing');
    const endpoint = config.text('tracing.endpoint');
    if (endpoint === undefined || isTracingEndpoint(endpoint)) return;
    const message = `"${endpoint}" is no address for traces`;
    yield {
      code: 'bad-address',
      at: at('tracing.endpoint'),
      message,
      suggestion: 'write host:port, or a dns, unix or unix-abstract URL',
    };
  },
  function* listedOnlyInLogs(config) {
    for (const [index, server] of config.texts('clusterDNS').entries()) {
      if (isIpAddress(server)) continue;
      const message = `"${server}" is no IP address: the kubelet starts, and pods get no such name server`;
      yield { code: 'bad-address', severity: 'warning', at: ['clusterDNS', index], message };
    }
  },
];

const TRACING_SCHEMES = ['dns', 'unix', 'unix-abstract'];

/** As Go's `url.Parse` has it, with one of the schemes that the exporter knows. */
function isTracingEndpoint(endpoint: string): boolean {
  const url = endpoint.includes('//') ? endpoint : `dns://${endpoint}`;
  const [, scheme = '', all = ''] = /^([A-Za-z][A-Za-z0-9+.-]*):(.*)$/s.exec(url) ?? [];
  // oxlint-disable-next-line no-control-regex
  if (!TRACING_SCHEMES.includes(scheme.toLowerCase()) || /^[^#]*[\u0000-\u001F\u007F]/.test(url)) return false;
  const [rest, fragment] = cutAt(all, all.indexOf('#'));
  const [beforeQuery = ''] = rest.split('?', 1);
  if (!beforeQuery.startsWith('/')) return isEscaped(fragment);
  if (!beforeQuery.startsWith('//')) return isEscaped(beforeQuery) && isEscaped(fragment);
  const [authority, path] = cutAt(beforeQuery.slice(2), beforeQuery.indexOf('/', 2) - 2);
  return isAuthority(authority) && isEscaped(path) && isEscaped(fragment);
}

/** What stands before a place and what stands behind it; everything and nothing for a place below 0. */
const cutAt = (text: string, at: number): readonly [string, string] =>
  at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];

const isEscaped = (text: string): boolean => !/%(?![0-9A-Fa-f]{2})/.test(text);

function isAuthority(authority: string): boolean {
  const at = authority.lastIndexOf('@');
  const user = authority.slice(0, Math.max(at, 0));
  const host = authority.slice(at + 1);
  const isUser = /^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(user) && isEscaped(user);
  if (host.startsWith('[') && !host.includes(']')) return false;
  const portAt = host.startsWith('[') ? host.lastIndexOf(']') + 1 : host.lastIndexOf(':');
  const [name, port] = portAt < 0 ? [host, ''] : [host.slice(0, portAt), host.slice(portAt)];
  return isUser && HOST.test(name) && /^(?::\d*)?$/.test(port);
}

/** Escapes in a host are for characters beyond ASCII only. */
const HOST = /^(?:[A-Za-z0-9\-_.~!$&'()*+,;=:[\]<>"\u0080-\uFFFF]|%[89A-Fa-f][0-9A-Fa-f])*$/;

function isIpAddress(text: string): boolean {
  const isV4 = /^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$/.test(text);
  return isV4 || (text.includes(':') && /^[0-9A-Fa-f:.]+$/.test(text));
}
