import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, it } from 'node:test';
import type { BlockersSpec } from '#shared/contract/api/kubelet-pool.ts';
import type { KubeObject } from '#shared/contract/api/object.ts';
import type { Kube } from '#shared/kube/kube.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import {
  type BlockerChecksPorts,
  createBlockerChecks,
  FRESH_FOR_MS,
  LIST_TIMEOUT_MS,
} from '#reconciler/cluster/blockers/blocker-checks.ts';
import { createWebGet, type WebOptions } from '#reconciler/cluster/blockers/web-get.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

const EMPTY = '{"status":"success","data":{"resultType":"vector","result":[]}}';
const open: Server[] = [];

async function served(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  open.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

afterEach(async () => {
  for (const server of open.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

const noPods: Pick<Kube, 'list'> = { list: () => Promise.resolve({ resourceVersion: '1', items: [] }) };

const noWeb = (): Promise<never> => Promise.reject(new Error('nobody is asked'));
const someTurns = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn += 1) await settled();
};
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function asking(web: Partial<WebOptions> = {}, ports: Partial<BlockerChecksPorts> = {}) {
  const get = createWebGet({ clock: systemClock, timeoutMs: 60_000, maxBytes: 10_000, ...web });
  const blockers = createBlockerChecks({ kube: noPods, web: get, clock: systemClock, ...ports });
  return async (spec: BlockersSpec) => {
    const answers = await blockers.ask([{ name: 'workers', spec }], new AbortController().signal);
    const answer = answers.get('workers');
    assert.ok(answer);
    return answer;
  };
}

const queryAt = (url: string): BlockersSpec => ({ prometheus: { url, query: 'x' } });

describe('asking Prometheus', () => {
  it('is quiet where the query has no result', async () => {
    const url = await served((_, response) => response.end(EMPTY));
    assert.equal((await asking()(queryAt(url))).quiet, true);
  });

  it('blocks where a VictoriaMetrics cluster has no result in a part of its data', async () => {
    const answering = (isPartial: boolean) => EMPTY.replace('{', `{"isPartial":${isPartial},`);
    for (const isPartial of [true, false]) {
      const url = await served((_, response) => response.end(answering(isPartial)));
      assert.equal((await asking()(queryAt(url))).quiet, !isPartial);
    }
  });

  it('asks whether there are rules for its alerts, where none of them fires', async () => {
    const rules = (...names: readonly string[]): string =>
      JSON.stringify({ status: 'success', data: { groups: [{ rules: names.map((name) => ({ name })) }] } });
    const asked: string[] = [];
    const server =
      (answer: string, status = 200): RequestListener =>
      (request, response) => {
        asked.push(request.url ?? '');
        if (request.url?.startsWith('/p/api/v1/rules') === true) response.writeHead(status).end(answer);
        else response.end(EMPTY);
      };
    const about = async (answer: string, status = 200) => {
      const url = `${await served(server(answer, status))}/p`;
      return asking()({ prometheus: { url, alerts: ['A', 'B'] } });
    };
    assert.equal((await about(rules('B', 'C', 'A'))).quiet, true);
    assert.ok(asked.includes('/p/api/v1/rules?type=alert&exclude_alerts=true&rule_name%5B%5D=A&rule_name%5B%5D=B'));
    const { quiet, because } = await about(rules('A'));
    assert.equal(quiet, false);
    assert.match(because, /has no rule for the alert B, which can never fire: fix the name, or write a query/);
    for (const answer of [
      await about('404 page not found', 404),
      await about('{"status":"success"}'),
      await about(''),
    ]) {
      assert.equal(answer.quiet, false, 'what cannot be told is not quiet');
    }
  });

  it('blocks where nobody listens, and says so', async () => {
    const { quiet, because } = await asking()(queryAt('http://127.0.0.1:1'));
    assert.equal(quiet, false);
    assert.match(because, /cannot be asked: no connection: .*ECONNREFUSED/);
  });

  it('blocks where the server takes too long', async () => {
    const url = await served(() => undefined);
    assert.match((await asking({ timeoutMs: 50 })(queryAt(url))).because, /no complete answer within 0\.05 s/);
  });

  it('blocks where the answer stops half way', async () => {
    const url = await served((_, response) => {
      response.writeHead(200, { 'content-length': '1000' });
      response.write(EMPTY, () => response.destroy());
    });
    assert.equal((await asking()(queryAt(url))).quiet, false);
  });

  it('reads no more than it was meant to', async () => {
    const url = await served((_, response) => response.end(EMPTY.padEnd(20_000)));
    assert.match((await asking()(queryAt(url))).because, /longer than 10000 bytes/);
  });

  it('follows no redirect', async () => {
    const target = await served((_, response) => response.end(EMPTY));
    const url = await served((_, response) => response.writeHead(302, { location: target }).end());
    assert.match((await asking()(queryAt(url))).because, /HTTP 302/);
  });

  it('blocks where the address is none', async () => {
    assert.equal((await asking()(queryAt('nowhere'))).quiet, false);
  });

  it('asks a server no more than twenty questions at a time, however many pools there are', async () => {
    const held: ServerResponse[] = [];
    let most = 0;
    const url = await served((_, response) => {
      held.push(response);
      most = Math.max(most, held.length);
      // Nobody is answered before twenty wait, and some turns later, in which others would come.
      if (held.length === 20) void someTurns().then(() => held.splice(0).forEach((each) => each.end(EMPTY)));
    });
    const pools = Array.from({ length: 200 }, (_, index) => ({
      name: `pool-${index}`,
      spec: { prometheus: { url, query: `x${index}` } },
    }));
    const web = createWebGet({ clock: systemClock, timeoutMs: 60_000, maxBytes: 10_000 });
    const blockers = createBlockerChecks({ kube: noPods, web, clock: systemClock });
    const answers = await blockers.ask(pools, new AbortController().signal);
    assert.equal([...answers.values()].filter(({ quiet }) => quiet).length, 200);
    assert.equal(most, 20);
  });

  it('asks all of its questions where the server ends connections unannounced', async () => {
    const url = await served(({ socket }, response) => {
      // When the next question may be on its way over the same connection.
      response.end(EMPTY, () => void someTurns().then(() => socket.destroy()));
    });
    const pools = Array.from({ length: 200 }, (_, index) => ({
      name: `pool-${index}`,
      spec: { prometheus: { url, query: `x${index}` } },
    }));
    const web = createWebGet({ clock: systemClock, timeoutMs: 60_000, maxBytes: 10_000 });
    const answers = await createBlockerChecks({ kube: noPods, web, clock: systemClock }).ask(
      pools,
      new AbortController().signal,
    );
    assert.deepEqual(
      [...answers].flatMap(([name, { quiet }]) => (quiet ? [] : [name])),
      [],
    );
  });

  it('asks no server but those that the operator names', async () => {
    let asked = 0;
    const listener: RequestListener = (_, response) => {
      asked += 1;
      response.end(EMPTY);
    };
    const [allowed, other] = [await served(listener), await served(listener)];
    const ask = asking({ origins: [allowed] });
    assert.equal((await ask(queryAt(`${allowed}/with/a/path`))).quiet, true);
    assert.equal(asked, 1);
    for (const url of [other, allowed.replace('127.0.0.1', 'localhost'), allowed.replace('http:', 'https:')]) {
      const { quiet, because } = await ask(queryAt(url));
      assert.equal(quiet, false);
      assert.match(because, /cannot be asked: the reconciler may not ask it/);
    }
    const { because } = await asking({ origins: [] })({ prometheus: { url: allowed, alerts: ['A'] } });
    assert.match(because, /PROMETHEUS_URLS/);
    assert.equal(asked, 1);
  });

  it('says how many results there are, and nothing of what they are', async () => {
    const secret = 'payments-db-password';
    const series = { metric: { __name__: 'kube_secret_info', secret, alertname: secret }, value: [1, '1'] };
    const success = { status: 'success', data: { resultType: 'vector', result: [series, series] } };
    const empty = { ...success, data: { resultType: 'vector', result: [] } };
    const answers = [
      success,
      { status: 'error', errorType: 'execution', error: `duplicate series {secret="${secret}"}` },
      { status: 'error', errorType: `x {secret="${secret}"}`, error: '' },
      { ...empty, warnings: [`no data for {secret="${secret}"}`] },
      { status: 'success', data: { resultType: 'scalar', result: [1, secret] } },
      { status: secret },
    ];
    const said: string[] = [];
    for (const answer of answers) {
      const url = await served((_, response) => response.end(JSON.stringify(answer)));
      for (const spec of [queryAt(url), { prometheus: { url, alerts: ['A'] } }]) {
        const { quiet, because } = await asking()(spec);
        assert.equal(quiet, false);
        assert.ok(!because.includes(secret), because);
        said.push(because);
      }
    }
    assert.match(said[0] ?? '', /the query that must have no result has 2 in Prometheus at/);
    assert.match(said[1] ?? '', /an alert is firing/);
    assert.match(said[2] ?? '', /refuses the question \(execution\)/);
  });

  it('shows the token to one server only', async (t) => {
    const seen: (string | undefined)[] = [];
    const listener: RequestListener = ({ headers }, response) => {
      seen.push(headers.authorization);
      response.end(EMPTY);
    };
    const [trusted, other] = [await served(listener), await served(listener)];
    const directory = temporaryDirectory(t);
    const file = join(directory, 'token');
    await writeFile(file, 'sesame\n');
    const ask = asking({ token: { file, origin: trusted } });
    await ask(queryAt(trusted));
    await ask(queryAt(other));
    await rm(file);
    assert.deepEqual(seen, ['Bearer sesame', undefined]);
    const { because } = await asking({ token: { file, origin: trusted } })(queryAt(trusted));
    assert.match(because, /token cannot be read/);
  });

  it('asks once for pools that want to know the same, and again when the answer is old', async () => {
    let asked = 0;
    const url = await served((_, response) => {
      asked += 1;
      response.end(EMPTY);
    });
    const clock = createManualClock();
    const web = createWebGet({ clock: systemClock, timeoutMs: 60_000, maxBytes: 10_000 });
    const { ask } = createBlockerChecks({ kube: noPods, web, clock });
    const both = ['a', 'b'].map((name) => ({ name, spec: queryAt(url) }));
    const signal = new AbortController().signal;
    assert.deepEqual([...(await ask(both, signal)).keys()], ['a', 'b']);
    clock.skip(FRESH_FOR_MS - 1);
    await ask(both, signal);
    assert.equal(asked, 1);
    clock.skip(1);
    await ask(both, signal);
    assert.equal(asked, 2);
  });
});

describe('asking for pods', () => {
  const spec: BlockersSpec = { pods: { selector: { matchLabels: { app: 'backup' } } } };

  it('names the nodes that have one', async () => {
    const items = [
      { metadata: { name: 'a', namespace: 'x' }, spec: { nodeName: 'node-1' } },
      { metadata: { name: 'b', namespace: 'x' }, spec: {} },
    ] satisfies readonly (KubeObject & { readonly spec: object })[];
    const kube = { list: () => Promise.resolve({ resourceVersion: '1', items }) } as unknown as Pick<Kube, 'list'>;
    const { quiet, busy } = await asking({}, { kube })(spec);
    assert.equal(quiet, true);
    assert.deepEqual([...(busy?.keys() ?? [])], ['node-1']);
  });

  it('keeps nothing of a pod but where it is: there may be a hundred thousand', async () => {
    const long = {
      metadata: { name: 'a', namespace: 'x', annotations: { a: 'long' } },
      spec: { nodeName: 'n', containers: [1] },
    };
    const kept: unknown[] = [];
    const list = (_: unknown, __: unknown, trim: (pod: KubeObject) => KubeObject = (pod) => pod) => {
      kept.push(trim(long));
      return Promise.resolve({ resourceVersion: '1', items: kept });
    };
    const { busy } = await asking({}, { kube: { list } as unknown as Pick<Kube, 'list'> })(spec);
    assert.match(busy?.get('n') ?? '', /^the pod x\/a runs there/);
    assert.deepEqual(kept, [{ metadata: { name: 'a', namespace: 'x' }, spec: { nodeName: 'n' } }]);
  });

  it('reads few lists at a time, and no more when the time of a call is over', async () => {
    const clock = createManualClock();
    const pools = Array.from({ length: 50 }, (_, index) => ({
      name: `pool-${index}`,
      spec: { pods: { selector: { matchLabels: { app: `backup-${index}` } } } },
    }));
    const done: (() => void)[] = [];
    let lists = 0;
    const list = (_: unknown, signal?: AbortSignal): Promise<unknown> => {
      lists += 1;
      return new Promise((resolve, reject) => {
        done.push(() => resolve({ resourceVersion: '1', items: [] }));
        signal?.addEventListener('abort', () => reject(signal.reason as Error));
      });
    };
    const blockers = createBlockerChecks({ kube: { list } as unknown as Pick<Kube, 'list'>, web: noWeb, clock });
    const asked = blockers.ask(pools, new AbortController().signal);
    await settled();
    assert.equal(lists, 4);
    for (const end of done.splice(0, 3)) end();
    await settled();
    assert.equal(lists, 7);
    await clock.advance(LIST_TIMEOUT_MS);
    const answers = [...(await asked).values()];
    assert.equal(lists, 7, 'a list is begun when its time is over');
    assert.equal(answers.filter(({ quiet }) => quiet).length, 3);
    assert.match(answers[49]?.because ?? '', /cannot be listed: no answer within 30 s/);
  });

  it('begins with those that there was no time for before', async () => {
    const clock = createManualClock();
    const pools = Array.from({ length: 6 }, (_, index) => ({
      name: `pool-${index}`,
      spec: { pods: { selector: { matchLabels: { app: `backup-${index}` } } } },
    }));
    const list = (_: unknown, signal?: AbortSignal): Promise<unknown> =>
      new Promise((resolve, reject) => {
        void clock.sleep(LIST_TIMEOUT_MS - 1).then(() => resolve({ resourceVersion: '1', items: [] }));
        signal?.addEventListener('abort', () => reject(signal.reason as Error));
      });
    const blockers = createBlockerChecks({ kube: { list } as unknown as Pick<Kube, 'list'>, web: noWeb, clock });
    const missedIn = async (): Promise<readonly string[]> => {
      const asked = blockers.ask(pools, new AbortController().signal);
      for (const ms of [LIST_TIMEOUT_MS - 1, 1]) {
        await settled();
        await clock.advance(ms);
      }
      return [...(await asked)].flatMap(([name, { quiet }]) => (quiet ? [] : [name])).toSorted();
    };
    assert.deepEqual(await missedIn(), ['pool-4', 'pool-5']);
    assert.deepEqual(await missedIn(), ['pool-2', 'pool-3']);
    assert.deepEqual(await missedIn(), ['pool-4', 'pool-5']);
  });

  it('blocks the pool where they cannot be listed', async () => {
    const kube = { list: () => Promise.reject(new Error('pods is forbidden')) };
    const { quiet, because } = await asking({}, { kube })(spec);
    assert.equal(quiet, false);
    assert.match(because, /cannot be listed: pods is forbidden/);
  });
});
