import { type Html, html, toText } from '#reconciler/reporting/status-page/html.ts';
import type { Tone } from '#cli/paint.ts';

/** A piece of a line in one tone; '' for none. */
export interface Piece {
  readonly tone: Tone | '';
  readonly text: string;
}

const [CHARACTER, LINE, SIZE, EDGE, BAR] = [8.4, 20, 14, 20, 36];
const LONGEST = 100;
const INDENT = 14;
const COLOURS: Readonly<Record<Tone | '', string>> = {
  '': '#d7dde8',
  strong: '#ffffff',
  good: '#7ddca0',
  busy: '#f5c469',
  bad: '#ff9aa5',
  quiet: '#9aa5b8',
};

/** Lines of a terminal as an SVG. */
export function drawTerminal(said: readonly (readonly Piece[])[], title: string): string {
  const lines = said.flatMap(wrapped);
  const longest = Math.max(...lines.map((line) => line.reduce((sum, { text }) => sum + text.length, 0)));
  const width = Math.ceil(longest * CHARACTER) + 2 * EDGE;
  const height = BAR + lines.length * LINE + EDGE;
  const drawn = lines.map((line, index) => html`${drawLine(line, BAR + (index + 1) * LINE)}${'\n'}`);
  return `${toText(
    html`<svg
      xmlns="http://www.w3.org/2000/svg"
      viewBox="0 0 ${width} ${height}"
      role="img"
      font-family="ui-monospace, monospace"
      font-size="${SIZE}"
    >
      <title>${title}</title>
      <rect width="${width}" height="${height}" rx="8" fill="#11151c" />
      <circle cx="20" cy="18" r="5" fill="#ff9aa5" />
      <circle cx="38" cy="18" r="5" fill="#f5c469" />
      <circle cx="56" cy="18" r="5" fill="#7ddca0" />
      ${drawn}
    </svg>`,
  )}\n`;
}

/** A line that is too long goes on below, further in. */
function wrapped(line: readonly Piece[]): readonly (readonly Piece[])[] {
  const text = line.map((piece) => piece.text).join('');
  const last = line.at(-1);
  if (text.length <= LONGEST || last === undefined) return [line];
  const before = line.slice(0, -1);
  const at = last.text.lastIndexOf(' ', LONGEST - (text.length - last.text.length));
  if (at <= 0) return [line];
  const rest = [
    { tone: '', text: ' '.repeat(INDENT) },
    { ...last, text: last.text.slice(at + 1) },
  ] as const;
  return [[...before, { ...last, text: last.text.slice(0, at) }], ...wrapped(rest)];
}

/** Every piece has its place by the number of characters before it, whatever font draws them. */
function drawLine(line: readonly Piece[], y: number): Html {
  let column = 0;
  const pieces = line.map(({ tone, text }) => {
    const x = EDGE + (column + text.length - text.trimStart().length) * CHARACTER;
    column += text.length;
    const shown = text.trim();
    const length = (shown.length * CHARACTER).toFixed(1);
    return shown === ''
      ? null
      : html`<text
          x="${x.toFixed(1)}"
          y="${y}"
          textLength="${length}"
          lengthAdjust="spacingAndGlyphs"
          xml:space="preserve"
          fill="${COLOURS[tone]}"
          font-weight="${tone === 'strong' ? 'bold' : 'normal'}"
          >${shown}</text
        >`;
  });
  return html`${pieces}`;
}
