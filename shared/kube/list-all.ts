import type { KubeObject } from '../contract/api/object.ts';
import { malformedBody, MIB } from './response-body.ts';
import type { Call } from './kube-call.ts';
import { isKubeError } from './kube-error.ts';
import type { Listed, Selection, Trim } from './kube.ts';
import { type Page, pageFrom } from './parse-objects.ts';
import type { Transport } from './transport.ts';

/** Objects can be 20 kB and more, as Nodes with their images are: a page of them is what has to be in memory at once. */
const PAGE = 250;

/** Of the largest objects that etcd takes (1.5 MiB, up to twice that in JSON), this many are shorter than `MAX_LIST_BYTES`. */
const SHORT_PAGE = 20;

/** Far beyond any cluster: a server that never comes to an end is not followed forever. */
const MOST_PAGES = 2000;

/**
 * Of one answer, unpacked. A list in one piece may be longer, in a very large cluster: then it is refused, and the caller
 * tries by pages again. Reading it would take more memory than we may have.
 */
const MAX_LIST_BYTES = 64 * MIB;

/**
 * A whole list, by pages, all as of one moment; by shorter ones where a page of large objects is too long. The server forgets a
 * page's moment after some minutes (410); then the list is read once more in one piece, which cannot expire.
 */
export async function listAll<T extends KubeObject>(
  transport: Transport,
  selection: Selection,
  signal: AbortSignal | undefined,
  trim: Trim<T> = (object) => object,
): Promise<Listed<T>> {
  const pagesOf = (page: number): Promise<Listed<T>> => listByPages(transport, selection, signal, trim, page);
  try {
    return await pagesOf(PAGE).catch((error: unknown) => {
      if (!isKubeError(error, 'KUBE_TOO_LONG')) throw error;
      return pagesOf(SHORT_PAGE);
    });
  } catch (error) {
    if (!isKubeError(error, 'KUBE_GONE')) throw error;
    const { resourceVersion, items } = await readPage<T>(transport, listCall(selection), signal);
    return { resourceVersion, items: items.map(trim) };
  }
}

async function listByPages<T extends KubeObject>(
  transport: Transport,
  selection: Selection,
  signal: AbortSignal | undefined,
  trim: Trim<T>,
  pageSize: number,
): Promise<Listed<T>> {
  const items: T[] = [];
  let from: string | undefined;
  for (let pages = 0; pages < MOST_PAGES; pages += 1) {
    const page: Page<T> = await readPage(transport, listCall(selection, String(pageSize), from), signal);
    for (const item of page.items) items.push(trim(item));
    if (page.next === undefined) return { resourceVersion: page.resourceVersion, items };
    from = page.next;
  }
  throw malformedBody(listCall(selection), `the list has no end after ${MOST_PAGES} pages`);
}

async function readPage<T extends KubeObject>(
  transport: Transport,
  call: Call,
  signal: AbortSignal | undefined,
): Promise<Page<T>> {
  const answer = await transport.ask(call, MAX_LIST_BYTES, signal);
  if (!answer.ok) throw answer.error;
  return pageFrom(call, answer.body);
}

function listCall({ labelSelector, fieldSelector, ...place }: Selection, limit?: string, from?: string): Call {
  return { verb: 'list', ...place, query: { labelSelector, fieldSelector, limit, continue: from } };
}
