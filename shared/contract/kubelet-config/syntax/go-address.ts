/** Whether a text is an IP address to `ParseIPSloppy` of k8s.io/utils/net: leading zeros are taken, zones are not. */
export function isGoAddress(text: string): boolean {
  if (!text.includes(':')) return isV4(text);
  const [head = '', tail, more] = text.split('::');
  const groups = [head, tail ?? ''].flatMap((side) => (side === '' ? [] : side.split(':')));
  const last = groups.at(-1) ?? '';
  const endsInV4 = isV4(last) && text.endsWith(last);
  const isHex = (endsInV4 ? groups.slice(0, -1) : groups).every((group) => /^0*[0-9a-f]{1,4}$/i.test(group));
  const count = groups.length + (endsInV4 ? 1 : 0);
  return more === undefined && isHex && (tail === undefined ? count === 8 : count < 8);
}

function isV4(text: string): boolean {
  const parts = text.split('.');
  return parts.length === 4 && parts.every((part) => /^\d+$/.test(part) && Number(part) <= 255);
}
