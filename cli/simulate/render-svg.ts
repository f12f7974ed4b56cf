import { formatDuration } from '#shared/runtime/duration.ts';
import type { Simulation } from './simulate.ts';
import { countsIn } from './render-text.ts';
import { type Lane, lanesOf } from './pool-timelines.ts';

const [WIDTH, LANE, LEFT, TOP, HEIGHT] = [960, 90, 20, 50, 46];

/** The same as a picture for a pull request: a lane for every pool, its nodes rising to all of them, failures as red marks. */
export function simulationAsSvg(simulation: Simulation): string {
  const lanes = lanesOf(simulation);
  const span = Math.max(1, simulation.end - simulation.start);
  const height = TOP + LANE * Math.max(1, lanes.length);
  const title = `${simulation.nodes} nodes: it ends after ${formatDuration(Math.round(span / 1000) * 1000)}`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" font-family="sans-serif" font-size="13">`,
    `<title>${escaped(`Simulated rollout: ${title}`)}</title>`,
    '<style>text{fill:#24292f}.area{fill:#2da44e;fill-opacity:.35;stroke:#2da44e}.base{stroke:#8c959f}.fail{stroke:#cf222e;stroke-width:2}.wave{stroke:#0969da;stroke-dasharray:3 3}@media (prefers-color-scheme:dark){text{fill:#e6edf3}}</style>',
    `<text x="${LEFT}" y="24" font-weight="bold">${escaped(title)}</text>`,
    ...lanes.flatMap((lane, index) => drawLane(lane, TOP + index * LANE, span)),
    '</svg>',
    '',
  ].join('\n');
}

function drawLane(lane: Lane, top: number, span: number): readonly string[] {
  const bottom = top + 20 + HEIGHT;
  const x = (at: number): string => (LEFT + (at / span) * (WIDTH - 2 * LEFT)).toFixed(1);
  const y = (proved: number): string =>
    (bottom - (Math.min(proved, lane.nodes) / Math.max(1, lane.nodes)) * HEIGHT).toFixed(1);
  let last = 0;
  const points = lane.curve.flatMap(({ at, proved }) => {
    const corner = `${x(at)},${y(last)} ${x(at)},${y(proved)}`;
    last = proved;
    return [corner];
  });
  const area = [`${x(0)},${bottom}`, ...points, `${x(span)},${y(last)}`, `${x(span)},${bottom}`].join(' ');
  return [
    `<text x="${LEFT}" y="${top + 12}">${escaped(`${lane.pool}: ${lane.phase}, ${countsIn(lane)}`)}</text>`,
    `<polygon class="area" points="${area}"/>`,
    `<line class="base" x1="${LEFT}" x2="${WIDTH - LEFT}" y1="${bottom}" y2="${bottom}"/>`,
    ...lane.waves.flatMap(({ name, doneAt }) =>
      doneAt === undefined
        ? []
        : [
            `<line class="wave" x1="${x(doneAt)}" x2="${x(doneAt)}" y1="${top + 20}" y2="${bottom}"><title>${escaped(name)} done</title></line>`,
          ],
    ),
    ...lane.failures.map(
      ({ at, node }) =>
        `<line class="fail" x1="${x(at)}" x2="${x(at)}" y1="${bottom - 10}" y2="${bottom}"><title>${escaped(node)} failed</title></line>`,
    ),
  ];
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
