import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { Clock } from '#shared/runtime/clock.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { connectForge } from '#reconciler/reporting/forge/connect-forge.ts';
import type { ForgeKind } from '#reconciler/reporting/forge/forges.ts';
import type { ForgeStatusWriter } from '#reconciler/reporting/forge/forge-status-writer.ts';
import { COMMITS, type ForgeServer, REPOSITORY, startForge } from '../../../support/forge-server.ts';
import { startHttpProxy } from '../../../support/http-proxy.ts';
import { steeredClock } from '../../../support/steered-clock.ts';
import { until } from '../../../support/until.ts';
import { note, pool } from './notes.ts';

const [FIRST = '', SECOND = ''] = COMMITS;
/** Of what is real here, on a machine that may stand still for a while, nothing is given up. */
const PATIENCE_MS = 120_000;
const LINK = 'https://gitops.example.com/';

interface Started {
  readonly forge: ForgeServer;
  readonly tokenFile: string;
  /** A process that reports; the one before knows nothing of it. */
  begin(): ForgeStatusWriter;
  readonly clock: Clock & { skip(ms: number): void; hurry: boolean };
  /** Resolves once the condition holds. */
  until(condition: () => boolean): Promise<void>;
  said(commit?: string): readonly string[];
}

async function start(t: TestContext, kind: ForgeKind): Promise<Started> {
  const forge = await startForge(kind);
  const directory = await mkdtemp(join(tmpdir(), 'forge-'));
  const tokenFile = join(directory, 'token');
  await writeFile(tokenFile, `${forge.token}\n`);
  const clock = steeredClock();
  clock.hurry = true;
  const stop = new AbortController();
  const running: Promise<void>[] = [];
  t.after(async () => {
    stop.abort();
    await Promise.all(running);
    await forge.close();
    await rm(directory, { recursive: true, force: true });
  });
  return {
    forge,
    tokenFile,
    clock,
    begin() {
      const statuses = connectForge(
        {
          kind,
          gitUrl: `${forge.origin}/${REPOSITORY}.git`,
          apiUrl: forge.api,
          repository: undefined,
          tokenFile,
          link: LINK,
          caFile: undefined,
        },
        { clock, log: silentLog, random: () => 0.5, onChange: () => undefined, timeoutMs: PATIENCE_MS },
      );
      running.push(statuses.run(stop.signal));
      return statuses;
    },
    async until(condition) {
      const evidence = (): string => JSON.stringify(forge.requests);
      await until('what the forge is to hear', condition, { withinMs: PATIENCE_MS, everyMs: 10, evidence });
    },
    said: (commit = FIRST) => [...forge.latest(commit).values()].map((one) => `${one.context} ${one.state}`),
  };
}

const under = (name: string): string => `kubelet-gitops/demo${name === '' ? '' : `/${name}`}`;

const WORDS = {
  github: { failure: 'failure', superseded: 'error' },
  gitlab: { failure: 'failed', superseded: 'canceled' },
  gitea: { failure: 'failure', superseded: 'warning' },
} as const;

