/**
 * A URL that may be shown: user, password, query and fragment are gone. Text that is no URL loses everything that
 * looks like `//user:password@`.
 */
export function sanitizeUrl(text: string): string {
  try {
    const url = new URL(text);
    url.username = '';
    url.password = '';
    url.search = '';
    url.hash = '';
    return url.href;
  } catch {
    return sanitizeText(text);
  }
}

/** Takes credentials out of the URLs inside a sentence. */
export function sanitizeText(text: string): string {
  return text.replace(/(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/@]*@/gi, '$1');
}
