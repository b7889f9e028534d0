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

/** The same upstream by requests: an address of sockets, such as Deepgram's in the catalogue, answers them, too. */
export const overHttp = (upstream: Upstream): Upstream => ({
  ...upstream,
  baseUrl: upstream.baseUrl.replace(/^ws/, 'http'),
});

/** The vendor whose own protocol a dialect is. Undefined: there is none that is spoken here. */
export const vendorApiOf = (dialect: Dialect): VendorApi | undefined => APIS[dialect];
