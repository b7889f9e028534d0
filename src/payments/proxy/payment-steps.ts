/**
 * Points on the way of a payment, in their order. `judged` is passed by late answers only, which are booked once more
 * after it; `kept` by answers under a key, whatever they are an answer to. An answer in time is relayed while it is
 * booked, and may be out before that.
 */
export type PaymentStep =
  | 'reserved'
  | 'sending'
  | 'answered'
  | 'booked'
  | 'judged'
  | 'answering'
  | 'kept';

/** Hears of each step as it is passed; what it returns is waited for. */
export type OnPaymentStep = (step: PaymentStep) => Promise<void> | undefined;
