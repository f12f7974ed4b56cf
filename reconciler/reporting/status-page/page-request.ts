import { NODE_STATES } from './node-rows.ts';
import type { NodeState } from './model.ts';

/** Which nodes are to be shown. Holds nothing but names that were checked and numbers: it is safe to show. */
export interface NodeFilter {
  /** Part of a node's name; '' for all. */
  readonly name: string;
  readonly state: NodeState | '';
  /** From 1. */
  readonly page: number;
}

export type PageRequest =
  | { readonly page: 'overview' }
  | { readonly page: 'nodes'; readonly filter: NodeFilter }
  | { readonly page: 'pool'; readonly pool: string; readonly filter: NodeFilter };

const isNamePart = (text: string): boolean => text.length <= 253 && /^[a-z0-9.-]+$/.test(text);
const PAGE_NUMBER = /^[1-9][0-9]{0,5}$/;

/** What a request asks for, or null for what is not served. What makes no sense in the query counts as not said. */
export function parsePageRequest(path: string, query: URLSearchParams): PageRequest | null {
  switch (path) {
    case '/':
      return { page: 'overview' };
    case '/nodes':
      return { page: 'nodes', filter: readFilter(query) };
    case '/pool': {
      const pool = query.get('name') ?? '';
      return isNamePart(pool) ? { page: 'pool', pool, filter: readFilter(query) } : null;
    }
    default:
      return null;
  }
}

function readFilter(query: URLSearchParams): NodeFilter {
  const name = (query.get('node') ?? '').trim().toLowerCase();
  const page = query.get('page') ?? '';
  return {
    name: isNamePart(name) ? name : '',
    state: NODE_STATES.find((state) => state === query.get('state')) ?? '',
    page: PAGE_NUMBER.test(page) ? Number(page) : 1,
  };
}

/** The address of a page, relative to every other one: it holds behind a proxy's path as well. */
export function pageAddress(question: PageRequest): string {
  if (question.page === 'overview') return './';
  const query = new URLSearchParams();
  if (question.page === 'pool') query.set('name', question.pool);
  const { name, state, page } = question.filter;
  if (state !== '') query.set('state', state);
  if (name !== '') query.set('node', name);
  if (page > 1) query.set('page', String(page));
  const text = query.toString();
  return text === '' ? question.page : `${question.page}?${text}`;
}

export const ALL_NODES: NodeFilter = { name: '', state: '', page: 1 };
