import { mayRetryAfter, notConfigured, refusal } from '../../kernel/refusal.ts';

/** Refusals of requests that a wallet signs. */
export const signatureErrors = {
  invalid: () =>
    refusal(
      401,
      'Invalid signature',
      'The signature was not made by the wallet in X-Wallet-Address.',
    ),
  timestampOutOfWindow: () =>
    refusal(401, 'Timestamp out of window', 'X-Timestamp must be within 5 minutes of server time.'),
  needsChain: () =>
    notConfigured(
      'signature_check_unavailable',
      'This server cannot check the signature of a contract wallet.',
      'RPC_URL',
    ),
  uncheckable: () =>
    refusal(
      503,
      'signature_check_unavailable',
      'The chain cannot be reached to check a contract wallet; try again.',
      {},
      mayRetryAfter(5),
    ),
};
