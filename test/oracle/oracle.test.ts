import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { it, type TestContext } from 'node:test';
import { FIRST_MINOR_WITH_DROP_INS } from '#shared/contract/kubelet-config/drop-ins.ts';
import { fieldOfFlag } from '#shared/contract/kubelet-config/fields/flags.ts';
import { REMOVED_FLAGS } from '#shared/contract/kubelet-config/fields/removed-flags.ts';
import { minorName, NEWEST_MINOR } from '#shared/contract/kubelet-config/minor.ts';
import { describeOrSkip } from '../support/describe-or-skip.ts';
import { without } from '../support/required-tools.ts';
import { askForMerged, askOracle, fieldsOfFlags, flagsOf, oracleOf, type OracleAnswer } from './ask-oracle.ts';
import { differences } from './compare.ts';
import { generate } from './corpus/generate.ts';
import { generateLayers } from './corpus/layers.ts';
import { layerDifferences } from './drop-ins.ts';
import { ownVerdict } from './own-verdict.ts';

const WHY = 'nothing proves that we judge configs as the newest kubelets do';
const WITHOUT_GO = without('go', ['version'], WHY);

/** Files with what real kubelets were seen to do with them; see test/shared/contract/kubelet-config/verdict.test.ts. */
const RECORDED = process.env['KUBELET_VERDICTS'];
/** The newest minor that the record has. */
const RECORDED_MINOR = 36;

/** Files for each minor: enough to meet each field with most of its edges, and other ones when the number is raised. */
const COUNT = 6000;
const SEED = 1;
/** Files with drop-ins. */
const LAYERED = 2000;

/** As many of the newest minors as `ORACLE_MINORS` says, or `all` that there is a module of; one without it, as the others no longer change. */
const ASKED = process.env['ORACLE_MINORS'] ?? '1';
const MINORS: readonly number[] =
  ASKED === 'all'
    ? globSync('test/support/go-programs/kubernetes-1.*').map((folder) => Number(folder.split('.').at(-1)))
    : Array.from({ length: Number(ASKED) }, (_, index) => NEWEST_MINOR - index);

describeOrSkip('the code of kubelets', { skip: WITHOUT_GO }, () => {
  for (const minor of MINORS) {
    it(`of ${minorName(minor)} makes of ${COUNT} files what we make of them`, async (t) => {
      const files = [...generate(COUNT, SEED)].map(({ name, text }) => ({ name, bytes: Buffer.from(text) }));
      const said = await asked(minor, files);
      const wrong = files.flatMap(({ name, bytes }, index) =>
        differences(ownVerdict(bytes, minor), said[index] ?? UNASKED, minor).map((phrase) => `${name}: ${phrase}`),
      );
      count(t, said);
      assert.deepEqual(wrong, [], `npm run oracle -- ${minorName(minor)} --only ${SEED}/NUMBER shows one of them`);
    });
  }

  for (const minor of MINORS.filter((each) => each >= FIRST_MINOR_WITH_DROP_INS)) {
    it(`of ${minorName(minor)} merges ${LAYERED} times drop-ins into a file as we do`, async (t) => {
      const pairs = [...generateLayers(LAYERED, SEED)];
      const said = await askForMerged(await oracleOf(minor), pairs);
      const found = pairs.map((pair, index) => layerDifferences(pair, said[index] ?? {}, minor));
      t.diagnostic(`compared: ${found.filter((each) => each !== undefined).length}`);
      const wrong = pairs.flatMap(({ name }, index) => found[index]?.map((phrase) => `${name}: ${phrase}`) ?? []);
      assert.deepEqual(wrong, []);
    });
  }

  for (const minor of MINORS) {
    it(`of ${minorName(minor)} sets with each flag the field that the table says`, async () => {
      const program = await oracleOf(minor);
      const [taken, set] = await Promise.all([flagsOf(program), fieldsOfFlags(program)]);
      const known = [...taken].flatMap((flag) => {
        const field = fieldOfFlag(flag);
        return field === undefined ? [] : [[flag, [field]] as const];
      });
      // It is bound to a field of the kubelet's flags, and copied from there.
      if (taken.has('seccomp-default')) set.set('seccomp-default', ['seccompDefault']);
      assert.deepEqual(new Map(known), set);
    });
  }

  for (const minor of MINORS.filter((each) => MINORS.includes(each - 1))) {
    it(`of ${minorName(minor)} went without the flags that the table says`, async () => {
      const [before, after] = await Promise.all([minor - 1, minor].map(async (each) => flagsOf(await oracleOf(each))));
      const removed = [...REMOVED_FLAGS].flatMap(([flag, since]) => (since === minor ? [flag] : []));
      assert.deepEqual(
        [...(before ?? new Set())].filter((flag) => after?.has(flag) !== true).toSorted(),
        removed.toSorted(),
      );
    });
  }

  for (const minor of MINORS.filter((each) => RECORDED !== undefined && each === RECORDED_MINOR)) {
    it(`of ${minorName(minor)} says of files what its kubelet was seen to do with them`, async () => {
      const files = recorded(minor);
      const said = await asked(minor, files);
      const wrong = files.flatMap(({ name, said: seen }, index) => {
        const told = wordOf(said[index] ?? UNASKED);
        // The record leaves out what makes a kubelet exit unless its flags or its machine see to it.
        return told === seen || told === `${seen}+late`
          ? []
          : [`${name}: ${told} by its code, and was seen to be ${seen}`];
      });
      assert.deepEqual(wrong, []);
    });
  }
});

const UNASKED: OracleAnswer = { verdict: 'none', faults: [], strict: '', start: [] };

const asked = async (
  minor: number,
  files: readonly { readonly bytes: Uint8Array }[],
): Promise<readonly OracleAnswer[]> =>
  await askOracle(
    await oracleOf(minor),
    files.map(({ bytes }) => bytes),
  );

function count(t: TestContext, said: readonly OracleAnswer[]): void {
  const counts = new Map<string, number>();
  for (const { verdict } of said) counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
  for (const [verdict, number] of counts) t.diagnostic(`${verdict}: ${number}`);
}

interface Recorded {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly said: string;
}

function recorded(minor: number): readonly Recorded[] {
  const lines =
    RECORDED === undefined || !existsSync(RECORDED) ? [] : readFileSync(RECORDED, 'utf8').trim().split('\n');
  return lines.flatMap((line) => {
    const { id, text, b64, kubelet } = JSON.parse(line) as Record<'id' | 'text' | 'b64', string> & {
      readonly kubelet: Readonly<Record<string, string>>;
    };
    const said = kubelet[minorName(minor)];
    if (said === undefined) return [];
    return [
      {
        name: id,
        bytes: b64 === undefined ? Buffer.from(text) : Buffer.from(b64, 'base64'),
        said: said.replace(/^(reject).*/, '$1'),
      },
    ];
  });
}

const wordOf = ({ verdict, start }: OracleAnswer): string =>
  verdict.startsWith('reject') ? 'reject' : `${verdict}${start.length > 0 ? '+late' : ''}`;
