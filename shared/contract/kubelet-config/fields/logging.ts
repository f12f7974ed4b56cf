import type { Fields } from './field.ts';

/** The kubelet's own log. */
export const LOGGING_FIELDS = {
  logging: { kind: 'struct' },
  'logging.flushFrequency': { kind: 'duration-or-nanoseconds', since: 23, default: '5s', ignoredUntil: 24 },
  'logging.format': { kind: 'string', default: 'text', values: ['text', 'json'] },
  'logging.options': { kind: 'struct', since: 23 },
  'logging.options.json': { kind: 'struct', since: 23 },
  'logging.options.json.infoBufferSize': { kind: 'quantity', since: 23, default: '0' },
  'logging.options.json.splitStream': { kind: 'bool', since: 23 },
  'logging.options.text': { kind: 'struct', since: 30 },
  'logging.options.text.infoBufferSize': { kind: 'quantity', since: 30, default: '0' },
  'logging.options.text.splitStream': { kind: 'bool', since: 30 },
  'logging.sanitization': { kind: 'bool', until: 23 },
  'logging.verbosity': { kind: 'uint32', since: 23, default: 0 },
  'logging.vmodule': { kind: 'struct-list', since: 23 },
  'logging.vmodule[].filePattern': { kind: 'string', since: 23 },
  'logging.vmodule[].verbosity': { kind: 'uint32', since: 23 },
} as const satisfies Fields;
