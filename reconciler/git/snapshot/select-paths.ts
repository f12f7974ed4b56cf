import { foldersOf } from '../../policy/in-folder.ts';
import { isConfigPath } from './config-paths.ts';

/** Which paths of a tree are looked at. */
export interface Selection {
  file(path: string): boolean;
  /** Entered; what is no directory there keeps files from being found. */
  folder(path: string): boolean;
}

/** The folders of configuration, with all that is in them. */
export const CONFIGURATION: Selection = { file: isConfigPath, folder: isConfigPath };

/** These files and what leads to them. */
export function onTheWayTo(files: ReadonlySet<string>): Selection {
  const folders = new Set([...files].flatMap(foldersOf));
  return { file: (path) => files.has(path), folder: (path) => folders.has(path) };
}
