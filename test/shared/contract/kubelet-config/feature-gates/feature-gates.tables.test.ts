import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { gateDependencies, gateNames, gateSpec } from '#shared/contract/kubelet-config/feature-gates/feature-gates.ts';
import { parseHistory } from '#shared/contract/kubelet-config/feature-gates/gate-history.ts';
import { NEWEST_MINOR, OLDEST_MINOR } from '#shared/contract/kubelet-config/minor.ts';
import { gateTables, goneNeeds, type KubeletGate } from '../../../../../scripts/upstream/gate-tables.ts';

const STAGES = { alpha: 'ALPHA', beta: 'BETA', ga: '', deprecated: 'DEPRECATED' } as const;
const NEXT = NEWEST_MINOR + 1;

/** What the tables say of a minor, as its kubelet would say it. */
function kubeletOf(minor: number): Readonly<Record<string, KubeletGate>> {
  const gates = gateNames().flatMap((name) => {
    const spec = gateSpec(name, minor);
    return spec === undefined
      ? []
      : [[name, { ...spec, stage: STAGES[spec.stage], needs: gateDependencies(name, minor) }] as const];
  });
  return Object.fromEntries(gates);
}

/** The line of a gate, once the next kubelet says this of it, beside all that the newest one says. */
const lineAfter = (name: string, gate: KubeletGate | undefined): string | undefined => {
  const { [name]: _, ...others } = kubeletOf(NEWEST_MINOR);
  const text = gateTables(NEXT, gate === undefined ? others : { ...others, [name]: gate });
  return new RegExp(`^  ${name}: '(.*)',$`, 'm').exec(text)?.[1];
};

describe('the tables of feature gates', () => {
  for (let minor = OLDEST_MINOR + 1; minor <= NEXT; minor += 1) {
    it(`stay as they are where the kubelet of 1.${minor} says what they say`, () => {
      const written = readFileSync('shared/contract/kubelet-config/feature-gates/gates.generated.ts', 'utf8');
      assert.equal(gateTables(minor, kubeletOf(minor)), written);
      assert.deepEqual(goneNeeds(minor, kubeletOf(minor)), []);
    });
  }

  for (const [stage, byDefault, locked, words] of [
    ['ALPHA', false, false, 'alpha'],
    ['ALPHA', true, false, 'alpha on'],
    ['BETA', true, false, 'beta'],
    ['BETA', false, true, 'beta off locked'],
    ['', true, true, 'ga locked'],
    ['DEPRECATED', false, false, 'deprecated'],
    ['DEPRECATED', true, true, 'deprecated on locked'],
  ] as const) {
    it(`say of a new gate that it is ${words}, and read it again`, () => {
      const line = lineAfter('NewGate', { stage, default: byDefault, locked });
      assert.equal(line, `${NEXT} ${words}`);
      const spec = { stage: words.split(' ')[0], default: byDefault, locked };
      assert.deepEqual(parseHistory(line), [{ from: NEXT, spec }]);
    });
  }

  it('add to the life of a gate what is news, and where it went', () => {
    assert.equal(lineAfter('AllAlpha', { stage: 'BETA', default: false, locked: false }), `20 alpha, ${NEXT} beta off`);
    assert.equal(lineAfter('AllAlpha', undefined), `20 alpha, ${NEXT} gone`);
    assert.equal(lineAfter('AppArmor', undefined), '20 beta, 31 ga locked, 33 gone');
  });

  it('say what a gate needs from then on, and cannot say that it needs no longer what it did', () => {
    const kubelet = kubeletOf(NEWEST_MINOR);
    const gate = kubelet['DRADeviceTaintRules'] ?? assert.fail();
    const more = { ...kubelet, DRADeviceTaintRules: { ...gate, needs: [...(gate.needs ?? []), 'AllAlpha'] } };
    assert.match(
      gateTables(NEXT, more),
      new RegExp(`^  DRADeviceTaintRules: \\['DRADeviceTaints', '${NEXT} AllAlpha'\\],$`, 'm'),
    );
    const less = { ...kubelet, DRADeviceTaintRules: { ...gate, needs: [] } };
    assert.deepEqual(goneNeeds(NEXT, less), ['DRADeviceTaintRules needs DRADeviceTaints']);
  });

  it('take no stage that they cannot say', () => {
    assert.throws(() => gateTables(NEXT, { NewGate: { stage: 'GAMMA', default: true, locked: false } }), /GAMMA/);
  });
});
