/** One request as it arrived, before anything in it is believed. Header names are in lower case. */
export interface Delivery {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Buffer;
}

/** The value of a header that was sent once; a header that came twice counts as absent, because it could mean either. */
export function headerOf({ headers }: Delivery, name: string): string | undefined {
  const value = Object.hasOwn(headers, name) ? headers[name] : undefined;
  return typeof value === 'string' ? value : undefined;
}
