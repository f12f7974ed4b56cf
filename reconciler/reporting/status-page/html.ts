import { escapeInvisible } from '../../git/plain-text.ts';

/** Markup that is safe to send: made by `html` alone. */
export interface Html {
  readonly [MARKUP]: string;
}

const MARKUP = Symbol('markup');

/** What may stand in a template: text is escaped, markup is not, nothing is nothing. */
export type Content = string | number | Html | null | readonly Content[];

/**
 * The only way from text to markup. Whatever is put in is text: names, reasons and subjects come from strangers. It may stand
 * between elements or in a quoted attribute, nowhere else. Invisible characters are spelled out.
 */
export function html(strings: TemplateStringsArray, ...contents: readonly Content[]): Html {
  const parts = strings.flatMap((text, index) => [
    text,
    index < contents.length ? markup(contents[index] ?? null) : '',
  ]);
  return { [MARKUP]: parts.join('') };
}

/** The markup as it goes over the wire. */
export const toText = (page: Html): string => page[MARKUP];

function markup(content: Content): string {
  if (content === null) return '';
  if (typeof content === 'string') return escape(content);
  if (typeof content === 'number') return String(content);
  if (MARKUP in content) return content[MARKUP];
  return content.map(markup).join('');
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escape(text: string): string {
  const seen = text.split('\n').map(escapeInvisible).join('\n');
  return seen.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}
