/** Returns the error type that clients receive for a code. A used-up budget is not an error of this server. */
export const errorType = <T extends string>(
  code: string,
  otherwise: T,
): T | 'insufficient_quota' => (code === 'budget_exhausted' ? 'insufficient_quota' : otherwise);
