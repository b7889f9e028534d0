import type { Vendor } from '../vendor.ts';
import { assemblyai } from './assemblyai.ts';
import { azure } from './azure.ts';
import { cartesia } from './cartesia.ts';
import { deepgram } from './deepgram.ts';
import { elevenlabs } from './elevenlabs.ts';
import { google } from './google.ts';
import { inworld } from './inworld.ts';
import { minimax } from './minimax.ts';
import { polly } from './polly.ts';
import { rime } from './rime.ts';
import { sarvam } from './sarvam.ts';
import { speechmatics } from './speechmatics.ts';
import { xai } from './xai.ts';

/** Vendors on the network, at which this server can have accounts. */
export const REMOTE_VENDORS: readonly Vendor[] = [
  deepgram,
  elevenlabs,
  cartesia,
  google,
  azure,
  assemblyai,
  rime,
  xai,
  inworld,
  minimax,
  polly,
  speechmatics,
  sarvam,
];
