import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../support/property.ts';
import { NAMES, prepare } from './support/manager-state-bench.ts';
import { CONFIG, CPU_STATE, MEMORY_STATE } from './support/manager-state-writer.ts';
import { runsOf } from '../../../support/sample.ts';

describe('the way back', () => {
  const names = fc.constantFrom(...NAMES);

  it('from any trial to any config, in plain writes, is what was there before', async () => {
    await fc.assert(
      fc.asyncProperty(names, names, fc.nat(3), fc.boolean(), async (good, trial, pods, runs) => {
        const { disk, kubelet, installer, plan, change, text } = prepare();
        await change(good);
        for (let pod = 0; pod < pods; pod += 1) kubelet.givePod();
        await installer.forgetState();
        const before = [text(CPU_STATE), text(MEMORY_STATE), text(CONFIG)];
        const to = await plan(good);
        const back = await installer.fallbackFiles(await plan(trial), to);
        await installer.install(await plan(trial));
        if (runs) {
          kubelet.start();
          kubelet.givePod();
          kubelet.takePod();
        }
        for (const { path, bytes } of back) disk.plant(path, bytes === null ? null : bytes.toString('utf8'));
        assert.deepEqual([text(CPU_STATE), text(MEMORY_STATE), text(CONFIG)], before);
        assert.ok(await installer.isInstalled(to));
        assert.ok(await installer.isInstalled(await plan(good)));
        kubelet.start();
        // The agent comes back, and does what it did before.
        await change(good);
        assert.deepEqual([text(CPU_STATE), text(MEMORY_STATE)], before.slice(0, 2));
      }),
      { numRuns: runsOf(150, 4) },
    );
  });

  it('from a trial that took the place of another leads to the state of what it goes back to', async () => {
    await fc.assert(
      fc.asyncProperty(names, names, names, async (good, first, second) => {
        const { disk, kubelet, installer, plan, change, text } = prepare();
        await change(good);
        kubelet.givePod();
        await installer.forgetState();
        const before = text(CPU_STATE);
        await change(first);
        const changed = text(CPU_STATE) !== before;
        const back = await installer.fallbackFiles(await plan(second), await plan(good));
        await installer.install(await plan(second));
        for (const { path, bytes } of back) disk.plant(path, bytes === null ? null : bytes.toString('utf8'));
        kubelet.start();
        if (changed) assert.equal(text(CPU_STATE), before);
      }),
      { numRuns: runsOf(150, 4) },
    );
  });

  it('names no state file where the trial changes none, and writes nothing to find that out', async () => {
    const { disk, installer, plan, change } = prepare();
    await change('none');
    const changes = disk.changes();
    const back = await installer.fallbackFiles(await plan('otherwise'), await plan('none'));
    assert.deepEqual(
      back.map(({ path }) => path),
      [CONFIG],
    );
    assert.equal(disk.changes(), changes, 'what it names is known to be ours');
  });

  it('has the state removed that a kubelet on trial would make', async () => {
    const { disk, installer, plan } = prepare();
    disk.plant(CPU_STATE, null);
    const back = await installer.fallbackFiles(await plan('static'), await plan(null));
    assert.deepEqual(
      back.filter(({ path }) => path === CPU_STATE),
      [{ path: CPU_STATE, bytes: null }],
    );
  });
});
