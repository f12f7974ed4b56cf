/** How a text is written: the pattern by which an editor marks a wrong one, and its message. Each lets through all that kubelets read. */
export interface Format {
  readonly pattern: string;
  /** Not a keyword of JSON schema: the YAML language server shows it in the place of the pattern. */
  readonly patternErrorMessage: string;
}

/** Go's `time.ParseDuration`. */
export const DURATION: Format = {
  pattern: '^[-+]?(?:0|(?:(?:[0-9]+\\.?[0-9]*|\\.[0-9]+)(?:ns|us|µs|μs|ms|s|m|h))+)$',
  patternErrorMessage: 'Not a duration: write hours, minutes and seconds, such as 90s, 10m or 1h30m; there are no days',
};

/** Kubernetes takes quantities without digits as well: `k` is 0. */
const AMOUNT = '[-+]?[0-9]*(?:\\.[0-9]*)?(?:[eE][-+]?[0-9]+|[numkMGTPE]|[KMGTPE]i)?';
const AMOUNTS = 'write an amount such as 500m, 100Mi or 1.5Gi; the units are k, M, G and Ki, Mi, Gi, without B';

export const QUANTITY: Format = {
  pattern: `^(?=.)${AMOUNT}$`,
  patternErrorMessage: `Not a quantity: ${AMOUNTS}`,
};

/** Fields that are quantities by type, not only by use, may have spaces around them. */
export const PADDED_QUANTITY: Format = {
  pattern: `^[^\\S\\t-\\r\\uFEFF]*(?=\\S)${AMOUNT}[^\\S\\t-\\r\\uFEFF]*$`,
  patternErrorMessage: QUANTITY.patternErrorMessage,
};

/** A quantity, or a percentage as Go reads a float: signs, exponents, hexadecimals and infinities included. */
export const THRESHOLD: Format = {
  pattern: `^(?=.)(?:${AMOUNT}|[-+]?(?:[0-9.][0-9a-fA-FxXpP_.+-]*|[iI][nN][fF](?:[iI][nN][iI][tT][yY])?|[nN][aA][nN])%+)$`,
  patternErrorMessage: `Not a threshold: write a percentage such as 10%, or ${AMOUNTS.slice('write '.length)}`,
};

export const PERCENTAGE: Format = {
  pattern: '^[-+]?[0-9]+%+$',
  patternErrorMessage: 'Not a percentage: write a whole number from 0% to 100%',
};

const CPU_RANGE = '\\+?[0-9]+(?:-\\+?[0-9]+)?';
const NOT_CPUS = 'Not a list of CPUs: write numbers and ranges with commas, such as 0-3,7';

export const CPU_LIST: Format = {
  pattern: `^(?:${CPU_RANGE}(?:,${CPU_RANGE})*)?$`,
  patternErrorMessage: NOT_CPUS,
};

/** Kubelets up to 1.21 leave out what has two dashes. */
const CARELESS = `(?:${CPU_RANGE}|[^,]*-[^,]*-[^,]*)`;
export const CPU_LIST_BEFORE_22: Format = {
  pattern: `^(?:${CARELESS}(?:,${CARELESS})*)?$`,
  patternErrorMessage: NOT_CPUS,
};

export const TIME: Format = {
  pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]+)?(?:Z|[-+][0-9]{2}:[0-9]{2})$',
  patternErrorMessage: 'Not a time: write it as 2030-01-31T12:00:00Z',
};
