import { GitopsError } from '#shared/runtime/errors.ts';

export type GitServerErrorCode =
  /** The bytes of a request are not the git protocol: the client gets status 400. */
  | 'GIT_REQUEST_MALFORMED'
  /** A request is larger than the sandbox takes: the client gets status 413. */
  | 'GIT_REQUEST_TOO_LARGE'
  /** A well-formed request for something that is not there or not offered: the client gets an `ERR` packet. */
  | 'GIT_REQUEST_REFUSED'
  /** A pushed pack cannot be read or lacks objects: the client gets `unpack <message>`. */
  | 'GIT_PACK_INVALID'
  /** A caller of `commit()`, `setRef()` and the like asked for something that no repository can hold. */
  | 'GIT_CHANGE_INVALID'
  /** The directory that was given holds no readable bare repository. */
  | 'GIT_REPOSITORY_UNREADABLE';

/** Everything that the sandbox's git server throws by intention. Messages may be sent to git clients as they are. */
export class GitServerError extends GitopsError<GitServerErrorCode> {}
