/** A path of the folder that is followed, as people see it in the repository. @param folder empty for the root */
export const inFolder = (folder: string, path: string): string => (folder === '' ? path : `${folder}/${path}`);

/** The folders that a path is in, the nearest first. */
export function foldersOf(path: string): readonly string[] {
  const folders: string[] = [];
  for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) folders.push(path.slice(0, at));
  return folders;
}
