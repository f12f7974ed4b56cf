import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { readUseOverDays } from '#cli/audit/read/use-over-days.ts';
import { describeOrSkip } from '../../../support/describe-or-skip.ts';
import { type RealPrometheus, startPrometheus } from '../../../support/prometheus.ts';
import { without } from '../../../support/required-tools.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

const EVERY_SECONDS = 240;
const MI = 2 ** 20;

/** What cAdvisor says of a node over days: pods use 1 GiB and half a core; the host what is given, and double for two samples in 50. */
function samples(
  node: string,
  days: number,
  memory: number,
  cores: number,
): Readonly<Record<'memory' | 'cpu', string>> {
  const count = Math.floor((days * 86_400) / EVERY_SECONDS);
  const begin = Math.floor(Date.now() / 1000) - count * EVERY_SECONDS;
  const at = Array.from({ length: count }, (_, index) => ({
    second: begin + index * EVERY_SECONDS,
    isBusy: index % 50 < 2,
  }));
  const lines = (name: string, id: string, value: (index: number) => number): string =>
    at.map(({ second }, index) => `${name}{id="${id}",node="${node}"} ${value(index)} ${second}\n`).join('');
  const used = (index: number): number => (at[index]?.isBusy === true ? 2 : 1) * memory;
  const [bytes, seconds] = ['container_memory_working_set_bytes', 'container_cpu_usage_seconds_total'];
  return {
    memory: lines(bytes, '/', (index) => 1024 * MI + used(index)) + lines(bytes, '/kubepods.slice', () => 1024 * MI),
    cpu:
      lines(seconds, '/', (index) => index * EVERY_SECONDS * (0.5 + cores)) +
      lines(seconds, '/kubepods.slice', (index) => index * EVERY_SECONDS * 0.5),
  };
}

describeOrSkip(
  'what a real Prometheus says of hosts over days',
  { skip: without('promtool', ['--version'], 'nothing proves that the host’s use over days is read') },
  () => {
    let prometheus: RealPrometheus;
    const data = temporaryDirectory();
    before(async () => {
      const nodes = [samples('week', 6, 300 * MI, 0.2), samples('young', 2, 300 * MI, 0.2)];
      const text = [
        '# TYPE container_memory_working_set_bytes gauge\n',
        ...nodes.map(({ memory }) => memory),
        '# TYPE container_cpu_usage_seconds counter\n',
        ...nodes.map(({ cpu }) => cpu),
        '# EOF\n',
      ].join('');
      const file = join(data, 'samples');
      writeFileSync(file, text);
      execFileSync('promtool', ['tsdb', 'create-blocks-from', '--max-block-duration=720h', 'openmetrics', file, data], {
        stdio: 'ignore',
      });
      prometheus = await startPrometheus({ 'config.yaml': '{}\n' }, '/', data);
    });
    after(() => prometheus.stop());

    it('is the 99th percentile of all outside of pods, of nodes with enough days', async () => {
      const use = await readUseOverDays(prometheus.url);
      assert.deepEqual([...use.keys()], ['week']);
      const { memory = 0, cpu = 0, days = 0 } = use.get('week') ?? {};
      // Two samples in 50 are among the highest hundredth, whichever of them the steps of the query meet.
      assert.equal(memory, 600 * MI);
      assert.ok(Math.abs(cpu - 0.2) < 0.001, String(cpu));
      assert.ok(days === 5 || days === 6, String(days));
    });

    it('is an error where it cannot be asked', async () => {
      await assert.rejects(readUseOverDays(`${prometheus.url}/elsewhere`), { code: 'PROMETHEUS_UNREADABLE' });
      await assert.rejects(readUseOverDays('prometheus'), /give its address/);
    });
  },
);
