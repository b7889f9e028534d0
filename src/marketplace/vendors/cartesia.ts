import { cartesiaApi } from '../../models/providers/vendors/cartesia.ts';
import { LIST } from '../prices/price-list.ts';
import { hearBy, speakBy } from '../shared-api.ts';
import { keyed, type Vendor } from '../vendor.ts';

const { stt, tts } = LIST.cartesia;

const TTS_MODELS = { 'sonic-3': tts, 'sonic-2': tts, 'sonic-turbo': tts };

export const cartesia: Vendor = {
  name: 'cartesia',
  title: 'Cartesia',
  account: keyed('CARTESIA_API_KEY', 'https://api.cartesia.ai', cartesiaApi.credential),
  services: {
    tts: speakBy(cartesiaApi.speech, TTS_MODELS),
    stt: hearBy(cartesiaApi.hearing, { 'ink-whisper': stt }, 'duration'),
  },
};
