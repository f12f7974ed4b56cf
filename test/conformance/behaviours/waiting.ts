import assert from 'node:assert/strict';
import type { Behaviours } from '../suite.ts';
import { NODES_PATH } from '../support/bench.ts';

/** These take their time, each by itself; they are tried side by side. */
export const waitingBehaviours: Behaviours = {
  async 'a list of a version that is not there yet is waited for, and refused after some seconds'({ raw }) {
    const answer = await raw.call({ path: NODES_PATH, query: { resourceVersion: '999999999' } });
    assert.equal(answer.status, 504);
    assert.equal(answer.json().reason, 'Timeout');
    assert.match(answer.json().message, /Too large resource version: 999999999, current: \d+/);
  },
  async 'a watch from a version of the future is quiet'({ raw, aNode }) {
    const query = { resourceVersion: '999999999', timeoutSeconds: '1' };
    const events = await raw.watch({ path: NODES_PATH, query });
    await aNode();
    for await (const event of events) assert.fail(`heard ${JSON.stringify(event)}`);
  },
  async 'the server ends a watch at the time asked for'({ raw, fresh }) {
    const began = performance.now();
    const query = { fieldSelector: `metadata.name=${fresh()}`, timeoutSeconds: '1', allowWatchBookmarks: 'true' };
    for await (const event of await raw.watch({ path: NODES_PATH, query })) assert.equal(event.type, 'BOOKMARK');
    const tookMs = performance.now() - began;
    // Not sooner; how much later is a matter of the machine.
    assert.ok(tookMs > 900, `${tookMs} ms`);
  },
};
