import type { Finding } from '../../finding.ts';
import { minorName, minorNumber, OLDEST_MINOR } from '../minor.ts';
import type { Report } from './json.ts';
import { lineIndex } from '../position.ts';
import { sourceText } from './source-text.ts';
import { readYaml } from './yaml/read-yaml.ts';

/** Last minor that looks for doubled keys with its YAML parser, in JSON files too. */
const LAST_MINOR = 22;

/**
 * What kubelets up to 1.22 find when they read a JSON file once more as YAML: not all JSON is YAML to them (`"\/"` is
 * not, nor is a line end before a colon). They then go on as with a misspelt field.
 *
 * @param minors the versions that are asked about
 */
export function checkJsonAsYaml(bytes: Uint8Array, minors: readonly string[], file?: string): readonly Finding[] {
  const versions = minors.filter((minor) => (minorNumber(minor) ?? OLDEST_MINOR) <= LAST_MINOR);
  if (versions.length === 0) return [];
  const source = sourceText(bytes, file);
  if ('finding' in source || !source.isJson) return [];
  const found: Finding[] = [];
  const lines = lineIndex(source.text, file);
  const report: Report = (code, offset, reason) => {
    // Doubled keys are found in JSON as well, and what only people misread is no matter here.
    if (!FATAL.has(code)) return;
    const message = `kubelets up to ${minorName(LAST_MINOR)} want JSON to be YAML as well, and this is not: ${reason}`;
    found.push({ code: 'json-not-yaml', severity: 'error', message, ...lines.at(offset), versions });
  };
  readYaml(source.text, report);
  if (source.broken !== undefined && found.length === 0) report('not-utf8', 0, source.broken.finding.message);
  return found;
}

const FATAL: ReadonlySet<string> = new Set(['yaml-syntax', 'yaml-directive', 'yaml-key', 'too-deep', 'not-utf8']);
