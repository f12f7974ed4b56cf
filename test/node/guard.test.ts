import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { promisify } from 'node:util';
import type { Guard, GuardOrder } from '#agent/ports/guard.ts';
import { createHostGuard, readGuardScript } from '#agent/guard/host-guard.ts';
import { createGuardSystemd } from '#agent/guard/guard-systemd.ts';
import { readUptimeSeconds } from '#agent/host/boot.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { describeOrSkip } from '../support/describe-or-skip.ts';
import { until } from '../support/until.ts';
import { type BootedNode, bootNode } from './support/booted-node.ts';
import { diskWithin } from './support/disk-within.ts';
import { nodeSkipReason } from './support/tree.ts';

const skip = await nodeSkipReason();

const CONFIG = '/var/lib/kubelet/config.yaml';
const STARTS = '/var/lib/kubelet/starts';
const STATE = '/var/lib/kubelet-gitops';
const LOCAL = 'local\n';

/** Stands for the kubelet: writes down the config that it starts with, and dies of a bad one. */
const KUBELET = `#!/bin/sh
cat ${CONFIG} >>${STARTS}
grep -q bad ${CONFIG} && exit 1
exec sleep 100000
`;

/** As RKE2: its unit goes on when the kubelet ends, and it says so and starts it again, only sooner. */
const RKE2 = `#!/bin/sh
say() { echo "time=\\"2026-01-01T00:00:00Z\\" level=$1 msg=\\"$2\\"" >&2; }
say info "Running kubelet --config-dir=/etc/kubelet.conf.d"
while :; do
  /usr/local/bin/kubelet &
  wait $!
  say error "Kubelet exited: exit status $?"
  sleep 0.5
done
`;

const unit = (text: string, program = 'kubelet'): string =>
  `[Unit]\n${text}\nExecStart=/usr/local/bin/${program}\n[Install]\nWantedBy=multi-user.target\n`;

const UNITS = {
  /** As kubeadm has it, only faster. */
  'kubelet.service': unit('StartLimitIntervalSec=0\n[Service]\nRestart=always\nRestartSec=100ms'),
  'once.service': unit('[Service]\nRestart=no'),
  'rke2-agent.service': unit('[Service]\nRestart=always\nRestartSec=5s', 'rke2 agent'),
  'limited.service': unit('StartLimitIntervalSec=1000\nStartLimitBurst=2\n[Service]\nRestart=always\nRestartSec=100ms'),
} as const;
type Unit = keyof typeof UNITS;

