import type { Destination } from './requests.ts';

/**
 * Returns the maker of a model, the first word of its catalogue id. Spend controls see it as the host, because the source
 * is chosen after the hold and must not decide under which caps the money counts.
 */
export const makerOf = (modelId: string): string => modelId.split('/', 1)[0] ?? modelId;

export const destinationOf = (modelId: string): Destination => ({
  host: makerOf(modelId),
  payee: null,
});