for (const kind of ['github', 'gitlab', 'gitea'] as const) {
  describe(`commit statuses on ${kind}`, () => {
    it('go from pending to success', async (t) => {
      const { begin, until, forge, said } = await start(t, kind);
      const statuses = begin();
      statuses.want(note('progressing', [pool('gpu', 'Progressing', 1)]));
      await until(() => forge.posted.length === 2);
      assert.deepEqual(said(), [`${under('')} pending`, `${under('gpu')} pending`]);
      statuses.want(note('settled', [pool('gpu', 'Settled', 4)]));
      await until(() => forge.posted.length === 4);
      assert.deepEqual(said(), [`${under('')} success`, `${under('gpu')} success`]);
      assert.equal(forge.posted[0]?.link, LINK);
      assert.deepEqual(statuses.state(), { statuses: 'on' });
      assert.deepEqual(new Set(forge.requests.map(({ status }) => status)), new Set([200, 201]));
    });

    it('turn red for a halt and a refusal, and leave nothing pending behind', async (t) => {
      const { begin, until, forge, said } = await start(t, kind);
      const statuses = begin();
      statuses.want(note('progressing', [pool('gpu', 'Progressing', 1), pool('general', 'Progressing', 1)]));
      await until(() => forge.posted.length === 3);
      statuses.want(note('halted', [pool('gpu', 'Halted', 1), pool('general', 'Progressing', 1)]));
      await until(() => said().includes(`${under('gpu')} ${WORDS[kind].failure}`));
      const words = { message: 'superseded by bbbb while halted' };
      statuses.want(note('superseded', [pool('gpu', 'Halted', 1), pool('general', 'Progressing', 1)], words));
      statuses.want(note('refused', [], { commit: SECOND, message: 'it is not signed' }));
      await until(() => said(SECOND).length === 1 && said().includes(`${under('general')} ${WORDS[kind].superseded}`));
      assert.deepEqual(said(SECOND), [`${under('')} ${WORDS[kind].failure}`]);
      assert.equal(
        said().some((line) => line.endsWith('pending')),
        false,
      );
    });

    it('stay where only the first ones were to be posted', async (t) => {
      const { begin, until, forge, said } = await start(t, kind);
      begin().want(note('settled', [pool('gpu', 'Settled', 4)]));
      await until(() => forge.posted.length === 2);
      const next = begin();
      next.want(note('refused', []), true);
      next.want(note('refused', [], { commit: SECOND }), true);
      await until(() => said(SECOND).length === 1);
      assert.deepEqual(said(), [`${under('')} success`, `${under('gpu')} success`]);
    });

    it('are not repeated, also not by a process that starts again', async (t) => {
      const { begin, until, forge, clock } = await start(t, kind);
      const present = note('progressing', [pool('gpu', 'Progressing', 1)]);
      const first = begin();
      for (let n = 0; n < 20; n += 1) first.want(present);
      await until(() => forge.posted.length === 2);
      for (let n = 0; n < 20; n += 1) first.want(present);
      clock.skip(10 * 60_000);
      const listed = forge.requests.length;
      const second = begin();
      second.want(present);
      await until(() => forge.requests.length > listed);
      second.want(note('settled', [pool('gpu', 'Settled', 4)]));
      await until(() => forge.posted.length === 4);
      assert.equal(
        forge.requests.slice(listed).filter(({ method }) => method === 'GET').length,
        1,
        'one look after a restart',
      );
    });

    it('find what stands there among the checks of many others', async (t) => {
      const { begin, until, forge } = await start(t, kind);
      for (let n = 0; n < 120; n += 1) {
        forge.add({ commit: FIRST, context: `ci/${n}`, state: 'success', description: '', link: null });
      }
      const present = note('settled', [pool('gpu', 'Settled', 4)]);
      begin().want(present);
      await until(() => forge.posted.length === 122);
      const before = forge.requests.length;
      begin().want(present);
      await until(() => forge.requests.length === before + 3);
      assert.equal(forge.posted.length, 122);
    });

    it('are bounded in number, and short enough to be taken', async (t) => {
      const { begin, until, forge } = await start(t, kind);
      const many = Array.from({ length: 60 }, (_, n) =>
        pool(`pool-${n}`, n === 59 ? 'Halted' : 'Settled', 4, { config: 'x'.repeat(400) }),
      );
      begin().want(note('halted', many, { message: 'm'.repeat(2_000) }));
      await until(() => forge.posted.length === 21);
      assert.ok(forge.posted.some(({ context }) => context.endsWith('/pool-59')));
      assert.deepEqual(new Set(forge.requests.map(({ status }) => status)), new Set([200, 201]));
    });

    it('wait as long as the forge asks for, and outlast its failures', async (t) => {
      const { begin, until, forge, clock } = await start(t, kind);
      const begun = clock.monotonic();
      forge.faults.push(
        [502, 'bad gateway'],
        [429, { message: 'slow down' }, { 'retry-after': '120' }],
        [500, { message: 'oops' }],
      );
      begin().want(note('settled', [pool('gpu', 'Settled', 4)]));
      await until(() => forge.posted.length === 2);
      assert.ok(clock.monotonic() - begun >= 120_000);
    });

    it('are off where the token may not, and on again when it may', async (t) => {
      const { begin, until, forge, tokenFile } = await start(t, kind);
      forge.scope = 'read';
      const statuses = begin();
      statuses.want(note('settled', [pool('gpu', 'Settled', 4)]));
      await until(() => statuses.state().statuses === 'off');
      await writeFile(tokenFile, 'another-token');
      await until(() => JSON.stringify(statuses.state()).includes('wrong or has expired'));
      assert.doesNotMatch(JSON.stringify(statuses.state()), /another-token|a-token-of-the-forge/);
      await rm(tokenFile);
      await until(() => JSON.stringify(statuses.state()).includes('cannot be read'));
      forge.scope = 'write';
      await writeFile(tokenFile, forge.token);
      await until(() => forge.posted.length === 2);
      await until(() => statuses.state().statuses === 'on');
    });

    it('that the forge does not take are not tried again and again, and hold up no other', async (t) => {
      const { begin, until, forge } = await start(t, kind);
      forge.add({ commit: FIRST, context: 'ci', state: 'success', description: '', link: null });
      const statuses = begin();
      statuses.want(note('settled', [pool('gpu', 'Settled', 4)], { commit: SECOND }));
      await until(() => forge.posted.length === 3);
      forge.faults.push([422, { message: 'Validation Failed' }]);
      statuses.want(note('progressing', [pool('gpu', 'Progressing', 1)], { commit: SECOND }));
      await until(() => forge.posted.length === 4);
      const before = forge.requests.length;
      statuses.want(note('progressing', [pool('gpu', 'Progressing', 1)], { commit: SECOND }));
      statuses.want(note('settled', [pool('gpu', 'Settled', 4)], { commit: SECOND }));
      await until(() => forge.requests.length === before + 2);
      assert.deepEqual(statuses.state(), { statuses: 'on' });
    });

    it('of a commit that left the forge hold up no other, and say why', async (t) => {
      const { begin, until, forge, said } = await start(t, kind);
      forge.knows = (commit) => commit !== FIRST;
      const statuses = begin();
      statuses.want(note('superseded', [], { message: 'superseded by bbbb while progressing' }));
      statuses.want(note('refused', [], { commit: SECOND, message: 'it is not signed' }));
      await until(() => said(SECOND).length === 1 && statuses.state().statuses === 'off');
      assert.match(JSON.stringify(statuses.state()), /no such repository or commit/);
      forge.knows = () => true;
      await until(() => said().length === 1 && statuses.state().statuses === 'on');
    });

    it('are never followed to another place with the token, and survive any answer', async (t) => {
      const { begin, until, forge } = await start(t, kind);
      forge.faults.push(
        [302, '', { location: 'http://attacker.invalid/' }],
        [200, 'no JSON'],
        [200, '{"statuses": 7}'],
        [200, '[[]]'],
      );
      const statuses = begin();
      statuses.want(note('settled', [pool('gpu', 'Settled', 4)]));
      await until(() => forge.posted.length === 2);
    });
  });
}

