export const CANONICAL_FORM = 1;
