import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import type { AnalysisStatus } from '#shared/contract/api/kubelet-pool.ts';
import type { StatusView } from '#cli/status/render.ts';
import { type Scenario, startScenario } from '../support.ts';

const PATH = 'pools/general/pool.yaml';

const analysisOf = (view: StatusView): AnalysisStatus | undefined =>
  view.pools.find(({ metadata }) => metadata.name === 'general')?.status?.rollout?.analysis;

describe('canaries that Prometheus is asked about', () => {
  let scenario: Scenario;
  let server: Server;
  const asked: URLSearchParams[] = [];
  let errors = 0;
  before(async () => {
    server = createServer((request, response) => {
      const { searchParams } = new URL(request.url ?? '', 'http://p');
      asked.push(searchParams);
      const nodes = ['worker-1', 'worker-2', 'worker-3'].map((node) => ({ metric: { node }, value: [0, '1.5'] }));
      const one = [{ metric: {}, value: [0, String(errors)] }];
      const result = searchParams.get('query') === 'errors' ? one : nodes;
      response.end(JSON.stringify({ status: 'success', data: { resultType: 'vector', result } }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    scenario = await startScenario();
    const text = (scenario.files[PATH] ?? '').replace(/^ {2}rollout:\n(?: {4}.*\n| *#.*\n)*/m, '');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const queries = '[{name: p99, query: start, least: 1}, {name: errors, query: errors, above: 2}]';
    const rollout = `{canary: {nodes: 1}, analysis: {measures: [], prometheus: {url: "${url}", queries: ${queries}}}}`;
    const files = { [PATH]: `${text.trimEnd()}\n  rollout: ${rollout}\n` };
    await scenario.settledOn(await scenario.world.git.commit({ files, message: 'Ask' }));
  });
  after(async () => {
    await scenario.world.stop();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  it('let the others begin once it has said that they are no worse', async () => {
    const began = Date.now();
    const done = await scenario.settledOn(await scenario.change('general', { maxPods: 155 }));
    const { verdict, message } = analysisOf(done) ?? {};
    assert.deepEqual([verdict, message], ['pass', 'p99 is 1.5, before 1.5; nodes that wait: 2; errors is 0']);
    const times = asked.map((parameters) => `${parameters.get('query')} ${parameters.has('time') ? 'before' : 'now'}`);
    assert.deepEqual(times.sort(), ['errors now', 'start before', 'start now']);
    const time = Date.parse(asked.map((parameters) => parameters.get('time')).find((each) => each !== null) ?? '');
    assert.ok(time <= began && time > began - 120_000, 'a minute before the rollout');
  });

  it('hold the others where it says that they are worse, with the numbers', async () => {
    errors = 7;
    const commit = await scenario.change('general', { maxPods: 156 });
    const suspected = await scenario.world.until(
      'a suspicion',
      (view) => view.source.commit === commit && analysisOf(view)?.verdict === 'suspect',
    );
    assert.match(analysisOf(suspected)?.message ?? '', /^errors is 7, above 2; looked at again in 15 minutes$/);
    const { counts } = suspected.pools.find(({ metadata }) => metadata.name === 'general')?.status ?? {};
    assert.equal(counts?.updated, 1);
  });
});
