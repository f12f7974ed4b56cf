/** Forty lower-case hex digits: SHA-1 of the object's header and body. */
export type Oid = string;

export type ObjectType = 'commit' | 'tree' | 'blob' | 'tag';

export interface GitObject {
  readonly type: ObjectType;
  /** The content without git's header. */
  readonly body: Buffer;
}

/** Where the pure parts of the server find objects; undefined where there is none of that name. */
export type ObjectLookup = (oid: Oid) => GitObject | undefined;

/** How the protocol writes "no object": a ref that is to be created, or deleted. */
export const NO_OID: Oid = '0'.repeat(40);

export function isOid(text: string): boolean {
  return /^[0-9a-f]{40}$/.test(text);
}
