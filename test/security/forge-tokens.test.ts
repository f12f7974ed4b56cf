import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { pino } from 'pino';
import { connectForge } from '#reconciler/reporting/forge/connect-forge.ts';
import { describeError } from '#shared/runtime/log.ts';
import { until } from '../support/until.ts';
import { note, pool } from '../reconciler/reporting/forge/notes.ts';
import { steeredClock } from '../support/steered-clock.ts';
import { REPOSITORY, startForge } from '../support/forge-server.ts';
import { leaksIn } from './support/canaries.ts';
import { type Echo, startEchoingFront } from './support/echoing-front.ts';

const WITHIN = { everyMs: 20 };

/** As the forges write theirs: each kind goes into another header. */
const TOKENS = {
  github: ['ghp_16C7e42F292c6912E7710c838347Ae178B4a', 'github_pat_11ABCDE0Y0xQ2_pW8vZk3mB5nT7rL9sD4cJ6hG1fKaUyEiO'],
  gitlab: ['glpat-Zk3vQ8pW1xQ7rT2mB5Lw', 'gldt-9sD4nC6Gh2yU6kE8Rt5j'],
  gitea: ['3f1c9a7be2d84f60b5c1e7a9d0342f68a1b7c5d9'],
} as const;

for (const kind of ['github', 'gitlab', 'gitea'] as const) {
  for (const token of TOKENS[kind]) {
    it(`the token ${token.slice(0, 6)}… of ${kind} comes out nowhere, though the forge says it back`, async (t) => {
      const forge = await startForge(kind);
      forge.token = token;
      const front = await startEchoingFront(forge.origin);
      const directory = await mkdtemp(join(tmpdir(), 'kubelet-gitops-forge-'));
      const tokenFile = join(directory, 'token');
      await writeFile(tokenFile, `${token}\n`);
      const clock = steeredClock();
      clock.hurry = true;
      const stop = new AbortController();
      let said = '';
      const sink = { write: (line: string) => (said += line) };
      const statuses = connectForge(
        {
          kind,
          gitUrl: `${front.origin}/${REPOSITORY}.git`,
          apiUrl: forge.api.replace(forge.origin, front.origin),
          repository: undefined,
          tokenFile,
          link: undefined,
          caFile: undefined,
        },
        {
          clock,
          log: pino({ level: 'trace', serializers: { err: describeError } }, sink),
          random: () => 0.5,
          onChange: () => states.push(JSON.stringify(statuses.state())),
          timeoutMs: 120_000,
        },
      );
      const states: string[] = [];
      const running = statuses.run(stop.signal);
      t.after(async () => {
        stop.abort();
        await running;
        await front.stop();
        await forge.close();
        await rm(directory, { recursive: true, force: true });
      });
      const told = async (outcome: 'progressing' | 'settled'): Promise<void> => {
        const before = forge.posted.length;
        statuses.want(note(outcome, [pool('gpu', outcome === 'settled' ? 'Settled' : 'Progressing', 4)]));
        await until('a status', async () => forge.posted.length > before, WITHIN);
      };
      await told('progressing');
      const answers: readonly Echo[] = [
        ...[401, 403, 404, 422, 500].map((status) => ({ echo: 'status', status }) as const),
        { echo: 'redirect' },
        { echo: 'body' },
      ];
      for (const [index, answer] of answers.entries()) {
        const wanted = front.echoed + 1;
        front.answer = answer;
        // What stands there already would not be posted again.
        const [outcome, phase] = index % 2 === 0 ? (['halted', 'Halted'] as const) : (['settled', 'Settled'] as const);
        statuses.want(note(outcome, [pool('gpu', phase, index % 4)]));
        await until(JSON.stringify(answer), async () => front.echoed >= wanted, { ...WITHIN, evidence: () => said });
      }
      front.answer = null;
      await told('settled');
      // What the forge has is not yet what its answer was taken for.
      await until('what is said of the forge', async () => states.length > 1, WITHIN);
      const outputs = new Map([
        ['the log', said],
        ['the states', states.join('\n')],
        ['what was posted', JSON.stringify(forge.posted)],
      ]);
      assert.match(said, /FORGE_UNAUTHORIZED/);
      assert.deepEqual(leaksIn(outputs, { 'token of the forge': token }), []);
    });
  }
}
