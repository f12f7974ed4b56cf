/** A value in a message: JSON, cut short. */
export function abbreviateJson(value: unknown): string {
  const text = typeof value === 'bigint' ? String(value) : (JSON.stringify(value, bigintAsNumber) ?? String(value));
  return text.length <= 60 ? text : `${text.slice(0, 57)}…`;
}

const bigintAsNumber = (_key: string, value: unknown): unknown => (typeof value === 'bigint' ? Number(value) : value);
