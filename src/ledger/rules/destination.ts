import type { Destination } from './requests.ts';

/**
 * Returns the payee of a model for spend controls: its maker, the first word of its catalogue id. The source is chosen
 * after the hold, so it must not decide under which caps the money counts.
 */
export const makerOf = (modelId: string): string => modelId.split('/', 1)[0] ?? modelId;

export const destinationOf = (modelId: string): Destination => ({
  host: makerOf(modelId),
  payee: null,
});
