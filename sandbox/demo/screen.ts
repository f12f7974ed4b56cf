import type { Paint } from '#cli/paint.ts';
import { columnsOf, wrapFor } from '#cli/wrap.ts';

/** Where the demo writes: what is said stays, and on a terminal a live block below it is drawn over and over. */
export interface Screen {
  readonly paint: Paint;
  /** What a line has room for; undefined on anything but a terminal. */
  columns(): number | undefined;
  /** Lines that stay. */
  say(...lines: readonly string[]): void;
  /** Replaces the live block. On anything but a terminal this does nothing. */
  live(lines: readonly string[]): void;
  /** Leaves the live block standing as it is. */
  settle(): void;
}

export interface Output {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

export function createScreen(output: Output, paint: Paint): Screen {
  let drawn = 0;
  const clear = (): string => (drawn === 0 ? '' : `\u001b[${drawn}A\u001b[J`);
  return {
    paint,
    columns: () => columnsOf(output),
    say(...lines) {
      if (lines.length === 0) return;
      output.write(`${clear()}${wrapFor(output)(lines.join('\n'))}\n`);
      drawn = 0;
    },
    live(lines) {
      if (output.isTTY !== true) return;
      const fitting = lines.map((line) => cut(line, output.columns ?? 100));
      output.write(`${clear()}${fitting.join('\n')}\n`);
      drawn = fitting.length;
    },
    settle() {
      drawn = 0;
    },
  };
}

/** A line that would wrap would make the block taller than we think. Colour codes take no room. */
function cut(line: string, columns: number): string {
  let width = 0;
  let shown = '';
  // oxlint-disable-next-line no-control-regex -- the escape character is what colour codes begin with
  for (const [token] of line.matchAll(/\u001b\[[0-9;]*m|./gsu)) {
    const isCode = token.length > 1 && token.startsWith('\u001b');
    if (!isCode && width >= columns - 1) continue;
    shown += token;
    if (!isCode) width += 1;
  }
  return shown;
}
