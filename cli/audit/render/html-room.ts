import { formatResource } from '#reconciler/policy/allocatable/allocatable.ts';
import { type Content, type Html, html } from '#reconciler/reporting/status-page/html.ts';
import { dateAndTime } from '#reconciler/reporting/status-page/render/html-time.ts';
import { countOf } from '#reconciler/reporting/status-page/render/state-badges.ts';
import type { MeasuredUse, RoomClass, RoomOfResource } from '../audit-report.ts';
import { bar, type BarPart } from './html-bar.ts';
import { nodeNames } from './html-checks.ts';
import { split } from './words.ts';

/** `-o json` has all. */
const MOST_CLASSES = 40;

const NAMES = { cpu: 'CPU', memory: 'Memory', 'ephemeral-storage': 'Ephemeral storage' } as const;

interface Row {
  readonly what: string;
  readonly amount: number;
  readonly more?: Content;
  readonly parts: readonly BarPart[];
  /** Of the bar; absent for that of the other rows. */
  readonly whole?: number;
}

/** What kubelets keep back from pods, against what all outside of pods uses, for each class of machines. */
export function roomPicture(classes: readonly RoomClass[]): Html {
  const { first, more } = split(classes, MOST_CLASSES);
  return html`${first.map(renderClass)}${more === 0 ? null : html`<p>And ${more} smaller classes of machines.</p>`}`;
}

function renderClass({ name, count, nodes, profile, resources }: RoomClass): Html {
  return html`<article class="room">
    <h3>${name}${profile === undefined ? '' : `, reserved as ${profile} does`}</h3>
    ${nodeNames(nodes, count)} ${resources.map(renderResource)}
  </article>`;
}

function renderResource(room: RoomOfResource): Html {
  const { resource, capacity, allocatable, parts = [] } = room;
  const rows = rowsOf(room);
  const widest = Math.max(...rows.filter(({ whole }) => whole === undefined).map(({ amount }) => amount));
  const facts = [
    ...(allocatable === undefined ? [] : [`allocatable ${formatResource(resource, allocatable)}`]),
    ...parts.map((part) => `${part.name} uses at most ${formatResource(resource, part.most)}`),
  ];
  return html`<figure>
    <figcaption><b>${NAMES[resource]}</b>: ${formatResource(resource, capacity)} on each node</figcaption>
    <ul class="bars">
      ${rows.map(
        ({ what, amount, more, parts: segments, whole }) =>
          html`<li>
            ${what} <b class="figure">${formatResource(resource, amount)}</b> ${
              more === undefined ? null : html`<span class="origin">${more}</span>`
            }
            ${bar(segments, whole ?? widest)}
          </li>`,
      )}
    </ul>
    ${facts.length === 0 ? null : html`<p class="origin">${facts.join('; ')}</p>`}
  </figure>`;
}

/** The first bar is the whole machine; all others have one scale, which ends with the largest of them. */
function rowsOf({
  resource,
  capacity,
  kubeReserved,
  systemReserved,
  eviction,
  used,
  profiles,
}: RoomOfResource): readonly Row[] {
  const kept = kubeReserved + systemReserved + eviction;
  const segments = [
    { what: 'kubeReserved', length: kubeReserved, look: 'kube' },
    { what: 'systemReserved', length: systemReserved, look: 'system' },
    { what: 'hard eviction', length: eviction, look: 'eviction' },
  ];
  const share = capacity <= 0 ? '' : ` (${((kept / capacity) * 100).toFixed(1)} %)`;
  const shares = segments
    .filter(({ length }) => length > 0)
    .map(({ what, length }) => `${what} ${formatResource(resource, length)}`)
    .join(' + ');
  return [
    {
      what: `Kept back of the whole machine${share}:`,
      amount: kept,
      parts: [{ length: kept, look: 'kube' }],
      whole: capacity,
    },
    { what: 'Kept back:', amount: kept, ...(shares === '' ? {} : { more: shares }), parts: segments },
    ...(used === undefined ? [] : [usedRow(used)]),
    ...profiles.map(({ name, amount }) => ({
      what: `Profile ${name} would keep back:`,
      amount,
      parts: [{ length: amount, look: 'quiet' }],
    })),
  ];
}

function usedRow({ median, most, kind, nodes, days, at }: MeasuredUse): Row {
  const how = kind === 'p99' ? `99th percentile over ${countOf(days ?? 0, 'day')}` : 'one look';
  return {
    what: 'Used outside of pods, at most:',
    amount: most,
    more: html`${how}, ${countOf(nodes, 'node')}, ${dateAndTime(at)}; the first part is the median`,
    parts: [
      { length: median, look: 'used' },
      { length: most - median, look: 'peak' },
    ],
  };
}
