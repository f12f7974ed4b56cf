const BEGIN = '-----BEGIN CERTIFICATE-----';
const END = '-----END CERTIFICATE-----';

/** The certificates of a PEM file, each with its frame; what stands between them is passed over. */
export function certificatesIn(pem: string): readonly string[] {
  return pem
    .split(BEGIN)
    .slice(1)
    .map((part) => [part, part.indexOf(END)] as const)
    .filter(([, end]) => end >= 0)
    .map(([part, end]) => `${BEGIN}${part.slice(0, end)}${END}`);
}
