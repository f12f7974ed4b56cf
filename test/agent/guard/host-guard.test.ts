import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { disableGuard } from '#agent/guard/host-guard.ts';
import type { GuardOrder } from '#agent/ports/guard.ts';
import { stagedPathOf } from '#agent/guard/guard-paths.ts';
import { codeOf, reasonOf } from '#shared/runtime/errors.ts';
import { createFakeSystemd } from './support/fake-systemd.ts';
import {
  armedFor,
  CONFIG,
  createNode,
  DROP_IN,
  FLAGS,
  ORDER,
  OTHER,
  put,
  REMNANTS,
  STATE,
  textIn,
  UNIT_DIRECTORY,
} from './support/guarded-node.ts';

const DISARMED = { guard: 'disarmed' };

describe('the guard on a host', () => {
  it('is armed with all that it needs, the plan after everything else', async () => {
    const { disk, systemd, guard } = createNode();
    assert.deepEqual(await guard.look(), DISARMED);
    await guard.arm(ORDER);
    assert.deepEqual(await guard.look(), armedFor(ORDER));
    assert.equal(
      textIn(disk, `${STATE}/guard/plan`),
      [
        'kubelet-gitops-guard 1',
        'trial pool-abc/1234/overlay@5',
        'to local',
        'unit kubelet.service',
        'max-starts 5',
        'silence 720',
        `drop-in ${DROP_IN}`,
        `put ${CONFIG}`,
        'remove /var/lib/kubelet/memory_manager_state',
        `put ${FLAGS}`,
        'end',
        '',
      ].join('\n'),
    );
    assert.equal(textIn(disk, stagedPathOf(CONFIG)), 'old');
    assert.equal(textIn(disk, stagedPathOf(FLAGS)), 'flags');
    assert.doesNotMatch(stagedPathOf(FLAGS), /\.conf$/, 'the kubelet would read it');
    assert.match(textIn(disk, `${STATE}/guard/alive`) ?? '', /^boot-1 1000 *\n$/);
    assert.match(textIn(disk, DROP_IN) ?? '', /^ExecStartPre=-\/bin\/sh /m);
    assert.deepEqual(systemd.asked, ['daemon-reload']);
  });

  it('is for root only, but for what systemd reads as it reads everything beside it', async () => {
    const { disk, guard } = createNode();
    await guard.arm(ORDER);
    const modes: Record<string, string | undefined> = {};
    for (const path of [
      `${STATE}/guard`,
      `${STATE}/guard/plan`,
      `${STATE}/guard/alive`,
      `${STATE}/guard/starts`,
      DROP_IN,
    ])
      modes[path] = (await disk.stat(path))?.mode.toString(8);
    assert.deepEqual(modes, {
      [`${STATE}/guard`]: '700',
      [`${STATE}/guard/plan`]: '600',
      [`${STATE}/guard/alive`]: '600',
      [`${STATE}/guard/starts`]: '600',
      [DROP_IN]: '644',
    });
  });

  it('leaves the node as it was when it is disarmed, and asks nothing of a node without it', async () => {
    const { disk, systemd, guard } = createNode();
    const before = disk.tree();
    await guard.disarm();
    assert.deepEqual(systemd.asked, []);
    await guard.arm(ORDER);
    await guard.disarm();
    assert.deepEqual(disk.tree(), before);
    assert.deepEqual(systemd.asked, ['daemon-reload', 'daemon-reload', 'stop kubelet-gitops-guard.timer']);
    assert.deepEqual(await guard.look(), DISARMED);
  });

  it('says beside a trial what it knows of boots, and nothing of it where it watches none', async () => {
    const { disk, systemd, guard, guardOn } = createNode();
    const watching = guardOn(STATE, UNIT_DIRECTORY, systemd, true);
    const NOTHING = { guard: 'disarmed' };
    assert.deepEqual(await watching.look(), { guard: 'disarmed', boots: NOTHING });
    await watching.arm(ORDER);
    assert.deepEqual(await watching.look(), { ...armedFor(ORDER), boots: NOTHING });
    await watching.arm({ ...OTHER, watch: 'boot-1' });
    assert.match(textIn(disk, `${STATE}/guard/plan`) ?? '', /^watch boot-1$/m);
    const boots = armedFor(OTHER);
    assert.deepEqual(await watching.look(), { guard: 'disarmed', boots });
    assert.deepEqual(await guard.look(), { guard: 'disarmed', boots }, 'for a trial it is not there');
    disk.plant(`${STATE}/guard/starts`, 'boot-1 1 900'.padEnd(61));
    assert.deepEqual(await watching.look(), { guard: 'disarmed', boots: { ...boots, asks: true } }, 'of a start');
    disk.plant(`${STATE}/guard/fired`, textIn(disk, `${STATE}/guard/plan`) ?? '');
    await disk.remove(`${STATE}/guard/plan`);
    const { boots: fired } = (await watching.look()) as { readonly boots?: { readonly guard: string } };
    assert.equal(fired?.guard, 'fired');
    await watching.disarm();
    assert.deepEqual(await watching.look(), { guard: 'disarmed', boots: NOTHING });
  });

  it('is forsaken by an agent that has none any more, and found again by one that has', async () => {
    const { disk, guardOn } = createNode();
    const watching = guardOn(STATE, UNIT_DIRECTORY, undefined, true);
    const before = disk.tree();
    await watching.arm({ ...ORDER, watch: 'boot-1' });
    await disableGuard(disk, STATE);
    assert.equal(textIn(disk, `${STATE}/guard/plan`), undefined, 'without it the script does nothing');
    assert.deepEqual(await watching.look(), REMNANTS);
    await watching.disarm();
    assert.deepEqual(disk.tree(), before);
  });

  it('keeps its count when it is armed for the same again, and begins again for another trial', async () => {
    const { disk, guard } = createNode();
    await guard.arm(ORDER);
    disk.plant(`${STATE}/guard/starts`, 'boot-1 2 900\n');
    await guard.arm(ORDER);
    assert.equal(textIn(disk, `${STATE}/guard/starts`), 'boot-1 2 900\n');
    await guard.arm(OTHER);
    assert.notEqual(textIn(disk, `${STATE}/guard/starts`), 'boot-1 2 900\n');
    assert.deepEqual(await guard.look(), armedFor(OTHER));
    assert.equal(textIn(disk, stagedPathOf(CONFIG)), 'older');
    assert.equal(textIn(disk, stagedPathOf(FLAGS)), undefined, 'what the other order had staged is gone');
  });

  it('has the guard count boots with what was armed, and where somebody took the count away', async () => {
    const { disk, guard } = createNode();
    const boots = `${STATE}/guard/boots`;
    const counted = 'boot-1 1 20 boot-1 1 20'.padEnd(121).concat('\n');
    await guard.arm(ORDER);
    assert.equal(textIn(disk, boots)?.length, counted.length, 'its whole length needs no room later');
    disk.plant(boots, counted);
    await guard.arm(ORDER);
    assert.equal(textIn(disk, boots), counted);
    await guard.arm(OTHER);
    assert.equal(textIn(disk, boots)?.trim(), '-');
    disk.plant(boots, null);
    await guard.arm(OTHER);
    assert.equal(textIn(disk, boots)?.trim(), '-');
  });

  it('keeps the kubelet waiting for a third of what systemd gives its start, and for 20 seconds at most', async () => {
    const rows = [
      [15, 5],
      [17.9, 5],
      [18, 6],
      [59.9, 19],
      [60, 20],
      [90, 20],
      [Infinity, 20],
    ] as const;
    for (const [startTimeout, seconds] of rows) {
      const { disk, systemd, guard, pass } = createNode();
      systemd.startTimeout = startTimeout;
      await guard.arm(ORDER);
      const dropIn = textIn(disk, DROP_IN) ?? '';
      assert.ok(dropIn.endsWith(` start ${seconds}'\n`), `${startTimeout}: ${dropIn}`);
      await disk.remove(DROP_IN);
      pass(15_000);
      await guard.heartbeat();
      assert.equal(textIn(disk, DROP_IN), dropIn, 'nor longer where somebody took it away');
    }
  });

  it('fixes what is missing when it is armed again', async () => {
    for (const path of [DROP_IN, stagedPathOf(CONFIG), `${STATE}/guard/guard.sh`, `${STATE}/guard/plan`]) {
      const { disk, guard } = createNode();
      await guard.arm(ORDER);
      const whole = disk.tree()[path];
      await disk.remove(path);
      if (path !== stagedPathOf(CONFIG)) assert.deepEqual(await guard.look(), REMNANTS, path);
      await guard.arm(ORDER);
      assert.equal(disk.tree()[path], whole);
      assert.deepEqual(await guard.look(), armedFor(ORDER));
    }
  });

  it('tells what the script left: which trial, and the note', async () => {
    const { disk, guard } = createNode();
    await guard.arm(ORDER);
    const plan = textIn(disk, `${STATE}/guard/plan`) ?? '';
    await disk.remove(`${STATE}/guard/plan`);
    await disk.remove(DROP_IN);
    disk.plant(`${STATE}/guard/fired`, plan);
    disk.plant(`${STATE}/guard/note`, 'down              2 yes 2026-11-21T05:51:55Z\n');
    const fired = { guard: 'fired', trial: ORDER.trial, to: ORDER.to };
    const note = { cause: 'down', starts: 2, restarted: true, at: '2026-11-21T05:51:55Z' };
    assert.deepEqual(await guard.look(), { ...fired, ...note });
    for (const damaged of ['', 'x', 'down', `${'y'.repeat(5000)}\n`, '- - - -\n']) {
      disk.plant(`${STATE}/guard/note`, damaged);
      const cause = damaged === 'down' ? 'down' : 'unknown';
      assert.deepEqual(await guard.look(), { ...fired, cause, starts: 0, restarted: false, at: undefined });
    }
    await guard.arm(OTHER);
    assert.deepEqual(await guard.look(), armedFor(OTHER));
  });

  it('gives a sign of life every 15 seconds while it is armed, and writes nothing else', async () => {
    const { disk, guard, pass } = createNode();
    await guard.heartbeat();
    assert.equal(disk.changes(), 0);
    await guard.arm(ORDER);
    const before = disk.changes();
    for (let second = 0; second < 60; second += 1) {
      pass(1000);
      await guard.heartbeat();
    }
    assert.equal(disk.changes() - before, 4);
    assert.match(textIn(disk, `${STATE}/guard/alive`) ?? '', /^boot-1 1060 *\n$/);
  });

  it('counts the time in which the whole machine was suspended, as the guard does', async () => {
    const { disk, guard, pass } = createNode();
    await guard.arm(ORDER);
    await guard.heartbeat();
    // An hour for the machine; the clocks of its processes stood still.
    pass(3_600_000);
    await guard.heartbeat();
    assert.match(textIn(disk, `${STATE}/guard/alive`) ?? '', /^boot-1 4600 *\n$/);
  });

  it('gives it on a disk that is full as well, or a config that does well would be taken back for silence', async () => {
    const { disk, guard, pass } = createNode();
    await guard.arm(ORDER);
    disk.failAfter(0);
    pass(600_000);
    await guard.heartbeat();
    assert.match(textIn(disk, `${STATE}/guard/alive`) ?? '', /^boot-1 1600 *\n$/);
  });

  it('has what systemd runs put back with it, where somebody else took that away', async () => {
    const { disk, systemd, guard, pass } = createNode();
    await guard.arm(ORDER);
    disk.plant(DROP_IN, null);
    disk.plant(`${STATE}/guard/guard.sh`, 'of another release');
    assert.deepEqual(await guard.look(), REMNANTS);
    const asked = systemd.asked.length;
    for (let looks = 0; looks < 3; looks += 1) {
      pass(15_000);
      await guard.heartbeat();
    }
    assert.deepEqual(await guard.look(), armedFor(ORDER));
    assert.deepEqual(systemd.asked.slice(asked), ['daemon-reload']);
  });

  it('gives it where there is a shorter one, or somebody took it away', async () => {
    const { disk, guard, pass } = createNode();
    await guard.arm(ORDER);
    for (const there of ['boot-1 1000\n', null]) {
      disk.plant(`${STATE}/guard/alive`, there);
      pass(15_000);
      await guard.heartbeat();
    }
    assert.match(textIn(disk, `${STATE}/guard/alive`) ?? '', /^boot-1 1030 *\n$/);
  });

  it('is refused an order that cannot be written down, and says what to do', async () => {
    const { disk, guard, guardOn } = createNode();
    const before = disk.tree();
    const orders: readonly GuardOrder[] = [
      { ...ORDER, restore: [put('/var/lib/kubelet/a\nremove /etc/passwd', '')] },
      { ...ORDER, restore: [put('relative', 'x')] },
      { ...ORDER, restore: [put('/var/lib/../etc/x', 'x')] },
      { ...ORDER, restore: [put(CONFIG, 'x'), { path: CONFIG, bytes: null }] },
      { ...ORDER, trial: 'a\nend' },
      { ...ORDER, maxStarts: 1.5 },
    ];
    for (const order of orders) await assert.rejects(guard.arm(order), (error) => codeOf(error) === 'GUARD_ORDER');
    await assert.rejects(guardOn("/var/lib/kube's").arm(ORDER), (error) => codeOf(error) === 'GUARD_PATH');
    await assert.rejects(guardOn(STATE, '/etc/a b').arm(ORDER), /GUARD=off/);
    assert.deepEqual(disk.tree(), before);
  });

  it('takes its files away again where systemd does not see them', async () => {
    const { disk, guardOn, systemd } = createNode();
    const before = disk.tree();
    const elsewhere = createFakeSystemd(disk, '/usr/lib/elsewhere.conf');
    await assert.rejects(guardOn(STATE, UNIT_DIRECTORY, elsewhere).arm(ORDER), (error) => {
      assert.equal(codeOf(error), 'GUARD_NOT_LOADED');
      assert.match(reasonOf(error), /mount the host's directory at the same path.*GUARD=off/);
      return true;
    });
    assert.deepEqual(disk.tree(), before);
    systemd.hangUp();
    await assert.rejects(guardOn().arm(ORDER), (error) => codeOf(error) === 'GUARD_FILES');
    assert.deepEqual(await guardOn().look(), REMNANTS, 'it is not forgotten that something is left');
  });

  it('comes to the same end wherever an arming or a disarming was cut short', async (test) => {
    let points = 0;
    for (const step of ['arm', 'arm another', 'disarm'] as const) {
      for (let after = 0; ; after += 1) {
        const { disk, guard, guardOn } = createNode();
        const before = disk.tree();
        if (step !== 'arm') await guard.arm(ORDER);
        disk.failAfter(after);
        const run = step === 'disarm' ? guard.disarm() : guard.arm(step === 'arm' ? ORDER : OTHER);
        const isDone = await run.then(
          () => true,
          () => false,
        );
        disk.failAfter(null);
        const next = guardOn();
        const seen = await next.look();
        const acceptable = [DISARMED, REMNANTS, armedFor(ORDER), armedFor(OTHER)];
        assert.ok(
          acceptable.some((each) => JSON.stringify(each) === JSON.stringify(seen)),
          JSON.stringify(seen),
        );
        await next.arm(OTHER);
        assert.deepEqual(await next.look(), armedFor(OTHER));
        assert.equal(textIn(disk, stagedPathOf(FLAGS)), undefined);
        await next.disarm();
        assert.deepEqual(disk.tree(), before, `${step}, cut short after ${after}`);
        if (isDone) break;
        points += 1;
      }
    }
    assert.ok(points > 25);
    test.diagnostic(`${points} points`);
  });

  it('never takes files for its own that it cannot have made', async () => {
    const { disk, guard } = createNode();
    await guard.arm(ORDER);
    disk.plant(`${STATE}/guard/traces`, `file ${CONFIG}\nfile relative.kubelet-gitops-restore\ndirectory /etc\n`);
    await guard.disarm();
    assert.equal(textIn(disk, CONFIG), 'new');
    assert.ok(textIn(disk, join('/etc', 'kubernetes')) !== undefined);
  });
});
