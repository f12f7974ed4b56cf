/** A path with what a person may overlook taken away: capitals, and how letters with accents are composed. */
export const caseFold = (path: string): string => path.normalize('NFC').toLowerCase();
