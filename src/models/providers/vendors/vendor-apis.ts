import type { Dialect } from '../../catalogue/catalogue.ts';
import { assemblyaiApi } from './assemblyai.ts';
import { cartesiaApi } from './cartesia.ts';
import { elevenlabsApi } from './elevenlabs.ts';
import { rimeApi } from './rime.ts';
import type { VendorApi } from './vendor-api.ts';

const APIS: Readonly<Partial<Record<Dialect, VendorApi>>> = {
  cartesia: cartesiaApi,
  elevenlabs: elevenlabsApi,
  rime: rimeApi,
  'assemblyai-batch': assemblyaiApi,
};

/** The vendor whose own protocol a dialect is. Undefined: there is none that is spoken here. */
export const vendorApiOf = (dialect: Dialect): VendorApi | undefined => APIS[dialect];
