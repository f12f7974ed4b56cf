import type { BlockersSpec } from '#shared/contract/api/kubelet-pool.ts';
import { type BlockersAnswer, blocked, NOT_BLOCKED } from '../../policy/pool-blockers.ts';
import { errorIn, parseAnswer, describeServer, prometheusUnavailable } from './prometheus.ts';
import { isMap } from '#shared/runtime/maps.ts';
import { firstFew } from '#shared/runtime/first-few.ts';

type PrometheusSpec = NonNullable<BlockersSpec['prometheus']>;

/**
 * `GET <url>/api/v1/rules`: an alert without a rule can never fire, so that silence would say nothing. The
 * parameters keep the answer short on servers that know them; older ones answer with all their rules.
 */
export function rulesRequestFor(spec: PrometheusSpec): URL {
  const url = new URL(spec.url);
  url.pathname = `${url.pathname.replace(/\/$/, '')}/api/v1/rules`;
  const names = (spec.alerts ?? []).map((name): [string, string] => ['rule_name[]', name]);
  url.search = new URLSearchParams([['type', 'alert'], ['exclude_alerts', 'true'], ...names]).toString();
  return url;
}

/** Whether every alert that has to be quiet is one that there is. */
export function readRules(spec: PrometheusSpec, status: number, text: string): BlockersAnswer {
  const body = parseAnswer(text);
  const why = errorIn(body, status);
  if (why !== undefined) return prometheusUnavailable(spec, `whether its alerts exist: ${why}`);
  const known = new Set(namesIn(body?.['data']));
  const unknown = (spec.alerts ?? []).filter((name) => !known.has(name));
  if (unknown.length === 0) return NOT_BLOCKED;
  const way = 'fix the name, or write a query if the rules are kept elsewhere';
  return blocked(
    `${describeServer(spec)} has no rule for the alert ${firstFew(unknown)}, which can never fire: ${way}`,
  );
}

function namesIn(data: unknown): readonly string[] {
  const groups = isMap(data) && Array.isArray(data['groups']) ? (data['groups'] as readonly unknown[]) : [];
  const rules = groups.flatMap((group) =>
    isMap(group) && Array.isArray(group['rules']) ? (group['rules'] as readonly unknown[]) : [],
  );
  return rules.flatMap((rule) => (isMap(rule) && typeof rule['name'] === 'string' ? [rule['name']] : []));
}
