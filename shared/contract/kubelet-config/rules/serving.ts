import { minorName } from '../minor.ts';
import { goUrlScheme } from '../syntax/go-url.ts';
import { unknownValue } from './formats.ts';
import { at, needsGate, type Rule } from './rule.ts';

/** Names of Go's TLS cipher suites, the insecure ones and the two old aliases included: the kubelet takes all of them. */
export const CIPHER_SUITES: readonly string[] = [
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
    const message = `"${endpoint}" is not a valid address for traces`;
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
      const message = `"${server}" is not an IP address: the kubelet starts, and pods get no such name server`;
      yield { code: 'bad-address', severity: 'warning', at: ['clusterDNS', index], message };
    }
  },
];

const TRACING_SCHEMES = ['dns', 'unix', 'unix-abstract'];

function isTracingEndpoint(endpoint: string): boolean {
  const scheme = goUrlScheme(endpoint.includes('//') ? endpoint : `dns://${endpoint}`);
  return scheme !== undefined && TRACING_SCHEMES.includes(scheme);
}

function isIpAddress(text: string): boolean {
  const isV4 = /^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$/.test(text);
  return isV4 || (text.includes(':') && /^[0-9A-Fa-f:.]+$/.test(text));
}
