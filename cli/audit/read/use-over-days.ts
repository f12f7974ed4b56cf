import { describeServer, requestFor } from '#reconciler/cluster/blockers/prometheus.ts';
import { readNodeNumbers } from '#reconciler/cluster/blockers/query-numbers.ts';
import { createWebGet } from '#reconciler/cluster/blockers/web-get.ts';
import { type Millis, systemClock } from '#shared/runtime/clock.ts';
import { GitopsError, reasonOf } from '#shared/runtime/errors.ts';
import { UsageError } from '../../command.ts';
import { FEWEST_DAYS } from '../sections/room.ts';
import type { UseOverDays } from '../sections/room-classes.ts';

const DAYS = 7;
/** Minutes between two samples of a query over days. */
const STEP = 5;
const SAMPLES_A_DAY = (24 * 60) / STEP;
const PATIENCE_MS: Millis = 120_000;
const MOST_BYTES = 16 * 1024 * 1024;
/** As kube-prometheus-stack and the kubelet's own service discovery name a Node. */
const NODE_LABEL = 'node';

/** The whole machine without the cgroup of pods, as cAdvisor in the kubelet measures it. */
const outsideOfPods = (series: (selector: string) => string): string =>
  `sum by (${NODE_LABEL}) (${series('id="/"')}) - sum by (${NODE_LABEL}) (${series('id=~"/kubepods(.slice)?"')})`;

const QUERIES = {
  memory: outsideOfPods((selector) => `container_memory_working_set_bytes{${selector}}`),
  cpu: outsideOfPods((selector) => `rate(container_cpu_usage_seconds_total{${selector}}[5m])`),
} as const;

const over = (call: string, query: string): string => `${call}(${query})[${DAYS}d:${STEP}m])`;

/**
 * What all outside of pods used over a week, by node: the 99th percentile. Nodes of which there is less than `FEWEST_DAYS` are left out.
 *
 * @throws UsageError for an address that is none; GitopsError `PROMETHEUS_UNREADABLE`
 */
export async function readUseOverDays(url: string): Promise<ReadonlyMap<string, UseOverDays>> {
  if (!URL.canParse(url) || !/^https?:/.test(url))
    throw new UsageError('--prometheus: give its address, http://HOST:9090');
  const web = createWebGet({ clock: systemClock, timeoutMs: PATIENCE_MS, maxBytes: MOST_BYTES });
  const ask = async (query: string): Promise<ReadonlyMap<string, unknown>> => {
    const failed = (why: string): GitopsError =>
      new GitopsError('PROMETHEUS_UNREADABLE', `${describeServer({ url })}: ${why}`);
    const { status, text } = await web(
      requestFor({ url, query }, PATIENCE_MS / 1000),
      AbortSignal.timeout(PATIENCE_MS),
    ).catch((error: unknown) => {
      throw failed(reasonOf(error));
    });
    const numbers = readNodeNumbers(NODE_LABEL, status, text);
    if (numbers instanceof Map) return numbers;
    throw failed((numbers as { readonly missing: string }).missing);
  };
  const [memory, cpu, samples] = await Promise.all([
    ask(over('quantile_over_time(0.99, ', QUERIES.memory)),
    ask(over('quantile_over_time(0.99, ', QUERIES.cpu)),
    ask(over('count_over_time(', QUERIES.memory)),
  ]);
  const at = systemClock.now();
  return new Map(
    [...samples].flatMap(([node, count]): readonly (readonly [string, UseOverDays])[] => {
      const days = Number(count) / SAMPLES_A_DAY;
      if (!(days >= FEWEST_DAYS)) return [];
      const [bytes, cores] = [memory.get(node), cpu.get(node)];
      return [
        [
          node,
          {
            days: Math.floor(days),
            at,
            ...(typeof bytes === 'number' ? { memory: bytes } : {}),
            ...(typeof cores === 'number' ? { cpu: cores } : {}),
          },
        ],
      ];
    }),
  );
}
