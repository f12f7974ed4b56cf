/** The first names of a list, and how many more there are. */
export function firstNames(names: readonly string[], most = 6): string {
  const sorted = [...names].sort((one, other) => one.localeCompare(other, 'en', { numeric: true }));
  return sorted.length <= most
    ? sorted.join(', ')
    : `${sorted.slice(0, most).join(', ')} … and ${sorted.length - most} more`;
}

export const counted = (number: number, one: string, several = `${one}s`): string =>
  `${number} ${number === 1 ? one : several}`;
