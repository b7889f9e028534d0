import { z } from 'zod';
import { flag, optional, text, unlessEmpty } from './variable-kinds.ts';

const HTTP = { protocol: /^https?$/ };

/** Environment variables of the provider that changes money into USDC and back, and of the welcome credit. */
export const RAMP_SECTION = {
  ONRAMP_KEY_ID: text().meta({
    description: 'The id of this server’s key at the provider of the on- and off-ramp.',
    unset: 'USDC is neither bought nor sold here',
  }),
  ONRAMP_KEY_SECRET: text().meta({
    description: 'The secret of the key. It signs each request to the provider.',
    takes: 'Ed25519 in base64, or P-256 in PEM',
    unset: 'USDC is neither bought nor sold here',
  }),
  ONRAMP_BASE_URL: unlessEmpty(z.url(HTTP).default('https://api.developer.coinbase.com')).meta({
    description: 'Where the API of the provider is.',
    takes: 'an http or https URL',
  }),
  ONRAMP_PAGE_URL: unlessEmpty(z.url(HTTP).default('https://pay.coinbase.com')).meta({
    description: 'Where the pages of the provider are, which users open.',
    takes: 'an http or https URL',
  }),
  ONRAMP_REDIRECT_URL: optional(z.url(HTTP)).meta({
    description: 'Where the provider sends a user after a sale.',
    takes: 'an http or https URL',
    unset: '`PUBLIC_URL`, else the provider’s own page',
  }),
  WELCOME_CREDIT_ENABLED: flag().meta({
    description:
      'The first agent of an account gets a credit of 3 dollars. It can be spent here, pays no vendor, and is never withdrawn.',
    takes: '`1` or `true`',
    unset: 'off',
  }),
};
