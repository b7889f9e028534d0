import { z } from 'zod';
import { optional } from './variable-kinds.ts';

/** Environment variables of the marketplace. The vendors' own files name the variables of the accounts. */
export const MARKETPLACE_SECTION = {
  MARKETPLACE_URL: optional(z.url({ protocol: /^https?$/ })).meta({
    description:
      'The address under which agents name the vendors and the memory of this server in `POST /v1/proxy/fetch`. ' +
      'Such a call is answered in this process. See [marketplace.md](api-behaviour/marketplace.md).',
    takes: 'an http or https URL',
    unset: '`PUBLIC_URL`, else the port on this machine',
  }),
  MARKETPLACE_PROBES: optional(z.enum(['on', 'off'])).meta({
    description:
      'Whether each vendor with an account is tried every 15 minutes with a real request, which the operator pays. Without ' +
      'them `GET /v1/playground/vendors` knows a vendor by its last sales alone.',
    takes: '`on` or `off`',
    unset: '`on`',
  }),
};
