import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { phaseOf, type Scenario, startScenario } from '../stories/support.ts';
import { describeOrSkip } from '../support/describe-or-skip.ts';
import { without } from '../support/required-tools.ts';
import { type RealPrometheus, startPrometheus } from '../support/prometheus.ts';
import { servedNames } from './served-metrics.ts';

interface Place {
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
}
interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: Place;
  readonly targets?: readonly { readonly expr: string; readonly refId: string }[];
}

const { panels } = JSON.parse(readFileSync('deploy/components/monitoring/dashboard.json', 'utf8')) as {
  panels: readonly Panel[];
};
const queries = panels.flatMap(({ title, targets = [] }) => targets.map(({ expr, refId }) => ({ title, refId, expr })));
/** As Grafana puts them in for "All". */
const filledIn = (expr: string): string => expr.replaceAll('$pool', '.*');

const overlap = (a: Place, b: Place): boolean =>
  a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;

describe('the dashboard', () => {
  it('has every panel in a place of its own, within 24 columns, under an id of its own', () => {
    assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
    assert.ok(panels.every(({ gridPos: { x, w } }) => x >= 0 && x + w <= 24));
    const crossed = panels.flatMap((a, index) =>
      panels.slice(index + 1).flatMap((b) => (overlap(a.gridPos, b.gridPos) ? [`${a.title} and ${b.title}`] : [])),
    );
    assert.deepEqual(crossed, []);
  });

  it('asks for nothing but what the programs serve', async () => {
    const served = await servedNames();
    const asked = new Set(queries.flatMap(({ expr }) => expr.match(/\bkubelet_gitops_\w+/g) ?? []));
    assert.deepEqual(
      [...asked].filter((name) => !served.has(name)),
      [],
    );
  });
});

const skip = without('prometheus', ['--version'], 'nothing proves that the dashboard shows anything');

describeOrSkip('every panel of the dashboard', { skip }, () => {
  let scenario: Scenario;
  let exporter: Server;
  let prometheus: RealPrometheus;

  before(async () => {
    scenario = await startScenario();
    exporter = createServer((request, response) => void answer(request.url ?? '').then((text) => response.end(text)));
    await new Promise<void>((resolve) => exporter.listen(0, '127.0.0.1', resolve));
    const target = `127.0.0.1:${(exporter.address() as AddressInfo).port}`;
    prometheus = await startPrometheus({ 'config.yaml': JSON.stringify(scraping(target)) });
    // Counters are only seen to grow from their second value on: one node falls back before, and one after the first scrape.
    await failOnce({ maxOpenFiles: 20 });
    await failOnce({ maxOpenFiles: 21 });
  });
  after(async () => {
    await prometheus.stop();
    exporter.closeAllConnections();
    exporter.close();
    await scenario[Symbol.asyncDispose]();
  });

  async function answer(path: string): Promise<string> {
    const node = scenario.world.nodes.get(path.replace('/agent/', ''));
    return node === undefined ? scenario.world.metrics() : node.metrics();
  }

  function scraping(target: string): object {
    const job = (name: string, path: string, labels: object): object => ({
      job_name: name,
      metrics_path: path,
      static_configs: [{ targets: [target], labels }],
    });
    const agents = [...scenario.world.nodes.keys()].map((node) => job(node, `/agent/${node}`, { node }));
    return {
      global: { scrape_interval: '1s', scrape_timeout: '1s' },
      scrape_configs: [job('reconciler', '/reconciler', {}), ...agents],
    };
  }

  /** Commits what no kubelet survives, and waits until the pool is halted and Prometheus has heard of it. */
  async function failOnce(fields: Readonly<Record<string, unknown>>): Promise<void> {
    const commit = await scenario.change('general', fields);
    const halted = await scenario.world.until(
      'a halted pool',
      (view) => view.source.commit === commit && phaseOf(view, 'general') === 'Halted',
    );
    const config = halted.pools.find(({ metadata }) => metadata.name === 'general')?.status?.configName;
    await prometheus.answer(
      `kubelet_gitops_pool_info{config="${config}"} * on (pool) (kubelet_gitops_pool_phase{phase="Halted"} == 1)`,
    );
  }

  /** Healthy systems have none of these: the query has to be one, and may have no answer. */
  const MAY_BE_EMPTY = new Set(['Errors of git', 'Time that certificates and credentials have left']);

  for (const { title, refId, expr } of queries) {
    it(`shows something of a rollout that failed: ${title} (${refId})`, async () => {
      if (MAY_BE_EMPTY.has(title)) await prometheus.ask(filledIn(expr));
      else assert.ok((await prometheus.answer(filledIn(expr))).length > 0);
    });
  }
});
