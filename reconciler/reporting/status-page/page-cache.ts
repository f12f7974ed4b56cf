import type { AuditSummary } from '#shared/contract/audit-summary.ts';
import type { Clock, Millis } from '#shared/runtime/clock.ts';
import type { PassResult } from '../pass-result.ts';
import { type PageInfo, buildModel } from './build-model.ts';
import { etagOf } from './etag.ts';
import { toText } from './html.ts';
import type { PageModel } from './model.ts';
import { pageAddress, type PageRequest } from './page-request.ts';
import { renderPage } from './render/render-page.ts';

/** Who acts, as far as this process knows. */
export interface Leadership {
  readonly leads: boolean;
  /** '' without a known leader. */
  readonly holder: string;
}

/** A page as it goes over the wire. */
interface RenderedPage {
  readonly body: string;
  readonly etag: string;
}

/** The newest round, and what was made of it: one model for all pages, and each page once for everybody who asks. */
export interface PageCache {
  show(round: PassResult): void;
  /** null for a page that is not there. */
  page(question: PageRequest): RenderedPage | null;
}

/** Pages of one round that are kept. Beyond that a client is trying addresses. */
const MOST_PAGES = 64;
/** An old picture has to become known as one, also without another round. */
const KEEP_MS: Millis = 5_000;

/**
 * @param standIn what is shown while this process does not lead; null where nothing is known
 * @param audit the last one that was published; null for none
 */
export function createPageCache(
  about: PageInfo,
  leadership: () => Leadership,
  clock: Clock,
  standIn: () => PassResult | null = () => null,
  audit: () => AuditSummary | null = () => null,
): PageCache {
  let round: PassResult | null = null;
  let model: PageModel | null = null;
  let madeAt: Millis = 0;
  const pages = new Map<string, RenderedPage | null>();

  function modelNow(): PageModel {
    const { leads, holder } = leadership();
    if (leads && round !== null) return { ...buildModel(round, about, clock.now()), audit: audit() };
    const present = leads ? null : standIn();
    if (present !== null) return { ...buildModel(present, about, clock.now(), holder), audit: audit() };
    return { view: 'waiting', cluster: about.cluster, version: about.version, holder, leads };
  }

  return {
    show(newest) {
      round = newest;
      model = null;
    },
    page(question) {
      if (model === null || clock.monotonic() - madeAt > KEEP_MS) {
        model = modelNow();
        madeAt = clock.monotonic();
        pages.clear();
      }
      const key = pageAddress(question);
      const known = pages.get(key);
      if (known !== undefined) return known;
      const made = renderPage(model, question);
      const body = made === null ? null : toText(made);
      const rendered = body === null ? null : { body, etag: etagOf(body) };
      if (pages.size >= MOST_PAGES) pages.clear();
      pages.set(key, rendered);
      return rendered;
    },
  };
}
