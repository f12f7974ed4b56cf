import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sampleOf } from '../../../support/sample.ts';
import { NAMES, prepare, STATE } from './support/manager-state-bench.ts';
import { CPU_STATE, MEMORY_STATE } from './support/manager-state-writer.ts';

const ASIDE = `${STATE}/manager-state`;

describe('a state file that fits the config', () => {
  for (const [from, to] of [
    ['none', 'otherwise'],
    ['static', 'static'],
    ['memory', 'memory'],
  ] as const) {
    it(`is not touched from ${from} to ${to}, and nothing is written for it`, async () => {
      const { disk, kubelet, installer, plan, change, text } = prepare();
      await change(from);
      kubelet.givePod();
      await installer.forgetState();
      const before = [text(CPU_STATE), text(MEMORY_STATE)];
      await change(to);
      assert.deepEqual([text(CPU_STATE), text(MEMORY_STATE)], before);
      assert.equal(text(`${ASIDE}/cpu_manager_state`), undefined);
      const changes = disk.changes();
      await installer.install(await plan(to));
      assert.equal(disk.changes(), changes);
    });
  }

  it('is not made where the kubelet has none', async () => {
    const { disk, installer, plan, text } = prepare();
    for (const path of [CPU_STATE, MEMORY_STATE]) disk.plant(path, null);
    await installer.install(await plan('static'));
    await installer.install(await plan(null));
    assert.deepEqual([text(CPU_STATE), text(MEMORY_STATE)], [undefined, undefined]);
  });

  it('stays what it is where it is no file: a kubelet cannot read it, and it is not ours to move', async () => {
    const { disk, installer, plan } = prepare();
    disk.plant(CPU_STATE, { directory: true });
    await installer.install(await plan('static'));
    assert.equal((await disk.stat(CPU_STATE))?.kind, 'directory');
  });
});

describe('a state file that does not fit the config', () => {
  it('is put aside, and is back byte by byte, with its owner and mode, after the fallback', async () => {
    const { disk, kubelet, change, text } = prepare();
    await change('static');
    kubelet.givePod();
    const before = text(CPU_STATE) ?? '';
    await disk.replace(CPU_STATE, Buffer.from(before), { mode: 0o640, uid: 7, gid: 8 });
    await change('none');
    assert.match(text(CPU_STATE) ?? '', /"none"/);
    await change('static');
    assert.equal(text(CPU_STATE), before);
    const { mode, uid, gid } = (await disk.stat(CPU_STATE)) ?? {};
    assert.deepEqual([mode, uid, gid], [0o640, 7, 8]);
  });

  it('is put aside also when the way back leads over a config that took the place of the one on trial', async () => {
    const { kubelet, change, text } = prepare();
    await change('static');
    kubelet.givePod();
    const before = text(CPU_STATE);
    await change('none');
    await change('static, more reserved');
    kubelet.givePod();
    await change('memory');
    await change('static');
    assert.equal(text(CPU_STATE), before);
  });

  it('is forgotten when nothing is on trial any more: it would be of pods that are gone', async () => {
    const { kubelet, installer, change, text, disk } = prepare();
    await change('static');
    kubelet.givePod();
    const before = text(CPU_STATE);
    await change('none');
    await installer.forgetState();
    assert.equal(await disk.stat(ASIDE), null);
    await change('static');
    assert.notEqual(text(CPU_STATE), before);
    await installer.forgetState();
    await installer.forgetState();
  });

  it('makes way again where the old kubelet wrote it once more before it was stopped', async () => {
    for (const from of ['static', 'static, more reserved', 'static, the last CPUs'] as const) {
      for (const to of NAMES) {
        const { kubelet, change } = prepare();
        await change(from);
        kubelet.givePod();
        kubelet.givePod();
        await change(to, kubelet.givePod);
        await change(from, kubelet.takePod);
        await change(to, kubelet.takePod);
      }
    }
  });

  it('is not asked for twice: what the new kubelet wrote stays when the installation is repeated', async () => {
    const { kubelet, installer, plan, change, text } = prepare();
    await change('static');
    kubelet.givePod();
    const before = text(CPU_STATE);
    await installer.install(await plan('static'));
    assert.equal(text(CPU_STATE), before);
  });

  it('that no kubelet can read goes in any case, and is kept for people; nothing puts it back', async () => {
    for (const damaged of ['', '{"policyName":"no', '\0\0\0']) {
      const { disk, change, text } = prepare();
      disk.plant(CPU_STATE, damaged);
      await change('otherwise');
      assert.equal(text(`${ASIDE}/cpu_manager_state.damaged`), damaged);
      await change(null);
      assert.match(text(CPU_STATE) ?? '', /"none"/);
    }
  });

  it('is none of this node’s where it came with the disk of another node', async () => {
    for (const node of ['node-a', 'node-b']) {
      const { disk, kubelet, change, text } = prepare();
      await change('static');
      kubelet.givePod();
      const before = text(CPU_STATE);
      await change('none');
      disk.plant(`${ASIDE}/cpu_manager_state`, (text(`${ASIDE}/cpu_manager_state`) ?? '').replace('node-a', node));
      await change('static');
      assert.equal(text(CPU_STATE) === before, node === 'node-a');
    }
  });

  it('is lost where what was put aside is damaged; the kubelet starts all the same', async () => {
    for (const damage of ['', '{"version":2}', '{"version":3}', { directory: true }] as const) {
      const { disk, kubelet, change } = prepare();
      await change('static');
      kubelet.givePod();
      await change('none');
      disk.plant(`${ASIDE}/cpu_manager_state`, damage);
      await change('static');
      disk.plant(ASIDE, null);
      disk.plant(ASIDE, 'a file');
      await change('none');
    }
  });
});

describe('a change that is cut short at any point', () => {
  for (const from of ['none', 'static', 'memory'] as const) {
    for (const [index, to] of NAMES.entries()) {
      it(`from ${from} to ${to} never meets a kubelet with a state that it refuses, and leads there or back`, async () => {
        const cuts = Array.from({ length: 12 }, (_, changes) => changes);
        for (const changes of sampleOf(cuts, 3, index)) {
          for (const then of [to, from]) {
            const { disk, kubelet, installer, plan, change } = prepare();
            await change(from);
            kubelet.givePod();
            kubelet.givePod();
            await installer.forgetState();
            disk.failAfter(changes);
            await installer.install(await plan(to)).catch(() => undefined);
            disk.failAfter(null);
            // The machine goes down, or not.
            if (changes % 2 === 0) kubelet.start();
            await change(then);
          }
        }
      });
    }
  }
});
