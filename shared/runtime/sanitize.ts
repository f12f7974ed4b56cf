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
  // To the last @ before the path: passwords may hold one as well.
  return text.replace(/:\/\/[^\s/]*@/g, '://');
}
