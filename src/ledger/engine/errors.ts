import { mayRetryAfter, NO_RETRY, refusal } from '../../kernel/refusal.ts';

/** Refusals when the ledger cannot take an operation. */
export const ledgerErrors = {
  full: () =>
    refusal(
      503,
      'ledger_overloaded',
      'Too much waits for the ledger; nothing was done. Try again shortly.',
      {},
      mayRetryAfter(1),
    ),
  away: () =>
    refusal(
      503,
      'ledger_unavailable',
      'The database does not answer; what was asked may still be carried out. Read the balance before asking again.',
      {},
      { 'retry-after': '5', ...NO_RETRY },
    ),
};
