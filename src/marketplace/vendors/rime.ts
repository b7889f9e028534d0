import { rimeApi } from '../../models/providers/vendors/rime.ts';
import { LIST } from '../prices/price-list.ts';
import { speakBy } from '../shared-api.ts';
import { keyed, type Vendor } from '../vendor.ts';

const { tts } = LIST.rime;

const MODELS = { mistv2: tts, arcana: tts, mistv3: tts, coda: tts };

export const rime: Vendor = {
  name: 'rime',
  title: 'Rime',
  account: keyed('RIME_API_KEY', 'https://users.rime.ai/v1', rimeApi.credential),
  services: { tts: speakBy(rimeApi.speech, MODELS) },
};
