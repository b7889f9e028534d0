import { MAX_RAW } from '../amount.ts';
import { NO_RETRY, refusal } from '../refusal.ts';

export const admin = {
  unauthorized: (how: 'missing' | 'wrong') =>
    refusal(401, 'Unauthorized', `The admin key is ${how}; send it as X-Admin-Key.`),
  invalidJson: () => refusal(400, 'Invalid JSON body', 'The body is not valid JSON.'),
  invalidAddress: () =>
    refusal(400, 'Invalid address', 'Name an agent by its number or its 0x wallet address.'),
  notFound: (what = 'There is no such agent.') => refusal(404, 'Not found', what),
  creditTooLarge: (amountRaw: string) =>
    refusal(
      400,
      'credit_too_large',
      `A credit of ${amountRaw} would bring all credits of this agent above ${MAX_RAW}. Credit less, or another agent.`,
    ),
  referenceConflict: () =>
    refusal(
      409,
      'reference_conflict',
      'This reference was used for another amount or agent.',
      {},
      NO_RETRY,
    ),
};
