import type { Read, Report } from '../json.ts';
import { YamlSyntaxError } from './cursor.ts';
import { parseFirstDocument, TooDeep, UnknownAnchor } from './parser.ts';
import { readYamlNode } from './read-node.ts';

/** What is read of a YAML text. */
interface ReadYaml {
  /** Absent where the text is no YAML, or nothing but white space and comments; both are reported. */
  readonly read?: Read;
  /** How far the text was looked at: what comes later is of no importance to the kubelet. */
  readonly readAhead: number;
}

/**
 * Reads the first document of a YAML text with the kubelet's eyes: its syntax and its plain scalars as go-yaml v2 takes
 * them, the last of doubled keys, aliases and merge keys followed. Everything that a person would not expect is
 * reported; the value is what the kubelet would work with all the same.
 */
export function readYaml(text: string, report: Report): ReadYaml {
  try {
    const { root, second, readAhead } = parseFirstDocument(text);
    if (root === undefined || (root.kind === 'scalar' && root.text === '' && root.isPlain)) {
      report('empty-file', 0, 'there is nothing in the file but white space and comments');
      return { readAhead };
    }
    if (second !== undefined) {
      const message = 'a second document starts here, and the kubelet reads only the first';
      report('several-documents', second, message, 'keep one document in the file');
    }
    const read = readYamlNode(root, report);
    return read === undefined ? { readAhead } : { read, readAhead };
  } catch (thrown) {
    if (!(thrown instanceof YamlSyntaxError)) throw thrown;
    reportSyntax(thrown, text, report);
    return { readAhead: thrown.offset };
  }
}

function reportSyntax(error: YamlSyntaxError, text: string, report: Report): void {
  const offset = Math.min(error.offset, text.length);
  if (error instanceof UnknownAnchor) report('yaml-alias', offset, error.message);
  else if (error instanceof TooDeep) report('too-deep', offset, error.message);
  else if (text.charAt(offset) === '%' && isLineStart(text, offset))
    report('yaml-directive', offset, error.message, 'take the line out');
  else report('yaml-syntax', offset, error.message, adviceFor(text, offset));
}

const isLineStart = (text: string, offset: number): boolean => offset === 0 || /[\r\n]/.test(text.charAt(offset - 1));

function adviceFor(text: string, offset: number): string | undefined {
  const before = text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset);
  const line = /[^\n\r]*/y;
  line.lastIndex = offset;
  const here = line.exec(text)?.[0] ?? '';
  if (here.startsWith('{{')) return 'this is a template: fill it in first';
  if (here.startsWith('\t') || /^\s*\t/.test(before)) return 'indent with spaces, not with tabs';
  if (/^[\w.-]+:\u00A0/.test(here)) return 'behind the colon is a no-break space: write a plain one';
  if (/^[\w.-]+:[^\s/]/.test(here)) return 'write a space behind the colon';
  if (here.startsWith(':') && /^\s+[\w./-]+$/.test(before)) return 'indent the line like the keys above it';
  if (here.startsWith(':') && /^[^#'"]*:\s/.test(before)) return 'put a value with a colon in it in quotes';
  if (/[@`%]/.test(text.charAt(offset))) return 'put the value in quotes';
  return undefined;
}
