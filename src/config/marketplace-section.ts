import { z } from 'zod';

/** A variable that is set to nothing is not set. */
const url = () =>
  z.preprocess(
    (value) => (value === '' ? undefined : value),
    z.url({ protocol: /^https?$/ }).optional(),
  );

/** The variables of the marketplace. The accounts with its vendors are read by the names that their vendors give them. */
export const MARKETPLACE_SECTION = {
  MARKETPLACE_URL: url().meta({
    description:
      'The address under which agents name the vendors and the memory of this server in `POST /v1/proxy/fetch`. ' +
      'Such a call is answered in this process. See [marketplace.md](api-behaviour/marketplace.md).',
    takes: 'an http or https URL',
    unset: '`PUBLIC_URL`, else the port on this machine',
  }),
};
