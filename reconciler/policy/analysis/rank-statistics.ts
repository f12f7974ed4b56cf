/** The middle of some numbers; of an even count, the mean of the two in the middle. NaN for none. */
export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const [below, above] = [sorted[Math.ceil(middle) - 1] ?? Number.NaN, sorted[Math.floor(middle)] ?? Number.NaN];
  // Two of the largest numbers have a sum that is not finite.
  return below / 2 + above / 2;
}

/**
 * How likely it is by chance alone that a number ranks so high among others: the share of all ranks that are as high or higher. Where
 * the change does nothing, each rank is as likely as any other, whatever the distribution is. Ties count against a finding.
 */
export function probabilityOfRank(value: number, others: readonly number[]): number {
  const asHigh = others.filter((other) => other >= value).length;
  return (asHigh + 1) / (others.length + 1);
}