describeOrSkip('the guard under a real systemd', { skip }, () => {
  let node: BootedNode;
  const guards = new Map<Unit, Guard>();

  const guardOf = (name: Unit): Guard => {
    const guard =
      guards.get(name) ??
      createHostGuard({
        disk: diskWithin(node.root),
        stateDirectory: STATE,
        unit: name,
        unitDirectory: `/etc/systemd/system/${name}.d`,
        systemd: createGuardSystemd({ socketPath: node.busSocket, clock: systemClock }),
        script: readGuardScript,
        bootId: async () => (await node.run('cat', '/proc/sys/kernel/random/boot_id')).trim(),
        uptimeSeconds: readUptimeSeconds,
        watchesBoots: true,
      });
    guards.set(name, guard);
    return guard;
  };
  const inside = (path: string): string => join(node.root, path);
  const config = (): string => readFileSync(inside(CONFIG), 'utf8');
  const starts = (): readonly string[] =>
    existsSync(inside(STARTS)) ? readFileSync(inside(STARTS), 'utf8').trim().split('\n') : [];
  const state = async (name: Unit): Promise<string> =>
    (await node.run('sh', '-c', `systemctl is-active ${name}; :`)).trim();
  const reaches = (name: Unit, wanted: string): Promise<true> =>
    until(`${name} to be ${wanted}`, async () => (await state(name)) === wanted, {
      everyMs: 50,
      evidence: () => node.logTail(20),
    }).then(() => true);
  const startsWith = (text: string): Promise<true> =>
    until(`the kubelet to start with ${text}`, async () => starts().at(-1) === text, {
      everyMs: 20,
      evidence: () => node.logTail(20),
    }).then(() => true);
  /** From here on only the test's own ticks count. A kubelet that starts has the timer made again. */
  const stopTimer = (): Promise<string> =>
    node.run('sh', '-c', 'systemctl stop kubelet-gitops-guard.timer kubelet-gitops-guard.service; :');
  /** As the timer runs it. */
  const tick = (): Promise<string> => node.run('/bin/sh', `${STATE}/guard/guard.sh`, 'tick');
  const leftovers = async (): Promise<readonly string[]> => [
    ...readdirSync(inside('/etc/systemd/system')).filter((name) => name.endsWith('.service.d')),
    ...readdirSync(inside(STATE)),
    ...readdirSync(inside('/var/lib/kubelet')).filter((name) => name.includes('restore')),
    ...(await node.systemctl('list-units', '--all', '--plain', '--no-legend', 'kubelet-gitops*'))
      .split('\n')
      .filter((line) => line !== ''),
  ];

  const orderOf = (name: Unit, text: string, maxStarts: number, silenceSeconds: number): GuardOrder => ({
    trial: `${name}@${text}`,
    to: 'local',
    maxStarts,
    silenceSeconds,
    restore: [{ path: CONFIG, bytes: Buffer.from(LOCAL), owner: { mode: 0o644 } }],
  });

  /** Puts a config on trial as the agent does. @returns runs the unit with it */
  const putOnTrial = async (
    name: Unit,
    text: string,
    maxStarts = 3,
    silenceSeconds = 600,
  ): Promise<() => Promise<void>> => {
    for (const other of Object.keys(UNITS)) if (other !== name) await node.systemctl('stop', other);
    rmSync(inside(STARTS), { force: true });
    writeFileSync(inside(CONFIG), LOCAL);
    await node.systemctl('restart', name);
    await startsWith('local');
    rmSync(inside(STARTS));
    await guardOf(name).arm(orderOf(name, text.trim(), maxStarts, silenceSeconds));
    writeFileSync(inside(CONFIG), text);
    return async () => {
      await node.run('sh', '-c', `systemctl reset-failed ${name}; systemctl --no-block restart ${name}`);
    };
  };
  /** The kubelet was started, and the agent last seen, so long ago. */
  const letPass = async (seconds: number): Promise<void> => {
    const boot = (await node.run('cat', '/proc/sys/kernel/random/boot_id')).trim();
    const then = Math.floor((await readUptimeSeconds()) - seconds);
    const [, count = '0'] = readFileSync(inside(`${STATE}/guard/starts`), 'utf8').split(/ +/);
    writeFileSync(inside(`${STATE}/guard/starts`), `${boot} ${count} ${then}\n`);
    writeFileSync(inside(`${STATE}/guard/alive`), `${boot} ${then}\n`);
  };
  /** systemd stops a timer a moment after it was told to, and forgets it then. */
  const nothingIsLeft = async (): Promise<void> => {
    let left: readonly string[] = [];
    const look = async (): Promise<boolean> => (left = await leftovers()).length === 0;
    await until('nothing to be left', look, { everyMs: 50, evidence: () => left.join('\n') });
  };
  const takenBack = async (name: Unit, cause: string): Promise<void> => {
    const seen = await guardOf(name).look();
    assert.ok(seen.guard === 'fired', seen.guard);
    assert.deepEqual([seen.cause, seen.restarted], [cause, true]);
    await guardOf(name).disarm();
    await nothingIsLeft();
    await reaches(name, 'active');
    assert.equal(starts().at(-1), 'local');
  };

  before(async () => {
    const units = Object.entries(UNITS).map(([name, text]) => [`/etc/systemd/system/${name}`, text] as const);
    node = await bootNode({
      files: {
        '/usr/local/bin/kubelet': { text: KUBELET, mode: 0o755 },
        '/usr/local/bin/rke2': { text: RKE2, mode: 0o755 },
        [CONFIG]: LOCAL,
        [`${STATE}/.keep`]: '',
        ...Object.fromEntries(units),
      },
      enable: ['kubelet.service'],
    });
    rmSync(inside(`${STATE}/.keep`));
  });
  after(() => node?.stop());

  it('a crash-looping config is gone after the starts that were allowed, and so is the guard', async (test) => {
    const run = await putOnTrial('kubelet.service', 'bad\n');
    const began = performance.now();
    await run();
    await startsWith('local');
    test.diagnostic(`healthy again after ${Math.round(performance.now() - began)} ms`);
    assert.deepEqual(starts(), ['bad', 'bad', 'bad', 'local']);
    // By its own timer, and without an agent: nobody else is there.
    await until('the guard to clean up', async () => (await leftovers()).join() === 'kubelet.service.d,guard', {
      everyMs: 500,
    });
    assert.deepEqual(readdirSync(inside('/etc/systemd/system/kubelet.service.d')), []);
    assert.deepEqual(readdirSync(inside(`${STATE}/guard`)).sort(), ['fired', 'note', 'traces']);
    assert.equal(starts().length, 4, 'cleaning up restarts nothing');
    await takenBack('kubelet.service', 'starts');
  });

  it('a good config stays, and the guard goes', async () => {
    const run = await putOnTrial('kubelet.service', 'good\n');
    await run();
    await startsWith('good');
    await reaches('kubelet.service', 'active');
    await node.systemctl('start', '--wait', 'kubelet-gitops-guard.service');
    await guardOf('kubelet.service').disarm();
    await nothingIsLeft();
    assert.equal(config(), 'good\n');
    assert.deepEqual(starts(), ['good']);
    assert.doesNotMatch(
      await node.systemctl('show', '--property=DropInPaths,NeedDaemonReload', 'kubelet.service'),
      /guard|=yes/,
    );
  });

  it('a config that nobody judges is taken back', async () => {
    const run = await putOnTrial('kubelet.service', 'silent\n');
    await run();
    await startsWith('silent');
    await stopTimer();
    // Far from 600: both sides count whole seconds, and the machine may stand still before the look.
    await letPass(300);
    await tick();
    await letPass(601);
    await tick();
    assert.equal(config(), 'silent\n', 'seen once is not enough');
    await tick();
    assert.equal(config(), LOCAL);
    await startsWith('local');
    await takenBack('kubelet.service', 'silence');
  });

  it('a config that kills the kubelet after a reboot, with no agent there, is taken back', async () => {
    const run = await putOnTrial('kubelet.service', 'bad\n', 2);
    await node.reboot();
    await startsWith('local');
    assert.deepEqual(starts(), ['bad', 'bad', 'local']);
    void run;
    await takenBack('kubelet.service', 'starts');
  });

  it('a reboot is no crash, and nobody who judges after it is silence', async () => {
    const run = await putOnTrial('kubelet.service', 'fine\n', 2);
    await run();
    await startsWith('fine');
    await node.reboot();
    await until('the kubelet to start', async () => starts().length === 2, { everyMs: 50 });
    await stopTimer();
    assert.equal(config(), 'fine\n');
    await reaches('kubelet.service', 'active');
    assert.equal((await guardOf('kubelet.service').look()).guard, 'armed');
    await letPass(601);
    await tick();
    await tick();
    await startsWith('local');
    await takenBack('kubelet.service', 'silence');
  });

  it('the kubelet starts with its old config after two boots in a row that ended before any agent was there', async () => {
    const run = await putOnTrial('kubelet.service', 'fine\n', 9);
    await run();
    await startsWith('fine');
    for (const boots of [2, 3]) {
      await node.reboot();
      await until('the kubelet to start', async () => starts().length === boots, { everyMs: 50 });
    }
    assert.deepEqual(starts(), ['fine', 'fine', 'local']);
    await takenBack('kubelet.service', 'boots');
  });

  for (const [name, why, count] of [
    ['once.service', 'that systemd does not restart', 1],
    ['limited.service', 'that was started too often for systemd', 2],
  ] as const) {
    it(`a unit ${why} gets its old config and runs, when nobody else helps`, async () => {
      const run = await putOnTrial(name, 'bad\n', 5);
      await run();
      await reaches(name, 'failed');
      assert.equal(starts().length, count);
      await stopTimer();
      await letPass(0);
      await tick();
      await tick();
      assert.equal(config(), 'bad\n', 'an agent that was just seen is given time');
      await letPass(90);
      await tick();
      await tick();
      await reaches(name, 'active');
      await takenBack(name, 'down');
    });
  }

  it('a config that kills the kubelet which its unit starts again by itself is taken back while nobody else helps', async () => {
    const run = await putOnTrial('rke2-agent.service', 'bad\n');
    await run();
    await until('the kubelet to die often', async () => starts().length > 4, { everyMs: 100 });
    await stopTimer();
    await letPass(0);
    await tick();
    await tick();
    assert.equal(config(), 'bad\n', 'an agent that was just seen judges by itself');
    await letPass(60);
    await tick();
    const died = starts().length;
    await until('it to die once more', async () => starts().length > died, { everyMs: 100 });
    await tick();
    await startsWith('local');
    await takenBack('rke2-agent.service', 'starts');
  });

  it('a kubelet that its unit started again often, and that is up since, keeps its config', async () => {
    const run = await putOnTrial('rke2-agent.service', 'bad\n');
    await run();
    await until('the kubelet to die often', async () => starts().length > 4, { everyMs: 100 });
    await stopTimer();
    writeFileSync(inside(CONFIG), 'fine after all\n');
    await startsWith('fine after all');
    await letPass(60);
    for (let ticks = 0; ticks < 3; ticks += 1) await tick();
    assert.equal((await guardOf('rke2-agent.service').look()).guard, 'armed');
    await guardOf('rke2-agent.service').disarm();
    await nothingIsLeft();
  });

  it('a promoted config under which no agent comes up after a boot is taken back, once the kubelet has other pods', async () => {
    const run = await putOnTrial('kubelet.service', 'promoted\n');
    await run();
    await startsWith('promoted');
    const guard = guardOf('kubelet.service');
    // All nodes here share one boot id: this was another boot.
    await guard.arm({ ...orderOf('kubelet.service', 'promoted', 999, 1), watch: 'the-boot-before' });
    const seen = await guard.look();
    assert.ok(seen.guard === 'disarmed' && seen.boots?.guard === 'armed', JSON.stringify(seen));
    await node.reboot();
    await until('the kubelet to start', async () => starts().length === 2, { everyMs: 50 });
    for (let ticks = 0; ticks < 3; ticks += 1) await tick();
    assert.equal(config(), 'promoted\n', 'without a pod of the API server nobody can tell');
    const volume = '/var/lib/kubelet/pods/1a2b/volumes/kubernetes.io~projected/kube-api-access-x7k2p';
    await node.run('sh', '-c', `mkdir -p ${volume} && mount -t tmpfs tmpfs ${volume}`);
    // By its own timer, and without an agent.
    await startsWith('local');
    assert.deepEqual(starts(), ['promoted', 'promoted', 'local']);
    await until(
      'the note of its restart',
      async () => readFileSync(inside(`${STATE}/guard/note`), 'utf8').includes(' yes '),
      {
        everyMs: 100,
      },
    );
    const after = await guard.look();
    assert.ok(after.guard === 'disarmed' && after.boots?.guard === 'fired', JSON.stringify(after));
    assert.deepEqual([after.boots.cause, after.boots.restarted], ['silence', true]);
    await guard.disarm();
    await nothingIsLeft();
    await reaches('kubelet.service', 'active');
    await node.run('sh', '-c', `umount ${volume}; rm -r /var/lib/kubelet/pods`);
  });

  it('is armed and disarmed by root without a single capability', async () => {
    const script = `
      const { createGuardSystemd } = await import('#agent/guard/guard-systemd.ts');
      const { systemClock } = await import('#shared/runtime/clock.ts');
      const systemd = createGuardSystemd({ socketPath: ${JSON.stringify(node.busSocket)}, clock: systemClock });
      await systemd.daemonReload();
      await systemd.stopUnit('kubelet-gitops-guard.timer');
      console.log(Array.isArray(await systemd.dropInsOf('kubelet.service')));`;
    const args = ['--bounding-set=-all', '--inh-caps=-all', process.execPath, '--input-type=module', '--eval', script];
    const { stdout } = await promisify(execFile)('setpriv', args);
    assert.equal(stdout.trim(), 'true');
  });
});
