import { NO_RETRY, refusal } from './refusal.ts';

/** Returns the 503 for a feature that the operator has not configured. `variables` is a phrase that names the settings. */
export const notConfigured = (error: string, what: string, variables: string) =>
  refusal(503, error, `${what} Its operator turns that on with ${variables}.`, {}, NO_RETRY);
