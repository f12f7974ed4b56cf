import { readFile } from 'node:fs/promises';
import { type Html, html, toText } from '#reconciler/reporting/status-page/html.ts';
import type { Tab } from '../../test/page/support/tab.ts';

interface Box {
  readonly shape: 'box';
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly fill: string;
  readonly radius: number;
}

interface Line {
  readonly shape: 'text';
  readonly x: number;
  /** Of the baseline. */
  readonly y: number;
  readonly width: number;
  readonly text: string;
  readonly fill: string;
  readonly size: number;
  readonly weight: string;
  readonly isCode: boolean;
  readonly isUnderlined: boolean;
}

interface Trace {
  readonly width: number;
  readonly height: number;
  readonly ground: string;
  readonly shapes: readonly (Box | Line)[];
}

const TRACE = new URL('./trace.js', import.meta.url);

/** The page in a tab as an SVG: text stays text, and needs none of the fonts that it was laid out with. */
export async function drawPage(tab: Tab, title: string): Promise<string> {
  const { width, height, ground, shapes } = await tab.evaluate<Trace>(await readFile(TRACE, 'utf8'));
  const drawn = shapes.map((shape) => html`${shape.shape === 'box' ? drawBox(shape) : drawLine(shape)}${'\n'}`);
  return `${toText(
    html`<svg
      xmlns="http://www.w3.org/2000/svg"
      viewBox="0 0 ${width} ${height}"
      role="img"
      font-family="system-ui, sans-serif"
    >
      <title>${title}</title>
      <rect width="${width}" height="${height}" rx="8" fill="${ground}" />
      ${drawn}
    </svg>`,
  )}\n`;
}

function drawBox({ x, y, width, height, fill, radius }: Box): Html {
  return html`<rect
    x="${short(x)}"
    y="${short(y)}"
    width="${short(width)}"
    height="${short(height)}"
    rx="${short(radius)}"
    fill="${fill}"
  />`;
}

/** Its length is said, so that another font does not make it run into what comes next. */
function drawLine({ x, y, width, text, fill, size, weight, isCode, isUnderlined }: Line): Html {
  const family = isCode ? 'ui-monospace, monospace' : 'inherit';
  const decoration = isUnderlined ? 'underline' : 'none';
  return html`<text
    x="${short(x)}"
    y="${short(y)}"
    textLength="${short(width)}"
    lengthAdjust="spacingAndGlyphs"
    font-size="${short(size)}"
    font-weight="${weight}"
    font-family="${family}"
    text-decoration="${decoration}"
    fill="${fill}"
    >${text.trim()}</text
  >`;
}

const short = (value: number): string => String(Math.round(value * 10) / 10);
