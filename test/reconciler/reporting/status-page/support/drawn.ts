import assert from 'node:assert/strict';
import type { NodeRow, PoolModel, WorkingModel } from '#reconciler/reporting/status-page/model.ts';
import { ALL_NODES, type NodeFilter, type PageRequest } from '#reconciler/reporting/status-page/page-request.ts';
import { toText } from '#reconciler/reporting/status-page/html.ts';
import { renderPage } from '#reconciler/reporting/status-page/render/render-page.ts';
import { NOW } from '../../../../support/fleet.ts';

/** A page as it is drawn of a model that a test makes, and what stands in it. */

export const COUNTS = { nodes: 4, updated: 1, updating: 1, pending: 2, failed: 0, noAgent: 0, drifted: 0 };
export const [BEGAN, DONE] = ['2026-11-21T22:00:00Z', '2026-11-21T23:30:05Z'];
const minutes = (count: number): number => Date.parse(BEGAN) + count * 60_000;

export const PLAIN: PoolModel = {
  name: 'web',
  state: 'rolling',
  says: '1 of 4 nodes',
  target: 'web-new',
  settledOn: 'web-old',
  classes: [],
  counts: COUNTS,
  states: [
    { state: 'updating', nodes: 1 },
    { state: 'settled', nodes: 3 },
  ],
  rollout: {
    configName: 'web-new',
    startedAt: BEGAN,
    finishedAt: '',
    waves: [
      { name: 'canary', state: 'done', nodes: 1, startedAt: BEGAN, doneAt: DONE, span: { from: 0, to: 400 } },
      { name: 'rest', state: 'waiting', nodes: 4, span: null },
    ],
    generations: [],
    remaining: null,
  },
  holds: [],
  failures: [],
  haltLines: [],
  approvals: [],
  findings: [],
};
export const GENERATION = { inProbation: 0, onTrial: 0, promoted: 0, failed: 0, from: minutes(0), doneAt: minutes(7) };
export const ROLLOUT = PLAIN.rollout ?? assert.fail();

export const node = (name: string, over: Partial<NodeRow> = {}): NodeRow => ({
  name,
  pool: 'web',
  state: 'settled',
  now: 'nothing to do',
  because: 'it is up to date',
  progress: '',
  error: '',
  unseen: '',
  assigned: 'web-new',
  active: 'web-new',
  kubelet: 'v1.30.1',
  heartbeat: BEGAN,
  ...over,
});

export const WORKING: WorkingModel = {
  view: 'working',
  leader: null,
  cluster: 'prod',
  version: '1.2.3',
  at: NOW,
  banners: [],
  pools: [PLAIN],
  nodes: [],
  commits: [],
  clusters: null,
  git: { url: 'https://git.example/x', branch: 'main', failingSince: '', notes: 'on', statuses: 'off' },
  findings: [],
};

export const OVERVIEW: PageRequest = { page: 'overview' };
export const POOL: PageRequest = { page: 'pool', pool: 'web', filter: ALL_NODES };
export const nodesPage = (filter: Partial<NodeFilter> = {}): PageRequest => ({
  page: 'nodes',
  filter: { ...ALL_NODES, ...filter },
});

export function draw(model: Partial<WorkingModel>, question: PageRequest): string {
  return toText(renderPage({ ...WORKING, ...model }, question) ?? assert.fail());
}
export const poolPage = (over: Partial<PoolModel>): string => draw({ pools: [{ ...PLAIN, ...over }] }, POOL);

export const bare = (markup: string): string =>
  markup
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
export const parts = (markup: string, pattern: RegExp): readonly string[] =>
  [...markup.matchAll(pattern)].map(([, in_ = '']) => in_);

/** The rows of the table that has this in its caption, the headings first; cells are joined by ` | `. */
export function tableOf(page: string, caption: string): readonly string[] {
  const tables = parts(page, /<table[^>]*>(.*?)<\/table>/gs);
  const found = tables.find((each) => bare(/<caption>(.*?)<\/caption>/s.exec(each)?.[1] ?? '').includes(caption));
  const rows = parts(found ?? '', /<tr[^>]*>(.*?)<\/tr>/gs);
  return rows.map((row) =>
    parts(row, /<t[hd][^>]*>(.*?)<\/t[hd]>/gs)
      .map(bare)
      .join(' | ')
      .trimEnd(),
  );
}
export const rectsOf = (page: string, svg: string): readonly string[] =>
  parts(page, new RegExp(`<svg\\s+class="${svg}"(.*?)</svg>`, 'gs')).map((each) =>
    parts(each, /<rect([^>]*)>/gs)
      .map((rect) => parts(rect, /="([^"]*)"/g).join(' '))
      .join(', '),
  );
export const factsOf = (page: string): readonly string[] =>
  parts(page, /<div>\s*(<dt>.*?)<\/div>/gs).map((fact) => bare(fact));
