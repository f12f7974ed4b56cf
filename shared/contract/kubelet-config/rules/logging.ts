import { trimmedQuantity, valueOfQuantity } from '../syntax/quantity.ts';
import { at, type Complaint, needsGate, type Rule } from './rule.ts';

const MAX_VERBOSITY = 2 ** 31 - 1;

/** component-base's validation of `logging`. */
export const LOGGING_RULES: readonly Rule[] = [
  function* jsonFormat(config) {
    if (config.minor < 25 || config.text('logging.format') !== 'json' || config.gate('LoggingBetaOptions')) return;
    yield needsGate('logging.format', 'LoggingBetaOptions', 'the format json');
  },
  function* verbosity(config) {
    if ((config.number('logging.verbosity') ?? 0) > MAX_VERBOSITY) yield tooVerbose(at('logging.verbosity'));
  },
  function* vmodule(config) {
    const modules = config.structs('logging.vmodule');
    if (modules.length > 0 && config.text('logging.format') === 'json') {
      const message = 'vmodule works with the format text only';
      yield { code: 'conflict', at: at('logging.vmodule'), message, restsOn: ['logging.format'] };
    }
    for (const [index, { filePattern, verbosity }] of modules.entries()) {
      const path = ['logging', 'vmodule', index];
      const pattern = filePattern ?? '';
      if (typeof pattern === 'string' && (pattern === '' || /[=,]/.test(pattern))) {
        const message = pattern === '' ? 'the file pattern is missing' : 'a file pattern cannot have = or , in it';
        yield { code: 'unknown-value', at: [...path, 'filePattern'], message };
      }
      if (typeof verbosity === 'number' && verbosity > MAX_VERBOSITY) yield tooVerbose([...path, 'verbosity']);
    }
  },
  function* flushFrequency(config) {
    if (config.minor < 35 || (config.duration('logging.flushFrequency') ?? 0) >= 0) return;
    yield { code: 'out-of-range', at: at('logging.flushFrequency'), message: 'flushFrequency cannot be negative' };
  },
  // splitStream is not judged: the kubelet sets it back to what its flags say before it looks.
  function* bufferSize(config) {
    const formats = config.minor < 25 ? [] : config.minor < 30 ? ['json'] : ['json', 'text'];
    for (const format of formats) {
      const field = `logging.options.${format}.infoBufferSize`;
      const size = config.text(field) ?? config.number(field) ?? 0;
      if (valueOfQuantity(trimmedQuantity(String(size))) !== 0n && !config.gate('LoggingAlphaOptions'))
        yield needsGate(field, 'LoggingAlphaOptions');
    }
  },
];

function tooVerbose(path: Complaint['at']): Complaint {
  return { code: 'out-of-range', at: path, message: `a verbosity is at most ${MAX_VERBOSITY}` };
}
