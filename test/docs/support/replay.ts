import assert from 'node:assert/strict';

/** What a page's examples are run with. */
export interface Stage {
  /** Before each section: everything is as it was at the start. */
  reset(): Promise<void>;
  /** The lines of a `diff` block, its first line the file. @throws where they do not fit */
  patch(file: string, before: string, after: string): Promise<void>;
  /** A command line, without its prompt. */
  run(command: string): Promise<{ readonly code: number; readonly out: string; readonly err: string }>;
}

/** The page with the outputs that its `console` blocks have in fact, after the changes of the `diff` blocks above them. */
export async function replay(page: string, stage: Stage): Promise<string> {
  const parts = page.split(/^(```(?:console|diff)\n[\s\S]*?^```$|## .*$)/m);
  const made: string[] = [];
  for (const part of parts) {
    if (part.startsWith('## ')) await stage.reset();
    if (part.startsWith('```diff\n')) await applyDiff(part.split('\n').slice(1, -1), stage);
    made.push(part.startsWith('```console\n') ? await runBlock(part, stage) : part);
  }
  return made.join('');
}

async function applyDiff([head = '', ...lines]: readonly string[], stage: Stage): Promise<void> {
  const side = (sign: string): string =>
    lines
      .filter((line) => line.startsWith(sign) || line.startsWith(' '))
      .map((line) => `${line.slice(1)}\n`)
      .join('');
  await stage.patch(head.replace('--- ', ''), side('-'), side('+'));
}

async function runBlock(block: string, stage: Stage): Promise<string> {
  const commands = block.split('\n').filter((line) => line.startsWith('$ '));
  let code = 0;
  let text = '';
  for (const line of commands) {
    text += `${line}\n`;
    if (line === '$ echo $?') text += `${code}\n`;
    else {
      const ran = await stage.run(line.slice(2));
      code = ran.code;
      text += `${ran.out}${ran.err}`;
    }
  }
  return `\`\`\`console\n${text}\`\`\``;
}

/**
 * Says what differs, block by block: a page is too long for the message of an assertion.
 *
 * @throws AssertionError with the first command of each block that differs, the lines that the page has and nothing printed (`-`), and
 * those that were printed and the page lacks (`+`)
 */
export function assertSamePage(made: string, written: string): void {
  if (made === written) return;
  const [now, before] = [blocksOf(made), blocksOf(written)];
  const blocks = Array.from({ length: Math.max(now.length, before.length) }, (_, index) =>
    differenceOf(now[index] ?? [], before[index] ?? []),
  );
  assert.fail(`the page does not say what happens:\n${blocks.filter((text) => text !== '').join('\n')}`);
}

const blocksOf = (page: string): readonly (readonly string[])[] =>
  page.split(/^(?=```console$)/m).map((block) => block.split('\n'));

function differenceOf(made: readonly string[], written: readonly string[]): string {
  if (made.join('\n') === written.join('\n')) return '';
  const without = (lines: readonly string[], others: readonly string[]): readonly string[] =>
    lines.filter((line) => !others.includes(line));
  const lines = [
    ...without(written, made).map((line) => `- ${line}`),
    ...without(made, written).map((line) => `+ ${line}`),
  ];
  const command = written.find((line) => line.startsWith('$ ')) ?? '';
  return [command, ...(lines.length === 0 ? ['the same lines, in another order or number:', ...made] : lines)].join(
    '\n',
  );
}