describe('a forge that lists statuses without end', () => {
  it('is asked for ten pages of them, and is told all the same', async (t) => {
    const { begin, until, forge } = await start(t, 'gitea');
    for (let n = 0; n < 700; n += 1) {
      forge.add({ commit: FIRST, context: `ci/${n}`, state: 'success', description: '', link: null });
    }
    begin().want(note('settled', [pool('gpu', 'Settled', 4)]));
    await until(() => forge.posted.length === 702);
    assert.equal(forge.requests.filter(({ method }) => method === 'GET').length, 10);
  });
});

describe('commits that follow each other while the forge is away', () => {
  it('are forgotten but for the twenty newest: of older ones nobody wants to hear any more', async (t) => {
    const { begin, until, forge } = await start(t, 'gitea');
    forge.knows = () => true;
    const commits = Array.from({ length: 25 }, (_, n) => n.toString(16).padStart(40, '0'));
    const statuses = begin();
    for (const commit of commits) statuses.want(note('refused', [], { commit, message: 'it is not signed' }));
    await until(() => forge.posted.length >= 20);
    assert.deepEqual([...new Set(forge.posted.map(({ commit }) => commit))], commits.slice(5));
  });
});

describe('a forge behind a proxy', () => {
  it('is reached through it, and one that the proxy does not let us to is out of reach', async (t) => {
    const { forge, tokenFile, clock, until } = await start(t, 'gitea');
    const proxy = await startHttpProxy(t, { to: Number(new URL(forge.origin).port) });
    const stop = new AbortController();
    const statusesAt = (scheme: string) => {
      const place = {
        gitUrl: `${scheme}://git.example.test/${REPOSITORY}.git`,
        apiUrl: undefined,
        repository: undefined,
      };
      const through = `http://${proxy.host}`;
      const settings = { ...place, kind: 'gitea', tokenFile, link: undefined, caFile: undefined } as const;
      const statuses = connectForge(
        { ...settings, proxy: { http: through, https: 'http://127.0.0.1:1', except: '' } },
        { clock, log: silentLog, random: () => 0.5, onChange: () => undefined, timeoutMs: PATIENCE_MS },
      );
      statuses.want(note('settled', [pool('gpu', 'Settled', 4)]));
      return { statuses, running: statuses.run(stop.signal) };
    };
    const first = statusesAt('http');
    await until(() => forge.posted.length === 2);
    assert.match(proxy.asked[0] ?? '', /^GET http:\/\/git\.example\.test\/api\/v1\/repos\//);
    const second = statusesAt('https');
    await until(() => second.statuses.state().statuses === 'off');
    assert.match(JSON.stringify(second.statuses.state()), /no answer from the forge at git\.example\.test/);
    stop.abort();
    await Promise.all([first.running, second.running]);
  });
});

describe('GitHub alone', () => {
  for (const [name, fault, least] of [
    ['in words alone', [403, { message: 'You have exceeded a secondary rate limit. Please wait' }], 60_000],
    ['with 429', [429, { message: 'no' }, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': 'RESET' }], 89_000],
  ] as const) {
    it(`is left alone where it asks for that ${name}`, async (t) => {
      const { begin, until, forge, clock } = await start(t, 'github');
      const [status, body, headers = {}] = fault;
      const opens = String(Math.ceil((clock.now() + 90_000) / 1000));
      forge.faults.push([
        status,
        body,
        'x-ratelimit-reset' in headers ? { ...headers, 'x-ratelimit-reset': opens } : headers,
      ]);
      const begun = clock.monotonic();
      const statuses = begin();
      statuses.want(note('settled', [pool('gpu', 'Settled', 4)]));
      await until(() => forge.posted.length === 2);
      assert.ok(clock.monotonic() - begun >= least, `${clock.monotonic() - begun} ms`);
    });
  }

  it('says where a repository went that was renamed, and what a token would have to be allowed', async (t) => {
    const { begin, until, forge } = await start(t, 'github');
    const moved = { location: `${forge.api}/repositories/7/commits/${FIRST}/status?per_page=50` };
    const allowed = { 'x-accepted-github-permissions': 'statuses=read' };
    for (let times = 0; times < 40; times += 1) forge.faults.push([301, { message: 'Moved Permanently' }, moved]);
    const statuses = begin();
    const because = (): string => JSON.stringify(statuses.state());
    statuses.want(note('settled', [pool('gpu', 'Settled', 4)]));
    await until(() => /repos\/platform\/kubelet-config: the repository was renamed.*repositories\/7/.test(because()));
    forge.faults.splice(0, Infinity, ...Array.from({ length: 40 }, () => [403, {}, allowed] as const));
    await until(() => /may not read or write statuses here, the forge asks for statuses=read/.test(because()));
    forge.faults.splice(0, Infinity, [404, { message: 'Not Found' }], [404, {}], [404, {}], [404, {}], [404, {}]);
    await until(() => /no such repository or commit, or the token may not see it/.test(because()));
    forge.faults.length = 0;
    await until(() => forge.posted.length === 2);
  });

  it('says 403 when its limit is used up, and when it opens again', async (t) => {
    const { begin, until, forge, clock } = await start(t, 'github');
    const opens = String(Math.ceil((clock.now() + 90_000) / 1000));
    const headers = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': opens };
    forge.faults.push([403, { message: 'API rate limit exceeded' }, headers]);
    const begun = clock.monotonic();
    begin().want(note('settled', [pool('gpu', 'Settled', 4)]));
    await until(() => forge.posted.length === 2);
    assert.ok(clock.monotonic() - begun >= 89_000);
  });
});

describe('GitLab alone', () => {
  it('that makes another status of the commit at that moment is asked again', async (t) => {
    const { begin, until, forge } = await start(t, 'gitlab');
    forge.faults.push([200, []], [409, { message: 'Failed to obtain a lock' }]);
    begin().want(note('settled', [pool('gpu', 'Settled', 4)]));
    await until(() => forge.posted.length === 2);
  });

  it('is not told twice that something is pending, which it refuses', async (t) => {
    const { begin, until, forge, clock } = await start(t, 'gitlab');
    const statuses = begin();
    statuses.want(note('progressing', [pool('gpu', 'Progressing', 1)]));
    await until(() => forge.posted.length === 2);
    clock.skip(10 * 60_000);
    statuses.want(note('progressing', [pool('gpu', 'Progressing', 3)]));
    statuses.want(note('settled', [pool('gpu', 'Settled', 4)]));
    await until(() => forge.posted.length === 4);
    assert.equal(
      forge.requests.some(({ status }) => status === 400),
      false,
    );
  });

  it('that says so all the same is believed: another process was faster', async (t) => {
    const { begin, until, forge } = await start(t, 'gitlab');
    const message =
      'Cannot transition status via :enqueue from :pending (Reason(s): Status cannot transition via "enqueue")';
    forge.faults.push([200, []], [400, { message }]);
    const statuses = begin();
    statuses.want(note('progressing', [pool('gpu', 'Progressing', 1)]));
    await until(() => forge.posted.length === 1);
    assert.deepEqual(statuses.state(), { statuses: 'on' });
  });
});
