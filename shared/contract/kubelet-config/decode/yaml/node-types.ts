/** A value as a YAML text has it, before anybody says what its scalars mean. */
export type YamlNode = YamlScalar | YamlSequence | YamlMapping | YamlAlias;

interface Written {
  /** Of the value, its tag or its anchor: whatever comes first. */
  readonly start: number;
}

export interface YamlScalar extends Written {
  readonly kind: 'scalar';
  readonly text: string;
  /** Written out in full (`tag:yaml.org,2002:int`), or `!`; empty where there is none. */
  readonly tag: string;
  /** Whether what it looks like counts: neither quoted nor tagged. */
  readonly isPlain: boolean;
}

interface YamlSequence extends Written {
  readonly kind: 'sequence';
  readonly tag: string;
  readonly items: readonly YamlNode[];
}

export interface YamlMapping extends Written {
  readonly kind: 'mapping';
  readonly tag: string;
  readonly pairs: readonly (readonly [key: YamlNode, value: YamlNode])[];
}

interface YamlAlias extends Written {
  readonly kind: 'alias';
  readonly name: string;
  readonly target: YamlNode;
}
