import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { minorName, minorNumber } from '#shared/contract/kubelet-config/minor.ts';
import { askOracle, oracleOf, type OracleAnswer } from '../test/oracle/ask-oracle.ts';
import { differences } from '../test/oracle/compare.ts';
import { generate } from '../test/oracle/corpus/generate.ts';
import { type OwnVerdict, ownVerdict } from '../test/oracle/own-verdict.ts';

/**
 * What the kubelet of a minor makes of files by its own code, beside what we make of them:
 *
 *     npm run oracle -- 1.37 FILES
 *     npm run oracle -- 1.37 --generate 5000 --seed 7     made-up files; only those on which we differ are printed
 *     npm run oracle -- 1.37 --generate 1 --only 7/1234   one of them
 *
 * Exit code 1 where there is a difference, 2 where nothing could be compared.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { generate: { type: 'string' }, seed: { type: 'string', default: '1' }, only: { type: 'string' } },
});
const [version = '', ...paths] = positionals;
const minor = minorNumber(version);
const isAll = values.generate === undefined && values.only === undefined;
if (minor === undefined || (isAll && paths.length === 0)) {
  console.error('usage: npm run oracle -- MINOR FILES...  or  npm run oracle -- MINOR --generate COUNT [--seed N]');
  process.exit(2);
}

const files = [...(isAll ? [] : madeUp()), ...paths.map((path) => ({ name: path, bytes: readFileSync(path) }))];
const program = await oracleOf(minor).catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exit(2);
});
const said = await askOracle(
  program,
  files.map(({ bytes }) => bytes),
);
let different = 0;
for (const [index, { name, bytes }] of files.entries()) {
  const theirs = said[index];
  if (theirs === undefined) continue;
  const ours = ownVerdict(bytes, minor);
  const found = differences(ours, theirs, minor);
  if (found.length > 0) different += 1;
  if (found.length > 0 || values.generate === undefined) print(name, bytes, ours, theirs, found);
}
console.log(`${files.length} files, ${different} on which we and the kubelet of ${minorName(minor)} differ`);
process.exitCode = different === 0 ? 0 : 1;

function madeUp(): readonly { readonly name: string; readonly bytes: Uint8Array }[] {
  const [seed, number] = (values.only ?? values.seed).split('/').map(Number);
  const count = values.only === undefined ? Number(values.generate) : (number ?? 0) + 1;
  return [...generate(count, seed ?? 1)]
    .filter(({ name }) => values.only === undefined || name === values.only)
    .map(({ name, text }) => ({ name, bytes: Buffer.from(text) }));
}

function print(
  name: string,
  bytes: Uint8Array,
  ours: OwnVerdict,
  theirs: OracleAnswer,
  found: readonly string[],
): void {
  console.log(`\n== ${name}`);
  if (!isAll) console.log(JSON.stringify(Buffer.from(bytes).toString()));
  console.log(
    `   kubelet: ${[theirs.verdict, ...theirs.faults, theirs.strict, ...theirs.start].filter((word) => word !== '').join('\n            ')}`,
  );
  console.log(`   here:    ${ours.word}`);
  for (const { code, severity, field = '', message } of ours.findings) {
    console.log(`            ${severity} ${code} ${field}: ${message}`);
  }
  for (const difference of found) console.log(`   DIFFERS: ${difference}`);
}
