/** A line as one line, whatever is quoted in it: otherwise the author of a message could forge lines of ours. */
export const oneLine = (line: string): string => line.replaceAll(/[\r\n]+/g, ' ');

/** Lines as text. */
export const joinLines = (lines: readonly string[]): string => lines.map(oneLine).join('\n');
