import { LEDGER_LIMITS } from './limits/ledger.ts';
import { OUTBOUND_LIMITS } from './limits/outbound.ts';
import { PAYMENT_LIMITS } from './limits/payments.ts';
import { REQUEST_LIMITS } from './limits/requests.ts';
import { WEBHOOK_LIMITS } from './limits/webhooks.ts';

/**
 * All numbers of the specification's Limits section, and all further defaults and bounds of this server; each subject has its
 * own file.
 */
export const LIMITS = {
  ...PAYMENT_LIMITS,
  ...REQUEST_LIMITS,
  ...LEDGER_LIMITS,
  ...OUTBOUND_LIMITS,
  webhooks: WEBHOOK_LIMITS,
} as const;
