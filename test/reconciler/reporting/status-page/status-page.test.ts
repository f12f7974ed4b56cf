import assert from 'node:assert/strict';
import { get, type IncomingMessage } from 'node:http';
import { it } from 'node:test';
import { createStatusPage } from '#reconciler/reporting/status-page/status-page.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { passResultIn, settledFleet } from './pass-results.ts';

it('a hundred browsers may follow the page; the next one is told so, and its round is shown to all', async (t) => {
  const stop = new AbortController();
  const page = createStatusPage({
    about: { cluster: 'prod', version: '1.2.3', forge: undefined },
    leadership: () => ({ leads: true, holder: '' }),
    reach: 'local',
    port: 0,
    clock: systemClock,
    log: silentLog,
  });
  const running = page.run(stop.signal);
  const port = (await page.port) ?? assert.fail();
  const answers: IncomingMessage[] = [];
  t.after(async () => {
    stop.abort();
    for (const answer of answers) answer.destroy();
    await running;
  });
  const follow = async (): Promise<number | undefined> => {
    const answer = await new Promise<IncomingMessage>((resolve, reject) =>
      get({ port, host: '127.0.0.1', path: '/events', agent: false }, resolve).on('error', reject),
    );
    answers.push(answer);
    return answer.statusCode;
  };
  for (let browser = 0; browser < 100; browser += 1) assert.equal(await follow(), 200);
  assert.equal(page.listeners(), 100);
  assert.equal(await follow(), 503);
  assert.equal(page.listeners(), 100);
  page.show(passResultIn(settledFleet(2)));
  const shown = await fetch(`http://127.0.0.1:${port}/pool?name=workers`);
  assert.equal(shown.status, 200);
});
