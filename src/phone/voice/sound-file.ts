import { frameBytes, monoBlocks, parseWavSound } from '../../../media/wav-sound.ts';
import type { GuardedClient } from '../../platform/egress/guarded-client.ts';
import { readBounded } from '../../platform/egress/read-body.ts';
import { PHONE_LIMITS } from '../limits.ts';
import type { CallSound } from './line/line-sounds.ts';

/** Samples that are decoded at a time: 100 ms at 48 kHz. */
const BLOCK_FRAMES = 4_800;
/** Sample rates that the resampler takes. */
const RATE_HZ = { min: 8_000, max: 48_000 };

/** Thrown when a sound file cannot be played. */
class SoundUnfit extends Error {
  override readonly name = 'SoundUnfit';
}

/**
 * Fetches a WAV file from an address that a caller chose, if the client's guard allows the address. Follows no redirects.
 * Rejects with SoundUnfit when the file is no WAV sound, and with the failures of the client; takes at most
 * `PHONE_LIMITS.sound.bytes` within `PHONE_LIMITS.sound.fetchMs`.
 */
export async function fetchSound(
  client: GuardedClient,
  url: string,
  signal: AbortSignal,
): Promise<CallSound> {
  const { bytes: soundBytes, fetchMs: ms } = PHONE_LIMITS.sound;
  const { headerBytes: webhookHeaderBytes } = PHONE_LIMITS.webhook;
  const answer = await client.send(await client.open(url), {
    method: 'GET',
    headers: [
      ['Accept', 'audio/wav'],
      ['Accept-Encoding', 'identity'],
    ],
    signal,
    timeouts: { connectMs: ms, firstByteMs: ms, idleMs: ms, totalMs: ms },
    maxHeaderBytes: webhookHeaderBytes,
    maxResponseBytes: soundBytes,
  });
  if (answer.status !== 200) {
    answer.discard();
    throw new SoundUnfit(`the address of a sound answered with the status ${answer.status}`);
  }
  return soundOf(await readBounded(answer.body, soundBytes));
}

/** Returns the sound of a WAV file, up to `PHONE_LIMITS.sound.seconds`. Throws SoundUnfit. */
function soundOf(bytes: Uint8Array): CallSound {
  const wav = parseWavSound(bytes);
  if (wav.kind === 'refused') throw new SoundUnfit(`no sound that can be played: ${wav.reason}`);
  const { sampleRateHz } = wav;
  if (sampleRateHz < RATE_HZ.min || sampleRateHz > RATE_HZ.max) {
    throw new SoundUnfit(`a sound of ${sampleRateHz} Hz; playable are 8000 to 48000 Hz`);
  }
  const mostBytes = PHONE_LIMITS.sound.seconds * sampleRateHz * frameBytes(wav);
  const data = wav.data.subarray(0, mostBytes);
  return { sampleRateHz, blocks: monoBlocks({ ...wav, data }, BLOCK_FRAMES) };
}
