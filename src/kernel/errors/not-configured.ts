import { NO_RETRY, refusal } from './refusal.ts';

/** A 503 for what the operator has not configured. `variables` is a phrase that names what to set. */
export const notConfigured = (error: string, what: string, variables: string) =>
  refusal(503, error, `${what} Its operator turns that on with ${variables}.`, {}, NO_RETRY);
