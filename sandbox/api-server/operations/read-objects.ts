import type { Api, NamedTarget, Target } from '#sandbox/api-server/api.ts';
import { countIn, versionIn } from '#sandbox/api-server/request/query.ts';
import { selectionOf } from '#sandbox/api-server/selectors/selection.ts';
import { badRequest, expired, notFound } from '#sandbox/api-server/status/status-refusals.ts';
import { keyOf, keyOfObject } from '#sandbox/api-server/store/collection.ts';
import { type Json, memberOf, type StoredObject } from '#sandbox/api-server/stored-object.ts';

/** GET of one object. @throws Refusal 404 */
export function get(api: Api, { served, namespace, name }: NamedTarget): StoredObject {
  const object = api.store.of(served.resource).get(keyOf(namespace, name));
  if (object === undefined) throw notFound(served.resource, name);
  return object;
}

export interface Listing {
  readonly items: readonly StoredObject[];
  /** `metav1.ListMeta`. */
  readonly metadata: Json;
}

/** GET of many: all that match as of one version, or a page of them. @throws Refusal */
export function list(api: Api, target: Target, query: URLSearchParams): Listing {
  const { matches, narrowed } = selectionOf(target, query);
  const page = pageIn(query);
  const version = page.version ?? api.store.version();
  const all = api.store.of(target.served.resource).allAt(version);
  if (all === undefined) throw expired(page.after === undefined ? TOO_OLD_LIST : TOO_OLD_PAGE);
  const { after } = page;
  const rest = all.filter((object) => matches(object) && (after === undefined || keyOfObject(object) > after));
  const items = page.limit === 0 ? rest : rest.slice(0, page.limit);
  const last = items.at(-1);
  const more = last !== undefined && items.length < rest.length;
  return {
    items,
    metadata: {
      resourceVersion: String(version),
      ...(more ? { continue: toToken(version, keyOfObject(last)) } : {}),
      ...(more && !narrowed ? { remainingItemCount: rest.length - items.length } : {}),
    },
  };
}

const TOO_OLD_LIST = 'The resourceVersion for the provided list is too old.';
const TOO_OLD_PAGE =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter.';

interface Page {
  /** 0: no limit. */
  readonly limit: number;
  /** As of when; undefined for now. */
  readonly version: number | undefined;
  /** Key of the last object of the page before. */
  readonly after: string | undefined;
}

function pageIn(query: URLSearchParams): Page {
  const limit = countIn(query, 'limit');
  const asked = versionIn(query);
  const token = query.get('continue') ?? '';
  if (token !== '') {
    if (asked !== undefined && asked !== 0) {
      throw badRequest('specifying resource version is not allowed when using continue');
    }
    return { limit, ...fromToken(token) };
  }
  const match = query.get('resourceVersionMatch') ?? '';
  // "0" means whatever the cache holds; the cache serves no pages.
  if (asked === 0) return { limit: 0, version: undefined, after: undefined };
  const exact = match === 'Exact' || (match === '' && limit > 0);
  return { limit, version: exact ? asked : undefined, after: undefined };
}

/** The real server's token, base64 of JSON; to clients it is opaque. */
const toToken = (rv: number, key: string): string =>
  Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv, start: `${key}\u0000` })).toString('base64url');

function fromToken(token: string): { readonly version: number; readonly after: string } {
  try {
    const value: unknown = JSON.parse(Buffer.from(token, 'base64url').toString());
    const version = memberOf(value, 'rv');
    const start = memberOf(value, 'start');
    if (typeof version === 'number' && typeof start === 'string') return { version, after: start.replace(/\0$/, '') };
  } catch {
    // Falls through to the one answer for all that is no token.
  }
  throw badRequest('invalid continue token: continue key is not valid');
}
