import type { Dialect } from '../../catalogue/catalogue.ts';
import type { Upstream } from '../upstream-pool.ts';
import { assemblyaiApi } from './assemblyai.ts';
import { cartesiaApi } from './cartesia.ts';
import { deepgramApi } from './deepgram.ts';
import { elevenlabsApi } from './elevenlabs.ts';
import { rimeApi } from './rime.ts';
import type { VendorApi } from './vendor-api.ts';

const APIS: Readonly<Partial<Record<Dialect, VendorApi>>> = {
  cartesia: cartesiaApi,
  deepgram: deepgramApi,
  elevenlabs: elevenlabsApi,
  rime: rimeApi,
  'assemblyai-batch': assemblyaiApi,
};

/**
 * Returns the upstream with an http address. Addresses of sockets, such as Deepgram's in the catalogue, also answer requests.
 */
export const overHttp = (upstream: Upstream): Upstream => ({
  ...upstream,
  baseUrl: upstream.baseUrl.replace(/^ws/, 'http'),
});

/** Returns the vendor whose own protocol the dialect is. Undefined for dialects that several vendors speak. */
export const vendorApiOf = (dialect: Dialect): VendorApi | undefined => APIS[dialect];
