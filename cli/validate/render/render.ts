import type { Io } from '../../io.ts';
import { paintFor } from '../../paint.ts';
import { wrapFor } from '../../wrap.ts';
import { asGithub, asGitlab } from './forges.ts';
import { asJson } from './json.ts';
import { asJunit } from './junit.ts';
import { asSarif } from './sarif.ts';
import { asText } from './text.ts';
import type { Validation } from '../validation.ts';

export const VALIDATION_FORMATS = ['text', 'json', 'github', 'gitlab', 'sarif', 'junit'] as const;

export type ValidationFormat = (typeof VALIDATION_FORMATS)[number];

export function renderValidation(validation: Validation, format: ValidationFormat, io: Io): string {
  switch (format) {
    case 'text':
      return wrapFor(io.out)(asText(validation, paintFor(io.out, io.env)));
    case 'json':
      return asJson(validation);
    case 'github':
      return asGithub(validation);
    case 'gitlab':
      return asGitlab(validation);
    case 'sarif':
      return asSarif(validation);
    case 'junit':
      return asJunit(validation);
  }
}
