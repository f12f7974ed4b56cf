import type { ProfileName } from '#reconciler/policy/templates/profiles.ts';
import { type Html, html, toText } from '#reconciler/reporting/status-page/html.ts';
import { type Curve, curvesOf } from './profile-curves.ts';

export type Scheme = 'light' | 'dark';

interface Colours {
  readonly ground: string;
  readonly line: string;
  readonly text: string;
  readonly soft: string;
  readonly curves: Readonly<Record<ProfileName, string>>;
}

/** As on the status page. */
const COLOURS: Readonly<Record<Scheme, Colours>> = {
  light: {
    ground: '#ffffff',
    line: '#d5d9e0',
    text: '#1a1f29',
    soft: '#4b5565',
    curves: { gke: '#1d4ed8', eks: '#b45309', aks: '#136c34', openshift: '#b00020' },
  },
  dark: {
    ground: '#11151c',
    line: '#364152',
    text: '#e7eaf0',
    soft: '#b0bac9',
    curves: { gke: '#93b4ff', eks: '#f5c469', aks: '#7ddca0', openshift: '#ff9aa5' },
  },
};

/** Curves that lie on each other differ by their dashes, and all of them without colours. */
const DASHES: Readonly<Record<ProfileName, string>> = { gke: 'none', eks: '12 6', aks: '2 5', openshift: '8 4 2 4' };

const [WIDTH, HEIGHT, TOP, BOTTOM] = [1000, 420, 96, 364];

/** One diagram: sizes are doubled from mark to mark, what is reserved is too where `isDoubled`. */
interface Panel {
  readonly title: string;
  readonly axis: string;
  readonly left: number;
  readonly right: number;
  readonly sizes: readonly number[];
  readonly amounts: readonly (readonly [amount: number, label: string])[];
  readonly isDoubled: boolean;
  readonly curves: readonly Curve[];
}

const PANELS: readonly Panel[] = [
  {
    title: 'Reserved memory',
    axis: 'Memory of the machine, in GiB, with 110 pods',
    left: 84,
    right: 480,
    sizes: [2, 4, 8, 16, 32, 64, 128, 256, 512],
    amounts: [
      [0.5, '512 MiB'],
      [1, '1 GiB'],
      [2, '2 GiB'],
      [4, '4 GiB'],
      [8, '8 GiB'],
      [16, '16 GiB'],
      [32, '32 GiB'],
    ],
    isDoubled: true,
    curves: curvesOf('memory', 2, 512),
  },
  {
    title: 'Reserved CPU',
    axis: 'Cores of the machine',
    left: 580,
    right: 976,
    sizes: [1, 2, 4, 8, 16, 32, 64, 128],
    amounts: [0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75].map((cores) => [cores, `${cores * 1000}m`] as const),
    isDoubled: false,
    curves: curvesOf('cpu', 1, 128),
  },
];

/** What the profiles reserve, over the sizes of machines, as an SVG. The same formulas give the same text. */
export function drawProfileCurves(scheme: Scheme): string {
  const colours = COLOURS[scheme];
  return `${toText(
    html`<svg
      xmlns="http://www.w3.org/2000/svg"
      viewBox="0 0 ${WIDTH} ${HEIGHT}"
      role="img"
      font-family="system-ui, sans-serif"
      font-size="14"
    >
      <title>What the profiles gke, eks, aks and openshift reserve of machines of different sizes</title>
      <rect width="${WIDTH}" height="${HEIGHT}" rx="8" fill="${colours.ground}" />
      ${legend(colours)} ${PANELS.map((panel) => drawPanel(panel, colours))}
    </svg>`,
  )}\n`;
}

function legend({ curves, text }: Colours): readonly Html[] {
  return Object.entries(curves).map(([name, colour], index) => {
    const x = 84 + index * 130;
    return html`<line
        x1="${x}"
        y1="28"
        x2="${x + 44}"
        y2="28"
        stroke="${colour}"
        stroke-width="3"
        stroke-dasharray="${DASHES[name as ProfileName]}"
      />
      <text x="${x + 52}" y="33" fill="${text}">${name}</text> `;
  });
}

function drawPanel(panel: Panel, colours: Colours): Html {
  const { title, axis, left, right, sizes, amounts, curves } = panel;
  const { line, text, soft } = colours;
  const middle = (left + right) / 2;
  return html`<text x="${left}" y="76" fill="${text}" font-size="16" font-weight="600">${title}</text>
    ${amounts.map(([amount, label]) => {
      const y = placeOf(amount, panel);
      return html`<line x1="${left}" y1="${y}" x2="${right}" y2="${y}" stroke="${line}" />
        <text x="${left - 10}" y="${y + 5}" fill="${soft}" text-anchor="end">${label}</text> `;
    })}
    ${sizes.map((size) => {
      const x = columnOf(size, panel);
      return html`<line x1="${x}" y1="${BOTTOM}" x2="${x}" y2="${BOTTOM + 5}" stroke="${soft}" />
        <text x="${x}" y="${BOTTOM + 22}" fill="${soft}" text-anchor="middle">${size}</text> `;
    })}
    <text x="${middle}" y="${BOTTOM + 44}" fill="${soft}" text-anchor="middle">${axis}</text>
    ${curves.map(
      ({ profile, points }) =>
        html`<polyline
          points="${points.map(({ size, reserved }) => `${columnOf(size, panel)},${placeOf(reserved, panel)}`).join(' ')}"
          fill="none"
          stroke="${colours.curves[profile]}"
          stroke-width="3"
          stroke-linejoin="round"
          stroke-dasharray="${DASHES[profile]}"
        /> `,
    )}`;
}

/** From the left, in pixels. */
function columnOf(size: number, { left, right, sizes }: Panel): number {
  const [first = 1, last = 1] = [sizes[0], sizes.at(-1)];
  return short(left + ((right - left) * Math.log2(size / first)) / Math.log2(last / first));
}

/** From the top, in pixels. */
function placeOf(amount: number, { amounts, isDoubled }: Panel): number {
  const [least = 0, most = 1] = [amounts[0]?.[0], amounts.at(-1)?.[0]];
  const share = isDoubled ? Math.log2(amount / least) / Math.log2(most / least) : (amount - least) / (most - least);
  return short(BOTTOM - (BOTTOM - TOP) * share);
}

const short = (value: number): number => Math.round(value * 10) / 10;
