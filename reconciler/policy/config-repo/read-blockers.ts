import type { BlockersSpec } from '#shared/contract/api/kubelet-pool.ts';
import type { Path } from '#shared/contract/kubelet-config/position.ts';
import { abbreviateJson } from '#shared/contract/kubelet-config/decode/abbreviate-json.ts';
import { isDnsLabel } from '#shared/contract/kubelet-config/syntax/names.ts';
import { LONGEST_QUERY, readPrometheusUrl } from './read-prometheus-url.ts';
import { readList, readTextField } from './read-scalars.ts';
import { readNarrowSelector } from './read-selector.ts';
import { type FileReport, readMap } from './file-report.ts';

/** Names of alerts are label values that are put between quotes: what would end a quotation is refused. */
const ALERT_NAME = /^[^"'\\\p{Cc}]{1,200}$/u;

const MOST_ALERTS = 100;

/** What must be quiet before a node is changed. */
export function readBlockers(value: unknown, path: Path, report: FileReport): BlockersSpec | undefined {
  const blockers = readMap(value, path, ['prometheus', 'pods'], report);
  if (blockers === undefined) return undefined;
  const prometheus = readPrometheus(blockers.prometheus, [...path, 'prometheus'], report);
  const pods = readPods(blockers.pods, [...path, 'pods'], report);
  if (blockers.prometheus === undefined && blockers.pods === undefined) {
    report.error('missing-field', path, 'blockers names neither prometheus nor pods', 'leave it out for none');
  }
  return { ...(prometheus === undefined ? {} : { prometheus }), ...(pods === undefined ? {} : { pods }) };
}

function readPrometheus(value: unknown, path: Path, report: FileReport): BlockersSpec['prometheus'] {
  const prometheus = readMap(value, path, ['url', 'query', 'alerts'], report);
  if (prometheus === undefined) return undefined;
  if ((prometheus.query === undefined) === (prometheus.alerts === undefined)) {
    const [code, what] = prometheus.query === undefined ? ['missing-field', 'neither'] : ['conflict', 'both'];
    const message = `prometheus has ${what} query ${what === 'both' ? 'and' : 'nor'} alerts`;
    report.error(
      code,
      path,
      message,
      'write a query that must have no result, or the names of alerts that must not fire',
    );
  }
  const query = readTextField(prometheus.query, [...path, 'query'], { longest: LONGEST_QUERY }, report);
  const alerts = readAlerts(prometheus.alerts, [...path, 'alerts'], report);
  return {
    url: readPrometheusUrl(prometheus.url, [...path, 'url'], report),
    ...(query === undefined ? {} : { query }),
    ...(alerts === undefined ? {} : { alerts }),
  };
}

function readAlerts(value: unknown, path: Path, report: FileReport): readonly string[] | undefined {
  if (value === undefined) return undefined;
  const alerts: string[] = [];
  for (const [item, at] of readList(value, path, report, MOST_ALERTS)) {
    if (typeof item !== 'string' || !ALERT_NAME.test(item))
      report.error('bad-text', at, `${abbreviateJson(item)} is not a valid name of an alert`);
    else if (alerts.includes(item)) report.error('duplicate-item', at, `${item} is among the alerts already`);
    else alerts.push(item);
  }
  return alerts;
}

function readPods(value: unknown, path: Path, report: FileReport): BlockersSpec['pods'] {
  const pods = readMap(value, path, ['namespace', 'selector'], report);
  if (pods === undefined) return undefined;
  const { namespace } = pods;
  if (namespace !== undefined && (typeof namespace !== 'string' || !isDnsLabel(namespace))) {
    report.error(
      'bad-label',
      [...path, 'namespace'],
      `${abbreviateJson(namespace)} is not a valid name of a namespace`,
    );
  }
  if (pods.selector === undefined) {
    report.error('missing-field', path, 'pods has no selector', 'write the labels of the pods that must not run');
  }
  return {
    ...(typeof namespace === 'string' ? { namespace } : {}),
    selector: pods.selector === undefined ? {} : readNarrowSelector(pods.selector, [...path, 'selector'], report),
  };
}
