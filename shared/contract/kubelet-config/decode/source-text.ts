import type { Finding } from '../../finding.ts';
import { lineIndex } from './position.ts';

/** Biggest file that is read, in bytes. A full KubeletConfiguration with comments has less than a tenth of it. */
export const MAX_FILE_BYTES = 256 * 1024;

export type SourceText = { readonly text: string } | { readonly finding: Finding };

/** A file's bytes as text: UTF-8 without exceptions (a byte order mark is fine), no control characters. */
export function sourceText(bytes: Uint8Array, file: string | undefined): SourceText {
  if (bytes.byteLength > MAX_FILE_BYTES) {
    return refuse(
      file,
      'file-too-big',
      `the file has ${bytes.byteLength} bytes, and at most ${MAX_FILE_BYTES} are read`,
    );
  }
  const text = decodeUtf8(bytes);
  if (text === undefined) {
    const suggestion = 'save it as UTF-8';
    return refuse(file, 'not-utf8', 'the file is not UTF-8 text', suggestion);
  }
  const control = CONTROL.exec(text);
  if (control === null) return { text };
  const code = control[0].charCodeAt(0).toString(16).padStart(4, '0').toUpperCase();
  const { line, column } = lineIndex(text, file).at(control.index);
  return {
    finding: {
      ...finding(file, 'not-utf8', `the control character U+${code} is not allowed in YAML or JSON`),
      line,
      column,
    },
  };
}

// What neither YAML nor JSON allows outside of escapes; tabs and line ends are looked at by the parsers.
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F\uFFFE\uFFFF]/;

function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function refuse(file: string | undefined, code: string, message: string, suggestion?: string): SourceText {
  return { finding: { ...finding(file, code, message), ...(suggestion === undefined ? {} : { suggestion }) } };
}

function finding(file: string | undefined, code: string, message: string): Finding {
  return { code, severity: 'error', message, ...(file === undefined ? {} : { file }) };
}
