/** A path of the folder that is followed, as people see it in the repository. @param folder empty for the root */
export const inFolder = (folder: string, path: string): string => (folder === '' ? path : `${folder}/${path}`);
