import type { PaymentBudget } from './paid-calls.ts';

/** How a call is paid that goes to no account of this server: to the buyer's own there, or out of a hold. */
export type PaymentMethod =
  | { readonly ownKey: string; readonly budget?: undefined }
  | { readonly budget: PaymentBudget; readonly ownKey?: undefined };
