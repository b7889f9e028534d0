/** The type that a code is told under, wherever it ends something: money that is used up is not an error of this server. */
export const errorType = <T extends string>(
  code: string,
  otherwise: T,
): T | 'insufficient_quota' => (code === 'budget_exhausted' ? 'insufficient_quota' : otherwise);
