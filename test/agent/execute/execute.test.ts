import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createExecute, type ExecuteOptions } from '#agent/execute/execute.ts';
import { emptyMemory } from '#agent/execute/mutable-memory.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { B, idle } from '../../support/agent/states.ts';
import { createManualClock } from '../../support/manual-clock.ts';

it('a config whose payload is lost is not installed, which is no fault of the installer’s', async () => {
  const memory = emptyMemory();
  const asked: string[] = [];
  const installer = { plan: async () => asked.push('plan'), install: async () => asked.push('install') };
  const options = {
    clock: createManualClock(),
    random: () => 0,
    log: silentLog,
    store: { payloads: { read: async () => ({ lost: 'the disk has forgotten it' }) } },
    installer,
    memory,
  } as unknown as ExecuteOptions;
  const isDone = await createExecute(options)({ do: 'install', target: B }, idle(B), new AbortController().signal);
  assert.deepEqual([isDone, asked, memory.fault], [false, [], null]);
});
