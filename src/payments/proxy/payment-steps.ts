/**
 * Points on the way of a payment, in their order. Only late answers pass `judged`, and are booked once more after it; all
 * answers under an idempotency key pass `kept`. An answer in time is relayed while it is booked, and may be sent before that.
 */
export type PaymentStep =
  | 'reserved'
  | 'sending'
  | 'answered'
  | 'booked'
  | 'judged'
  | 'answering'
  | 'kept';

/** Called at each step; its promise is awaited. */
export type OnPaymentStep = (step: PaymentStep) => Promise<void> | undefined;
