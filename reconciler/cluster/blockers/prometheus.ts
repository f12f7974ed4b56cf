import type { BlockersSpec } from '#shared/contract/api/kubelet-pool.ts';
import { type Millis, toTimestamp } from '#shared/runtime/clock.ts';
import { sanitizeUrl } from '#shared/runtime/sanitize.ts';
import { type BlockersAnswer, blocked, NOT_BLOCKED } from '../../policy/pool-blockers.ts';
import { isMap } from '#shared/runtime/maps.ts';
import { firstFew } from '#shared/runtime/first-few.ts';
import { jsonIn } from '#shared/runtime/lenient.ts';

type PrometheusSpec = NonNullable<BlockersSpec['prometheus']>;

/** How a server names itself in a reason: without a credential, a query or a path of the API. */
export const describeServer = ({ url }: Pick<PrometheusSpec, 'url'>): string =>
  `Prometheus at ${sanitizeUrl(url).replace(/\/$/, '')}`;

/** The instant query that must have no result. Firing alerts are the series `ALERTS` (Prometheus, "Alerting rules"). */
export function queryOf({ query, alerts = [] }: PrometheusSpec): string {
  if (query !== undefined) return query;
  const names = alerts.map((name) => name.replaceAll(/[\\^$.|?*+()[\]{}]/g, String.raw`\$&`)).join('|');
  return `ALERTS{alertname=~${JSON.stringify(names)},alertstate="firing"}`;
}

/**
 * `GET <url>/api/v1/query?query=…`. The evaluation ends on the server as well once its time is up here.
 *
 * @param at the moment that is asked about; absent for the server's present
 */
export function requestFor(spec: PrometheusSpec, timeoutSeconds: number, at?: Millis): URL {
  const url = new URL(spec.url);
  url.pathname = `${url.pathname.replace(/\/$/, '')}/api/v1/query`;
  const time = at === undefined ? {} : { time: toTimestamp(at) };
  url.search = new URLSearchParams({ query: queryOf(spec), timeout: `${timeoutSeconds}s`, ...time }).toString();
  return url;
}

/** Prometheus could not be asked: that blocks, because its answer is unknown. */
export const prometheusUnavailable = (spec: PrometheusSpec, why: string): BlockersAnswer =>
  blocked(`${describeServer(spec)} cannot be asked: ${why}`);

/**
 * What an answer of the HTTP API means (prometheus.io/docs, "HTTP API", format version 1). A scalar and a string are
 * results as well. A result that is empty because a part of the data was missing proves nothing.
 */
export function readAnswer(spec: PrometheusSpec, status: number, text: string): BlockersAnswer {
  const body = parseAnswer(text);
  const why = errorIn(body, status);
  if (body === undefined || why !== undefined) return prometheusUnavailable(spec, why ?? '');
  const results = resultsIn(body['data']);
  if (results === undefined) return prometheusUnavailable(spec, 'the answer has no result in it');
  if (results.length > 0) return blocked(sayResults(spec, results));
  return lacksData(body) ? prometheusUnavailable(spec, 'it answered in part only') : NOT_BLOCKED;
}

/** What keeps a body from being an answer of its API that went well; undefined where nothing does. */
export function errorIn(body: Json | undefined, status: number): string | undefined {
  if (body === undefined) return `HTTP ${status} without an answer of its API: is the address right?`;
  if (body['status'] === 'success') return undefined;
  // Its sentence may quote series that only users of Prometheus may see; the type is one of a few words.
  const { errorType: type } = body;
  return `it refuses the question (${typeof type === 'string' && /^[a-z_]+$/.test(type) ? type.slice(0, 40) : `HTTP ${status}`})`;
}

/** A part of the data was missing: Prometheus and Thanos warn of it, a VictoriaMetrics cluster says `isPartial`. */
export const lacksData = ({ warnings, isPartial }: Json): boolean =>
  isPartial === true || (Array.isArray(warnings) && (warnings as readonly unknown[])[0] !== undefined);

type Json = Readonly<Record<string, unknown>>;

/** The body of an answer of the HTTP API; undefined for anything else. */
export function parseAnswer(text: string): Json | undefined {
  const value = jsonIn(text);
  return isMap(value) && typeof value['status'] === 'string' ? value : undefined;
}

function resultsIn(data: unknown): readonly unknown[] | undefined {
  if (!isMap(data) || !Array.isArray(data['result'])) return undefined;
  const lists = data['resultType'] === 'vector' || data['resultType'] === 'matrix';
  return lists ? (data['result'] as readonly unknown[]) : [data['result']];
}

/** Of alerts that the commit names, which; of a query only how many results: their labels are not the committer's to read. */
function sayResults(spec: PrometheusSpec, results: readonly unknown[]): string {
  if (spec.query !== undefined)
    return `the query that must have no result has ${results.length} in ${describeServer(spec)}`;
  const asked = spec.alerts ?? [];
  const names = [...new Set(results.map(alertOf).filter((name) => asked.includes(name)))].sort();
  if (names.length === 0) return `an alert is firing in ${describeServer(spec)}`;
  return `${firstFew(names)} ${names.length === 1 ? 'is' : 'are'} firing in ${describeServer(spec)}`;
}

function alertOf(result: unknown): string {
  const metric = isMap(result) && isMap(result['metric']) ? result['metric'] : {};
  return typeof metric['alertname'] === 'string' ? metric['alertname'] : '';
}
