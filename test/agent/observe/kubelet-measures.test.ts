import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Measures } from '#shared/contract/api/measures.ts';
import { createKubeletMeasures, type Measured, type MeasureReading } from '#agent/observe/kubelet-measures.ts';

const [OLD, NEW, MARK, NEXT] = ['a', 'b', 'c', 'd'].map((digit) => digit.repeat(64)) as [
  string,
  string,
  string,
  string,
];

/** A kubelet that counts by the second of its run, and an agent that looks at it every ten seconds. */
function machine() {
  const measure = createKubeletMeasures();
  let [seconds, startedAt, reads] = [0, 0, 0];
  let is: Omit<Measured, 'at'> = { mark: MARK, sha256: OLD, run: 'first' };
  let perSecond: Readonly<Record<string, number>> = {};
  let counters: Record<string, number> = {};
  let reading: Partial<MeasureReading> | null = {};
  let told: Measures | undefined;
  return {
    change(to: Partial<typeof is>): void {
      if (to.run !== undefined && to.run !== is.run) [startedAt, counters] = [seconds, {}];
      is = { ...is, ...to };
    },
    counts: (rates: typeof perSecond) => (perSecond = rates),
    reads: (as: typeof reading) => (reading = as),
    async runs(forSeconds: number): Promise<Measures | undefined> {
      for (const until = seconds + forSeconds; seconds < until; seconds += 10) {
        for (const [name, rate] of Object.entries(perSecond)) counters[name] = (counters[name] ?? 0) + rate * 10;
        told = await measure({ ...is, at: seconds * 1000 }, () => {
          reads += 1;
          return Promise.resolve(
            reading && { counters: { ...counters }, outOfMemory: 0, reserved: 0.1, minor: 34, ...reading },
          );
        });
      }
      return told;
    },
    readings: () => reads,
    age: () => seconds - startedAt,
  };
}

describe('measuring a kubelet', () => {
  it('reads nothing where nobody asks', async () => {
    const { change, runs, readings } = machine();
    change({ mark: undefined });
    assert.equal(await runs(3600), undefined);
    assert.equal(readings(), 0);
  });

  it('reads once a minute, and tells of the last ten', async () => {
    const { runs, readings, counts } = machine();
    counts({ kubelet_evictions: 0.01, process_cpu_seconds_total: 0.25 });
    const told = await runs(3600);
    assert.equal(readings(), 60);
    assert.deepEqual(told, {
      mark: MARK,
      now: {
        sha256: OLD,
        seconds: 600,
        values: { evictions: 6, oomKills: 0, runtimeErrors: 0, cpu: 0.25, reserved: 0.1 },
      },
    });
  });

  const took = (name: string, count: number, sum: number) => ({
    [`kubelet_${name}_duration_seconds_count`]: count,
    [`kubelet_${name}_duration_seconds_sum`]: sum,
  });

  for (const [minor, podStart] of [
    [undefined, 9],
    [25, 9],
    [26, 4],
    [37, 4],
  ] as const) {
    it(`tells means of what took time, of a kubelet 1.${minor ?? '?'}`, async () => {
      const { runs, counts, reads } = machine();
      reads({ minor });
      counts({ ...took('pod_start', 1, 9), ...took('pod_start_sli', 1, 4), ...took('pleg_relist', 2, 0.5) });
      assert.partialDeepStrictEqual((await runs(300))?.now?.values, { podStart, relist: 0.25 });
    });
  }

  it('tells no time with image pulls in it where the kubelet has one without', async () => {
    const { runs, counts } = machine();
    counts({ ...took('pod_start', 1, 60) });
    assert.equal((await runs(600))?.now?.values.podStart, undefined);
  });

  it('tells nothing of a sum that fell', async () => {
    const { runs, counts } = machine();
    counts({ ...took('pod_start_sli', 1, -9e9), process_cpu_seconds_total: -1, kubelet_evictions: 0.01 });
    assert.deepEqual(Object.keys((await runs(600))?.now?.values ?? {}).sort(), [
      'evictions',
      'oomKills',
      'reserved',
      'runtimeErrors',
    ]);
  });

  it('begins a window with a config, without the first minute of the kubelet that runs it', async () => {
    const { runs, change, counts } = machine();
    counts({ process_cpu_seconds_total: 0.1 });
    await runs(1200);
    change({ sha256: NEW, run: 'second' });
    counts({ process_cpu_seconds_total: 3 });
    await runs(60);
    counts({ process_cpu_seconds_total: 0.5 });
    const told = await runs(360);
    assert.deepEqual([told?.before?.sha256, told?.before?.seconds, told?.before?.values.cpu], [OLD, 600, 0.1]);
    assert.deepEqual([told?.now?.sha256, told?.now?.seconds, told?.now?.values.cpu], [NEW, 300, 0.5]);
  });

  it('keeps the window from before a mark and the config that follows it at once', async () => {
    const { runs, change, counts } = machine();
    counts({ process_cpu_seconds_total: 0.1 });
    await runs(1200);
    change({ mark: NEXT });
    await runs(10);
    change({ sha256: NEW });
    await runs(10);
    change({ run: 'second' });
    const told = await runs(600);
    assert.deepEqual([told?.mark, told?.before?.sha256, told?.before?.seconds], [NEXT, OLD, 600]);
    assert.equal(told?.now?.sha256, NEW);
  });

  it('forgets the window before a mark that came long before the config', async () => {
    const { runs, change, counts } = machine();
    counts({ process_cpu_seconds_total: 0.1 });
    await runs(1200);
    change({ mark: NEXT });
    counts({ process_cpu_seconds_total: 0.7 });
    await runs(3600);
    change({ run: 'second' });
    await runs(420);
    change({ sha256: NEW });
    const told = await runs(10);
    assert.deepEqual([told?.before?.sha256, told?.before?.seconds, told?.before?.values.cpu], [OLD, 300, 0.7]);
  });

  it('begins a window with a mark while the kubelet runs on', async () => {
    const { runs, change } = machine();
    await runs(1200);
    change({ mark: NEXT });
    const told = await runs(300);
    assert.deepEqual([told?.mark, told?.before?.seconds, told?.now?.seconds, told?.now?.sha256], [NEXT, 600, 300, OLD]);
  });

  it('compares nothing across a start of the kubelet', async () => {
    const { runs, change, counts } = machine();
    counts({ kubelet_evictions: 0.1 });
    await runs(1200);
    change({ run: 'second' });
    counts({});
    const told = await runs(360);
    assert.deepEqual([told?.before, told?.now?.seconds, told?.now?.values.evictions], [undefined, 240, 0]);
  });

  it('leaves out what cannot be seen', async () => {
    const { runs, reads } = machine();
    reads({ outOfMemory: null, reserved: null });
    assert.deepEqual((await runs(600))?.now?.values, { evictions: 0, runtimeErrors: 0, cpu: 0 });
    reads(null);
    assert.deepEqual(await runs(1200), { mark: MARK });
  });
});
