import type { Clock } from '#shared/runtime/clock.ts';
import type { Log } from '#shared/runtime/log.ts';
import { createRemote } from '../create-remote.ts';
import { createMergeVerifier } from '../merge-verification/merge-verifier.ts';
import { createFolderUnchanged } from '../merge-verification/folder-unchanged.ts';
import { createTagReader } from '../merge-verification/tag-reader.ts';
import { folderPath } from '../folder-path.ts';
import type { RemoteOptions } from '../remote.ts';
import { type CommitTrust, createCommitTrust, TRUST_ALL_COMMITS } from './commit-trust.ts';
import { trustedKeysIn } from './trusted-keys.ts';

/** What an operator says of signatures; docs/commit-trust.md. */
export interface TrustSettings {
  readonly signedCommits: 'on' | 'off';
  readonly trustedKeysDir: string | undefined;
  readonly mergeKeysDir?: string | undefined;
  readonly signatureOn?: 'commit' | 'tag' | 'either';
  readonly signedTags?: string;
  /** The folder of the repository that is the config repository; '' for its root. */
  readonly gitPath?: string;
}

/** The trust that these settings mean, in commits of this repository. */
export function connectTrust(settings: TrustSettings, repository: RemoteOptions, ports: TrustPorts): CommitTrust {
  const { signedCommits, trustedKeysDir, mergeKeysDir, signatureOn = 'commit', signedTags: prefix = '' } = settings;
  if (signedCommits === 'off' || trustedKeysDir === undefined) return TRUST_ALL_COMMITS;
  const remote = createRemote(repository);
  const folder = folderPath(settings.gitPath ?? '');
  const leavesFolder = folder === '' ? undefined : createFolderUnchanged(remote, folder);
  return createCommitTrust({
    ...ports,
    keys: trustedKeysIn(trustedKeysDir),
    ...(mergeKeysDir === undefined
      ? {}
      : {
          merges: {
            keys: trustedKeysIn(mergeKeysDir),
            wrongWith: createMergeVerifier(remote, folder),
          },
        }),
    ...(signatureOn === 'commit'
      ? {}
      : {
          tags: {
            of: createTagReader(remote, prefix, folder !== ''),
            prefix,
            instead: signatureOn === 'tag',
            leavesFolder,
          },
        }),
  });
}

interface TrustPorts {
  readonly clock: Clock;
  readonly log: Log;
}
