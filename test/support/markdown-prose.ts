/**
 * What of a comment is neither code (fenced, or between backticks) nor taken back by a backslash: all that can be markup, a link or a
 * mention. By CommonMark 0.31, 4.5 and 6.1, as far as our comments go: a code span ends on its line. A dot stands for what a
 * backslash took back.
 */
export function proseOf(markdown: string): string {
  const prose: string[] = [];
  let fence: string | undefined;
  for (const line of markdown.split('\n')) {
    const [, run] = /^(`{3,})/.exec(line) ?? [];
    if (fence !== undefined) {
      if (run !== undefined && run.length >= fence.length && line.trim() === run) fence = undefined;
    } else if (run !== undefined && /^`+\w*$/.test(line)) fence = run;
    else prose.push(withoutCode(line));
  }
  return prose.join('\n');
}

function withoutCode(line: string): string {
  let kept = '';
  for (let at = 0; at < line.length; at += 1) {
    const [run] = /^`+/.exec(line.slice(at)) ?? [];
    if (run !== undefined) {
      const end = closing(line, at + run.length, run.length);
      // Without its end it is text.
      kept += end === undefined ? run : ' ';
      at = (end ?? at + run.length) - 1;
    } else if (line[at] === '\\' && /[!-/:-@[-`{-~]/.test(line[at + 1] ?? '')) {
      at += 1;
      kept += '·';
    } else kept += line[at];
  }
  return kept;
}

/** Behind the next run of just so many backticks. */
function closing(line: string, from: number, length: number): number | undefined {
  for (const { 0: run, index } of line.slice(from).matchAll(/`+/g)) {
    if (run.length === length) return from + index + length;
  }
  return undefined;
}
