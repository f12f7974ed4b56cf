import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { BlockersSpec } from '#shared/contract/api/kubelet-pool.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { createBlockers } from '#reconciler/blockers/blockers.ts';
import { createWebGet } from '#reconciler/blockers/web.ts';
import { type Daemon, startDaemon } from '../../cluster/support/daemon.ts';
import { freePorts } from '../../cluster/support/free-ports.ts';
import { until } from '../../cluster/support/until.ts';
import { without } from '../../support/needs.ts';

const skip = without('prometheus', ['--version'], 'nothing proves that a real Prometheus is understood');

const CONFIG = 'global: { evaluation_interval: 200ms }\nrule_files: [rules.yaml]\n';
const RULES = `groups:
  - name: test
    rules:
      - { alert: Fire, expr: vector(1) }
      - { alert: Fire.Too, expr: vector(1) }
      - { alert: Calm, expr: vector(1) > 2 }
      - { alert: NotYet, expr: vector(1), for: 1h }
`;

describe('a real Prometheus', { skip }, () => {
  let directory = '';
  let daemon: Daemon | undefined;
  let url = '';

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'prometheus-'));
    await writeFile(join(directory, 'config.yaml'), CONFIG);
    await writeFile(join(directory, 'rules.yaml'), RULES);
    const [port = 0] = await freePorts(1);
    url = `http://127.0.0.1:${port}/metrics-of/us`;
    const logFile = join(directory, 'log');
    const args = [
      `--config.file=${join(directory, 'config.yaml')}`,
      `--storage.tsdb.path=${join(directory, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--web.route-prefix=/metrics-of/us',
    ];
    daemon = startDaemon({ name: 'prometheus', command: 'prometheus', args, logFile });
    const { ended, logTail } = daemon;
    const pending = async (): Promise<boolean> => {
      const answer = await fetch(`${url}/api/v1/query?query=ALERTS`);
      return (await answer.text()).includes('NotYet');
    };
    await until('the alerts', pending, { withinMs: 20_000, everyMs: 50, evidence: logTail, hopeless: ended });
  });

  after(async () => {
    await daemon?.stop();
    await rm(directory, { recursive: true, force: true });
  });

  const rows: readonly (readonly [string, Omit<NonNullable<BlockersSpec['prometheus']>, 'url'>, boolean, RegExp])[] = [
    ['a firing alert', { alerts: ['Calm', 'Fire'] }, false, /^Fire is firing in Prometheus at/],
    ['a firing alert with a dot in its name', { alerts: ['Fire.Too'] }, false, /^Fire\.Too is firing/],
    ['an alert whose name only begins like a firing one', { alerts: ['Fir'] }, true, /quiet/],
    ['an alert that is pending', { alerts: ['NotYet'] }, true, /quiet/],
    ['a query with a result', { query: 'ALERTS{alertname="Calm"} or vector(7)' }, false, /has 1 in/],
    ['a query without one', { query: 'vector(1) > 2' }, true, /quiet/],
    ['a query that is none', { query: 'sum(' }, false, /cannot be asked: it says: .*parse error/],
  ];
  for (const [what, spec, quiet, because] of rows) {
    it(`${what} is ${quiet ? 'quiet' : 'not quiet'}`, async () => {
      const web = createWebGet({ clock: systemClock, timeoutMs: 5_000, maxBytes: 1024 * 1024 });
      const kube = { list: () => Promise.reject(new Error('nobody asks for pods here')) };
      const blockers = createBlockers({ kube, web, clock: systemClock });
      const asked = [{ name: 'workers', spec: { prometheus: { url, ...spec } } }];
      const answer = (await blockers.ask(asked, new AbortController().signal)).get('workers');
      assert.equal(answer?.quiet, quiet, answer?.because);
      assert.match(answer.because, because);
    });
  }
});
