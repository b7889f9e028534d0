import type { Destination } from './requests.ts';

/**
 * Where the money for a model goes, as spend controls see it: to its maker, the first word of its catalogue id. Which
 * source serves it is decided after the money is set aside, and must not decide which caps it counts under.
 */
export const makerOf = (modelId: string): string => modelId.split('/', 1)[0] ?? modelId;

export const destinationOf = (modelId: string): Destination => ({
  host: makerOf(modelId),
  payee: null,
});
