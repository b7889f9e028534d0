import { notConfigured, refusal } from '../refusal.ts';

export const providerKeys = {
  notFound: (provider: string) =>
    refusal(404, 'not_found', `No key is stored for the provider "${provider}".`),
  /** Refuses an unknown provider name. The text does not repeat the name, which may be the key in the wrong place. */
  unknownProvider: (supportedProviders: readonly string[]) =>
    refusal(
      400,
      'unknown_provider',
      `Keys can be stored for these providers: ${supportedProviders.join(', ')}.`,
      { supportedProviders },
    ),
  unavailable: () =>
    notConfigured(
      'provider_keys_unavailable',
      'This server cannot seal provider keys.',
      'PROVIDER_KEY_SECRET',
    ),
};
