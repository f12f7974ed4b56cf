import type { FleetQuery, MeasuresSource, NodeQuery, QueryMeasure } from '#shared/contract/api/prometheus-queries.ts';
import { abbreviateJson } from '#shared/contract/kubelet-config/decode/abbreviate-json.ts';
import type { Path } from '#shared/contract/kubelet-config/position.ts';
import { LONGEST_QUERY, readPrometheusUrl } from './read-prometheus-url.ts';
import { isNumber, readInteger, readList, readTextField, readWord } from './read-scalars.ts';
import { type FileReport, placeName, readMap } from './file-report.ts';

/** Each is asked twice in a minute while canaries are judged. */
const MOST_QUERIES = 10;

const QUERY_NAME = /^[A-Za-z][-A-Za-z0-9_.]{0,62}$/;
/** Prometheus, "Data model". */
const LABEL_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,99}$/;

const FIELDS = ['name', 'query', 'least', 'percent', 'worse', 'above', 'below'] as const;
type Fields = Readonly<Partial<Record<(typeof FIELDS)[number], unknown>>>;

/** Which measures of the canaries a Prometheus is asked for; undefined if the pool asks for none. */
export function readQueries(value: unknown, path: Path, report: FileReport): MeasuresSource | undefined {
  const source = readMap(value, path, ['url', 'nodeLabel', 'queries'], report);
  if (source === undefined) return undefined;
  const { nodeLabel } = source;
  if (nodeLabel !== undefined && (typeof nodeLabel !== 'string' || !LABEL_NAME.test(nodeLabel))) {
    report.error(
      'bad-label',
      [...path, 'nodeLabel'],
      `${abbreviateJson(nodeLabel)} is not a valid name of a label in Prometheus`,
    );
  }
  if (source.queries === undefined) {
    report.error('missing-field', path, 'prometheus has no queries', 'write what it is asked, or leave it out');
  }
  const items = readList(source.queries, [...path, 'queries'], report, Infinity);
  if (items.length > MOST_QUERIES) {
    const message = `there are ${items.length} queries, and at most ${MOST_QUERIES} are asked`;
    report.error('out-of-range', [...path, 'queries'], message);
  }
  const names = new Set<string>();
  return {
    url: readPrometheusUrl(source.url, [...path, 'url'], report),
    ...(typeof nodeLabel === 'string' ? { nodeLabel } : {}),
    queries: items.flatMap(([item, at]) => readQuery(item, at, names, report) ?? []),
  };
}

/** @returns undefined for a query without a name or expression, which is reported */
function readQuery(value: unknown, path: Path, names: Set<string>, report: FileReport): QueryMeasure | undefined {
  if (value === undefined) report.error('wrong-type', path, `${placeName(path)} has to be a map`);
  const fields: Fields | undefined = readMap(value, path, FIELDS, report);
  if (fields === undefined) return undefined;
  const { least, above, below } = fields;
  const name = readName(fields.name, [...path, 'name'], names, report);
  const query = readTextField(fields.query, [...path, 'query'], { longest: LONGEST_QUERY }, report);
  for (const key of ['name', 'query'] as const) {
    if (fields[key] === undefined) report.error('missing-field', path, `a query has no ${key}`);
  }
  const limits = [least, above, below].filter((limit) => limit !== undefined);
  if (limits.length !== 1) {
    const [code, what] =
      limits.length === 0 ? (['missing-field', 'none'] as const) : (['conflict', 'several'] as const);
    const advice = 'write least for a number of each node, above or below for one number';
    report.error(code, path, `a query has ${what} of least, above and below`, advice);
  }
  const compared = least === undefined ? readBounds(fields, path, report) : readChange(fields, path, report);
  return name === undefined || query === undefined ? undefined : { name, query, ...compared };
}

function readBounds(fields: Fields, path: Path, report: FileReport): Pick<FleetQuery, 'above' | 'below'> {
  const { above, below } = fields;
  for (const key of ['percent', 'worse'] as const) {
    if (fields[key] === undefined) continue;
    report.error('conflict', [...path, key], `${key} goes with least only`, 'leave it out, or write least');
  }
  return {
    ...(above === undefined ? {} : { above: readLimit(above, [...path, 'above'], report) }),
    ...(below === undefined ? {} : { below: readLimit(below, [...path, 'below'], report) }),
  };
}

/** With nothing for the least, any change of nothing would be without measure. A fall by more than all of it never comes. */
function readChange(
  { least, percent, worse }: Fields,
  path: Path,
  report: FileReport,
): Pick<NodeQuery, 'least' | 'percent' | 'worse'> {
  const at = [...path, 'least'];
  const isMore = isNumber(least) && least > 0;
  if (!isMore) {
    report.error(
      'out-of-range',
      at,
      `${placeName(at)} is ${abbreviateJson(least)} and has to be a number of more than 0`,
    );
  }
  const way = worse === undefined ? undefined : readWord(worse, [...path, 'worse'], ['up', 'down'], report);
  const range = { min: 0, max: way === 'down' ? 99 : 100_000, default: 0 };
  return {
    least: isMore ? least : 1,
    ...(percent === undefined ? {} : { percent: readInteger(percent, [...path, 'percent'], range, report) }),
    ...(way === undefined ? {} : { worse: way }),
  };
}

/** A number, which may be a fraction or less than nothing. */
function readLimit(value: unknown, path: Path, report: FileReport): number {
  if (isNumber(value)) return value;
  report.error('out-of-range', path, `${placeName(path)} is ${abbreviateJson(value)} and has to be a number`);
  return 0;
}

function readName(value: unknown, path: Path, names: Set<string>, report: FileReport): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== 'string' || !QUERY_NAME.test(value)) {
    const way = 'write letters, digits, -, _ and ., at most 63, a letter first';
    report.error('bad-text', path, `${abbreviateJson(value)} is not a valid name of a query`, way);
    return undefined;
  }
  if (names.has(value)) report.error('duplicate-item', path, `${value} is the name of another query already`);
  names.add(value);
  return value;
}
