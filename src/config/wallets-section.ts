import { z } from 'zod';
import { optional, privateKey, text, unlessEmpty } from './variable-kinds.ts';

/** Environment variables of the provider that keeps the agents' wallets. */
export const WALLETS_SECTION = {
  MANAGED_WALLET_APP_ID: text().meta({
    description:
      'The wallet provider. `local` derives wallets from the authorization key and keeps them here, ' +
      'encrypted under the app secret. Any other id is an app at a provider.',
    unset: '`local` in development; else no agent can be made',
  }),
  MANAGED_WALLET_APP_SECRET: text().meta({
    description: 'The secret of the app.',
    unset: 'made in development; else no agent can be made',
  }),
  MANAGED_WALLET_AUTHORIZATION_PRIVATE_KEY: text().meta({
    description: 'Signs the requests to the provider.',
    takes: 'P-256, PKCS#8 in base64 or PEM',
    unset: 'made in development; else no agent can be made',
  }),
  MANAGED_WALLET_BASE_URL: optional(z.url({ protocol: /^https?$/ })).meta({
    description: 'Where the provider is.',
    takes: 'an http or https URL',
    unset: 'with an app id other than `local`, no agent can be made',
  }),
  MANAGED_WALLET_HEADER_PREFIX: unlessEmpty(
    z
      .string()
      .regex(/^[a-z][a-z0-9-]{0,31}$/, 'must be the beginning of header names, in lower case')
      .default('managed'),
  ).meta({
    description: "What the provider's own headers begin with, as in `managed-app-id`.",
    takes: 'lower case, at most 32 characters',
  }),
  FACILITATOR_PRIVATE_KEY: optional(privateKey).meta({
    description: 'The signer that pays gas. It holds nothing else.',
    takes: '`0x` and 64 hex digits',
    unset: 'made in development; else agents cannot be created',
  }),
};
