/** Whether a name matches a pattern in which `*` is any text and `?` one character. Takes name × pattern steps at most. Pure. */
export function matchesWildcard(name: string, pattern: string): boolean {
  let [at, inPattern, star, resume] = [0, 0, -1, 0];
  while (at < name.length) {
    const wanted = pattern[inPattern];
    if (wanted === '*') {
      star = inPattern;
      resume = at;
      inPattern += 1;
    } else if (wanted === '?' || wanted === name[at]) {
      at += 1;
      inPattern += 1;
    } else if (star >= 0) {
      resume += 1;
      at = resume;
      inPattern = star + 1;
    } else return false;
  }
  while (pattern[inPattern] === '*') inPattern += 1;
  return inPattern === pattern.length;
}
