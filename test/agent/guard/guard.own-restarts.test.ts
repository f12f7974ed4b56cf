import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { alive, isRestored, isUntouched, noteOf, ORDERED, restarts, underEachShell } from './support/guard-runs.ts';
import type { GuardedHost } from './support/guarded-host.ts';

/** As each says that its kubelet ended: rancher/rke2 pkg/executor/staticpod, k0sproject/k0s pkg/supervisor. */
const ENDS = {
  rke2: 'time="2026-01-01T00:00:00Z" level=error msg="Kubelet exited: exit status 1"',
  k0s: 'time="2026-01-01 00:00:00" level=info msg="respawning in 5s" component=kubelet',
} as const;
const BEGINS = 'time="2026-01-01T00:00:00Z" level=info msg="Running kubelet --config-dir=/etc"';
/** Ordered start, ends that are forgiven: one more is too many. */
const MAX_STARTS = 3;

const journal = (host: GuardedHost, ...lines: readonly string[]): void =>
  writeFileSync(join(host.root, 'journal'), lines.map((line) => `${line}\n`).join(''));
const ends = (host: GuardedHost, count: number, line: string = ENDS.rke2): void =>
  journal(host, BEGINS, ...Array.from({ length: count }, () => line));

/** The unit runs, since a second ago, and its program looks after the kubelet. */
async function begin(host: GuardedHost, program = '/usr/local/bin/rke2 agent'): Promise<void> {
  host.arm({ maxStarts: MAX_STARTS });
  await host.start();
  host.setUnit('active');
  host.setProgram(program, `${BEGINS}\n`, 'running');
  alive(host, 1000);
}

underEachShell((it) => {
  for (const [program, line] of Object.entries(ENDS))
    it(`takes a trial back whose kubelet ${program} starts again and again, once the agent is silent`, async (host) => {
      await begin(host, `/usr/local/bin/${program} agent`);
      ends(host, 6, line);
      await host.tick(1044, 1044);
      isUntouched(host);
      ends(host, 7, line);
      await host.tick(1045);
      isUntouched(host, 'seen once is not enough');
      ends(host, 10, line);
      await host.tick(1060);
      isRestored(host);
      assert.deepEqual(host.calls().slice(-2), ORDERED);
      const { cause, starts } = noteOf(host);
      assert.deepEqual({ cause, starts }, { cause: 'starts', starts: 11 });
    });
  it('takes nothing back of a kubelet that ended as often as the trial forgives', async (host) => {
    await begin(host);
    for (let count = 0; count < MAX_STARTS; count += 1) {
      ends(host, count);
      await host.tick(1100 + count);
    }
    isUntouched(host);
  });
  it('takes nothing back of a kubelet that is up since, however often it ended, before the silence is too long', async (host) => {
    await begin(host);
    ends(host, 9);
    await host.tick(1100, 1115, 1130, 1500);
    isUntouched(host);
    await host.tick(1600);
    isRestored(host);
    assert.equal(noteOf(host).cause, 'silence');
  });
  it('takes a trial back whose kubelet ends seldom, at the first end after the one that was too many', async (host) => {
    await begin(host);
    ends(host, 3);
    await host.tick(1100, 1115, 1130);
    isUntouched(host);
    ends(host, 4);
    await host.tick(1145);
    isRestored(host);
  });
  it('takes nothing back while the agent lives: it judges by itself', async (host) => {
    await begin(host);
    for (let age = 1015; age < 1300; age += 15) {
      ends(host, age - 1000);
      alive(host, age - 20);
      await host.tick(age);
    }
    isUntouched(host);
  });
  it('takes nothing back after a pause of the machine in which the agent could not give a sign', async (host) => {
    await begin(host);
    ends(host, 8);
    await host.tick(1100);
    alive(host, 1110);
    ends(host, 10);
    await host.tick(1115, 1130);
    isUntouched(host);
  });
  for (const [what, lines] of Object.entries({
    'is slow to start': [BEGINS],
    'waits for its server': ['time="2026-01-01T00:00:00Z" level=error msg="failed to get CA certs"'],
    'says nothing': [],
    'quotes such words': [
      'E0101 00:00:00.000000       1 a.go:1] pod said time="" level=error msg="Kubelet exited: exit status 1"',
      'time="2026-01-01T00:00:00Z" level=info msg="Kubelet exited: of somebody else"',
      'time="2026-01-01 00:00:00" level=info msg="respawning in 5s" component=etcd',
      'time="2026-01-01 00:00:00" level=info msg="respawning in 5s" component=kubelet stream=stderr',
    ],
  }))
    it(`takes nothing back before the silence is too long where the unit ${what}`, async (host) => {
      await begin(host);
      for (let ticks = 1; ticks < 9; ticks += 1) {
        journal(host, ...Array.from({ length: ticks }, () => lines).flat());
        await host.tick(1100 + 15 * ticks);
      }
      isUntouched(host);
    });
  it('counts the starts of the unit, too', async (host) => {
    await begin(host);
    await host.start(2);
    alive(host, 1000);
    ends(host, 0);
    await host.tick(1100);
    ends(host, 1);
    await host.tick(1115);
    isUntouched(host);
    ends(host, 2);
    await host.tick(1130);
    isRestored(host);
    assert.equal(noteOf(host).starts, 5);
    assert.equal(restarts(host), 1);
  });
  it('does nothing where no run can be seen, or the journal does not answer', async (host) => {
    await begin(host);
    ends(host, 9);
    writeFileSync(join(host.root, 'run'), 'MainPID=0\nInvocationID=\nSubState=dead\n');
    await host.tick(1100, 1115);
    isUntouched(host);
  });
});
