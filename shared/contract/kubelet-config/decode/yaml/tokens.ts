/** A tag as it was written: `!!int` is the handle `!!` with `int`. The handle is empty where the name stands for itself. */
export interface WrittenTag {
  readonly handle: string;
  readonly suffix: string;
}

export type Directive =
  | { readonly type: 'version'; readonly isKnown: boolean; readonly version: string; readonly start: number }
  | { readonly type: 'tag'; readonly handle: string; readonly prefix: string; readonly start: number };

/** Tokens that say nothing but what they are. */
export type Punctuation =
  | 'stream-end'
  | 'document-start'
  | 'document-end'
  | 'block-sequence-start'
  | 'block-mapping-start'
  | 'block-end'
  | 'flow-sequence-start'
  | 'flow-sequence-end'
  | 'flow-mapping-start'
  | 'flow-mapping-end'
  | 'block-entry'
  | 'flow-entry'
  | 'key'
  | 'value';

export type Token = { readonly start: number } & (
  | { readonly type: Punctuation }
  | { readonly type: 'directive'; readonly directive: Directive }
  | { readonly type: 'alias' | 'anchor'; readonly name: string }
  | { readonly type: 'tag'; readonly tag: WrittenTag }
  | { readonly type: 'scalar'; readonly text: string; readonly isPlain: boolean }
);

/** The tokens of a text, one at a time: nothing is read before it is asked for, so that later mistakes stay unseen. */
export interface Tokens {
  peek(): Token;
  skip(): void;
  /** How far the text was looked at. */
  readAhead(): number;
}
