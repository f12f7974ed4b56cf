export interface FileStat {
  readonly kind: 'file' | 'directory' | 'other';
  /** Permission bits, `0o600`. */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly size: number;
}

export interface FileOwner {
  readonly mode: number;
  readonly uid?: number;
  readonly gid?: number;
}

/**
 * The node's disk. Everything that the agent writes goes through these few calls, each of which leaves either the old
 * or the new content behind when the power fails, never a mixture.
 */
export interface Disk {
  /** @returns null where there is no such file */
  read(path: string): Promise<Buffer | null>;
  /** Does not follow symbolic links. @returns null where there is nothing */
  stat(path: string): Promise<FileStat | null>;
  /** Names in a directory, sorted; empty where there is no such directory. */
  list(path: string): Promise<readonly string[]>;
  /**
   * Temporary file beside it, write, fsync, rename, fsync of the directory. The directory must exist. Not to be called
   * twice at once for one path.
   */
  replace(path: string, bytes: Uint8Array, owner: FileOwner): Promise<void>;
  /**
   * Over the beginning of a file that is there, in its place: that needs no room, so that it is done on a full disk, too.
   * The exception to the rule above, for what means nothing after a power failure. Follows links.
   */
  writeOver(path: string, bytes: Uint8Array): Promise<void>;
  /** Makes the directory and its parents, durably; there already is fine. */
  makeDirectory(path: string, mode: number): Promise<void>;
  /** Removes a file or a whole directory, durably; gone already is fine. */
  remove(path: string): Promise<void>;
}
