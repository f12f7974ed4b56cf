import { type Document, LineCounter, parseAllDocuments, type YAMLParseError } from 'yaml';
import { type Read, type Report } from './json.ts';
import { readYamlNode } from './yaml-node.ts';

/**
 * Reads the first document of a YAML text with the kubelet's eyes: plain scalars as go-yaml v2 resolves them, the last
 * of doubled keys, aliases and merge keys followed. Everything that a person would not expect is reported; the value is
 * what the kubelet would work with all the same.
 *
 * @returns undefined where the text is no YAML, or nothing but white space and comments; both are reported
 */
export function readYaml(text: string, report: Report): Read | undefined {
  // A lone CR ends a line for the kubelet and not for the library; the offsets stay as they are.
  const documents = parseAllDocuments(text.replaceAll(/\r(?!\n)/g, '\n'), {
    // Only the syntax is the library's: what scalars mean is decided in `readYamlNode`.
    schema: 'failsafe',
    version: '1.1',
    uniqueKeys: false,
    prettyErrors: false,
    lineCounter: new LineCounter(),
    logLevel: 'silent',
  });
  if ('empty' in documents) return nothing(report);
  const [first, second] = documents;
  if (first === undefined || (first.contents === null && first.errors.length === 0)) return nothing(report);
  for (const error of first.errors) report('yaml-syntax', error.pos[0], sentence(error), adviceFor(error, text));
  if (first.errors.length > 0 || !knowsDirectives(first, report)) return undefined;
  if (second !== undefined) {
    const message = 'a second document starts here, and the kubelet reads only the first';
    report('several-documents', second.range[0], message, 'keep one document in the file');
  }
  if (first.contents === null) return nothing(report);
  return readYamlNode(first.contents, first, report);
}

/** Directives other than `%YAML 1.1` and `%TAG` are fatal to the kubelet. */
function knowsDirectives(document: Document.Parsed, report: Report): boolean {
  const { explicit = false, version } = document.directives.yaml;
  const unknown = document.warnings.filter(({ code }) => code === 'BAD_DIRECTIVE');
  for (const { pos, message } of unknown) report('yaml-directive', pos[0], message, 'take the directive out');
  const isOther = explicit && version !== '1.1';
  if (isOther) report('yaml-directive', 0, `the kubelet refuses %YAML ${version}`, 'take the directive out');
  return !isOther && unknown.length === 0;
}

function nothing(report: Report): undefined {
  report('empty-file', 0, 'there is nothing in the file but white space and comments');
  return undefined;
}

/** The library's message on one line, without its full stop. */
function sentence(error: YAMLParseError): string {
  const [line = ''] = error.message.split('\n');
  const text = line.replace(/\.$/, '').replace(/:$/, '');
  return text.charAt(0).toLowerCase() + text.slice(1);
}

function adviceFor(error: YAMLParseError, text: string): string | undefined {
  if (error.code === 'TAB_AS_INDENT' || text.charAt(error.pos[0]) === '\t') return 'indent with spaces';
  if (error.code === 'BAD_INDENT') return 'align it with its neighbours';
  return undefined;
}
