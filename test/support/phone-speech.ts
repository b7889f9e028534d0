import { encodeMulaw } from '../../media/mulaw.ts';
import { synthesise } from '../../src/app/commands/demo/sound.ts';

/** A sentence as a telephone line carries it: mu-law at 8 kHz. */
export async function phoneSpeech(text: string): Promise<Uint8Array> {
  const pcm = await synthesise(text, 8_000);
  const bytes = new Uint8Array(pcm.length);
  encodeMulaw(pcm, bytes);
  return bytes;
}
