/** Of a pod, as far as ours go. */
export interface Affinity {
  readonly nodeAffinity: {
    readonly requiredDuringSchedulingIgnoredDuringExecution: {
      readonly nodeSelectorTerms: readonly { readonly matchExpressions: readonly Expression[] }[];
    };
  };
}
interface Expression {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

/** As the scheduler has it: one of the terms, and all of its expressions. @throws for operators that we do not use */
export function takes({ nodeAffinity }: Affinity, labels: Readonly<Record<string, string>>): boolean {
  const { nodeSelectorTerms } = nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution;
  return nodeSelectorTerms.some(({ matchExpressions }) =>
    matchExpressions.every(({ key, operator, values = [] }) => {
      const value = labels[key];
      if (operator === 'Exists') return value !== undefined;
      if (operator === 'DoesNotExist') return value === undefined;
      if (operator === 'In') return value !== undefined && values.includes(value);
      if (operator === 'NotIn') return value === undefined || !values.includes(value);
      throw new Error(`what is ${operator}?`);
    }),
  );
}
