import type { PaymentBudget } from './paid-calls.ts';

/** Payment of a call without an account of this server: by the buyer's own key at the provider, or out of a hold. */
export type PaymentMethod =
  | { readonly ownKey: string; readonly budget?: undefined }
  | { readonly budget: PaymentBudget; readonly ownKey?: undefined };
