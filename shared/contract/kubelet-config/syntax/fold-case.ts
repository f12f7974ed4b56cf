/** A name as Go's encoding/json compares them: without case, of two letters beyond ASCII too. */
export const foldCase = (name: string): string => name.toLowerCase().replaceAll('ſ', 's');
