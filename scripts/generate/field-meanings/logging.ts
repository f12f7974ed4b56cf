import type { LOGGING_FIELDS } from '#shared/contract/kubelet-config/fields/logging.ts';
import type { MeaningsOf } from './meanings-of.ts';

export const LOGGING_MEANINGS: MeaningsOf<typeof LOGGING_FIELDS> = {
  logging: 'How the kubelet writes its own log',
  'logging.flushFrequency': 'Longest time that log lines stay in a buffer',
  'logging.format': 'Whether log lines are plain text or JSON',
  'logging.options': 'Options of the two log formats; alpha',
  'logging.options.json': 'Options of the format json',
  'logging.options.json.infoBufferSize': 'Size of the buffer for info messages while splitStream is on; 0 for none',
  'logging.options.json.splitStream': 'Writes info messages to standard output and errors to standard error',
  'logging.options.text': 'Options of the format text',
  'logging.options.text.infoBufferSize': 'Size of the buffer for info messages while splitStream is on; 0 for none',
  'logging.options.text.splitStream': 'Writes info messages to standard output and errors to standard error',
  'logging.sanitization': 'Keeps values that are marked as secret out of the log',
  'logging.verbosity': 'How much is logged; higher numbers log more',
  'logging.vmodule': 'Verbosity of single source files, for the format text',
  'logging.vmodule[].filePattern': 'Name of a source file without .go; * and ? are wildcards',
  'logging.vmodule[].verbosity': 'How much these files log; higher numbers log more',
};
