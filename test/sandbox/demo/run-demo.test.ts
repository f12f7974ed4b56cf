import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Paint } from '#cli/paint.ts';
import { DEMO_NODES } from '#sandbox/demo/demo-nodes.ts';
import type { Screen } from '#sandbox/demo/screen.ts';
import { runDemo } from '#sandbox/demo/run-demo.ts';
import { startSandbox, type Sandbox } from '#sandbox/sandbox.ts';
import { silentLog } from '#shared/runtime/log.ts';

/** What a newcomer sees until the first commit has changed a node. */
describe("the demo's first frames", () => {
  const said: string[] = [];
  const frames: string[] = [];
  let world: Sandbox;
  before(async () => {
    // So slow that an agent reports before its kubelet answers.
    const nodes = DEMO_NODES.map((node) => ({ ...node, timing: { startMs: 2_000 } }));
    world = await startSandbox({ cluster: 'demo', nodes, log: () => silentLog, pollMs: 200 });
    const enough = new AbortController();
    const paint: Paint = (tone, text) => (tone === 'bad' ? `[red ${text}]` : text);
    const screen: Screen = {
      paint,
      columns: () => undefined,
      say: (...lines) => {
        said.push(...lines);
        if (lines.some((line) => line.includes('on trial'))) enough.abort();
      },
      live: (lines) => void frames.push(lines.join('\n')),
      settle: () => undefined,
    };
    await assert.rejects(runDemo(world, screen, enough.signal), { name: 'AbortError' });
  });
  after(() => world.stop());

  it('have nothing red in them, neither of the sandbox on its way up nor of what was not pushed yet', () => {
    assert.ok(frames.length > 0);
    assert.deepEqual(
      [...said, ...frames].filter((text) => text.includes('[red ')),
      [],
    );
  });

  it('show the first commit from the first frame on', () => {
    assert.match(frames[0] ?? '', /commit {6}[0-9a-f]{12} Start from the template/);
  });
});
