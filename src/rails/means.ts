import type { Purse } from './paid-calls.ts';

/** How a call is paid that goes to no account of this server: to the buyer's own there, or out of a purse. */
export type Means =
  | { readonly ownKey: string; readonly purse?: undefined }
  | { readonly purse: Purse; readonly ownKey?: undefined };
