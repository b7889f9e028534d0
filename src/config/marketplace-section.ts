import { z } from 'zod';
import { optional } from './variable-kinds.ts';

/** The variables of the marketplace. The accounts with its vendors are read by the names that their vendors give them. */
export const MARKETPLACE_SECTION = {
  MARKETPLACE_URL: optional(z.url({ protocol: /^https?$/ })).meta({
    description:
      'The address under which agents name the vendors and the memory of this server in `POST /v1/proxy/fetch`. ' +
      'Such a call is answered in this process. See [marketplace.md](api-behaviour/marketplace.md).',
    takes: 'an http or https URL',
    unset: '`PUBLIC_URL`, else the port on this machine',
  }),
};
