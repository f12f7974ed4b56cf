/** What is known of the person behind a commit. */
export type SignatureVerdict =
  /** Signatures are not asked for. */
  | { readonly verdict: 'not-required' }
  /** A trusted key signed it. */
  | { readonly verdict: 'trusted'; readonly signer: string; readonly key: string }
  | { readonly verdict: 'unsigned' }
  /** Signed, but not by a trusted key, or not as it should be. `because` completes "its signature …". */
  | { readonly verdict: 'untrusted'; readonly because: string };

export const untrusted = (because: string): SignatureVerdict => ({ verdict: 'untrusted', because });
