import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MachineAmount, wholeUnits, writeAmount } from '#reconciler/policy/templates/machine-amount.ts';
import { unitOfKey } from '#reconciler/policy/templates/bounds.ts';
import { compile } from '#reconciler/policy/templates/expression.ts';
import type { Machine } from '#reconciler/policy/templates/machine.ts';
import {
  type ExpressionTree,
  PROFILE_NAMES,
  type ProfileName,
  PROFILES,
} from '#reconciler/policy/templates/profiles.ts';
import { fc } from '../../../support/property.ts';

const GIBIBYTE = 2 ** 30;
const machine = (cpu: number, memory: number, maxPods = 110): Machine => ({ cpu, memory, maxPods, labels: {} });

/** What a profile reserves, by resource. */
function reserved(name: ProfileName, of: Machine): Readonly<Record<string, number>> {
  const [map] = Object.values(PROFILES[name].computed as ExpressionTree);
  return Object.fromEntries(
    Object.entries(map as Readonly<Record<string, string>>).map(([key, text]) => {
      const expression = compile(text);
      assert.ok(!('message' in expression), `${name} ${key}: ${JSON.stringify(expression)}`);
      const result = expression.of(of);
      assert.ok(
        'value' in result && result.value instanceof MachineAmount,
        `${name} ${key}: ${JSON.stringify(result)}`,
      );
      return [key, wholeUnits(result.value.size, unitOfKey(key))];
    }),
  );
}

const written = (name: ProfileName, of: Machine): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(reserved(name, of)).map(([key, size]) => [key, writeAmount(size, unitOfKey(key))]));

describe('the profiles', () => {
  const vectors = [
    // Published with CAREN#1650.
    ['gke', machine(1, GIBIBYTE / 2), { cpu: '60m', memory: '255Mi' }],
    ['gke', machine(2, 8 * GIBIBYTE), { cpu: '70m', memory: '1843Mi' }],
    ['gke', machine(8, 16 * GIBIBYTE), { cpu: '90m', memory: '2662Mi' }],
    // The bands by hand: 1024 + 819.2 + 819.2 + 6881.28 + 2 % of what is above 128 GiB.
    ['gke', machine(4, GIBIBYTE), { cpu: '80m', memory: '256Mi' }],
    ['gke', machine(96, 256 * GIBIBYTE), { cpu: '310m', memory: '12165Mi' }],
    // nodeadm: 11 MiB for each pod and 255; ranges of millicores in whole numbers.
    ['eks', machine(2, 8 * GIBIBYTE, 29), { cpu: '70m', memory: '574Mi', 'ephemeral-storage': '1024Mi' }],
    ['eks', machine(5, 8 * GIBIBYTE, 737), { cpu: '82m', memory: '8362Mi', 'ephemeral-storage': '1024Mi' }],
    // AKS's own examples: 8 GB with 30 pods, 4 GB with 70; and its table of CPUs.
    ['aks', machine(1, 8 * GIBIBYTE, 30), { cpu: '60m', memory: '650Mi' }],
    ['aks', machine(2, 4 * GIBIBYTE, 70), { cpu: '100m', memory: '1024Mi' }],
    ...(
      [
        [4, '140m'],
        [8, '180m'],
        [16, '260m'],
        [32, '420m'],
        [64, '740m'],
      ] as const
    ).map(([cpu, text]) => ['aks', machine(cpu, 64 * GIBIBYTE), { cpu: text, memory: '2250Mi' }] as const),
    // The second version of OpenShift's script over its own table, and what it never goes below.
    ['openshift', machine(16, 32 * GIBIBYTE), { cpu: '500m', memory: '3645Mi', 'ephemeral-storage': '1024Mi' }],
    ['openshift', machine(64, 128 * GIBIBYTE), { cpu: '820m', memory: '9543Mi', 'ephemeral-storage': '1024Mi' }],
    ['openshift', machine(128, 256 * GIBIBYTE), { cpu: '1580m', memory: '12165Mi', 'ephemeral-storage': '1024Mi' }],
    ['openshift', machine(512, 1024 * GIBIBYTE), { cpu: '6190m', memory: '27893Mi', 'ephemeral-storage': '1024Mi' }],
  ] as const;
  for (const [name, of, expected] of vectors) {
    it(`${name} gives ${JSON.stringify(expected)} with ${of.cpu} CPUs, ${(of.memory ?? 0) / GIBIBYTE} GiB, ${of.maxPods} pods`, () => {
      assert.deepEqual(written(name, of), expected);
    });
  }

  it('give the same for the same machine, and never less for a larger one', () => {
    const size = fc.integer({ min: 64, max: 4 * 1024 * 1024 }).map((mebibytes) => mebibytes * 2 ** 20);
    const machines = fc.tuple(
      fc.integer({ min: 1, max: 512 }),
      fc.integer({ min: 0, max: 64 }),
      size,
      size,
      fc.integer({ min: 1, max: 1000 }),
      fc.integer({ min: 0, max: 500 }),
    );
    fc.assert(
      fc.property(
        fc.constantFrom(...PROFILE_NAMES),
        machines,
        (name, [cpu, moreCpu, memory, moreMemory, pods, morePods]) => {
          const small = reserved(name, machine(cpu, memory, pods));
          assert.deepEqual(reserved(name, machine(cpu, memory, pods)), small);
          const large = reserved(name, machine(cpu + moreCpu, memory + moreMemory, pods + morePods));
          // Below 1 GiB the provider's own formula gives 255 MiB to every machine, and 256 MiB from there on.
          for (const [key, amount] of Object.entries(small)) assert.ok((large[key] ?? 0) >= amount, `${name} ${key}`);
        },
      ),
    );
  });

  it('say where they are from, and when that was read', () => {
    for (const { source, read } of Object.values(PROFILES)) {
      assert.match(source, /^https:/);
      assert.match(read, /^\d{4}-\d\d-\d\d$/);
    }
  });
});
