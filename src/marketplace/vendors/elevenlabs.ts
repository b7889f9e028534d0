import { elevenlabsApi } from '../../models/providers/vendors/elevenlabs.ts';
import { LIST } from '../prices/price-list.ts';
import { hearBy, speakBy } from '../shared-api.ts';
import { keyed, type Vendor } from '../vendor.ts';

const { flash, full, stt } = LIST.elevenlabs;

const TTS_MODELS = {
  eleven_flash_v2_5: flash,
  eleven_flash_v2: flash,
  eleven_turbo_v2_5: flash,
  eleven_turbo_v2: flash,
  eleven_multilingual_v2: full,
  eleven_v3: full,
};

const STT_MODELS = { scribe_v1: stt, scribe_v2: stt };

export const elevenlabs: Vendor = {
  name: 'elevenlabs',
  title: 'ElevenLabs',
  account: keyed('ELEVENLABS_API_KEY', 'https://api.elevenlabs.io/v1', elevenlabsApi.credential),
  services: {
    tts: speakBy(elevenlabsApi.speech, TTS_MODELS),
    stt: hearBy(elevenlabsApi.hearing, STT_MODELS),
  },
};
