import type { Carrier } from '../../phone/carriers/carrier.ts';
import {
  createLoopbackCarrier,
  type LoopbackServer,
} from '../../phone/carriers/loopback/loopback-carrier.ts';
import { createLoopbackNumbers } from '../../phone/carriers/loopback/loopback-numbers.ts';
import { ScriptedCallee } from '../../phone/carriers/loopback/scripted-callee.ts';
import { openCarrier } from '../../phone/carriers/open-carrier.ts';
import { findRented } from '../../phone/numbers/number-store.ts';
import { type SpeechDeltas, SpeechEncoder } from '../../voice/session/speech-encoder.ts';
import type { VoiceParts } from './build-voice.ts';
import type { World } from './world.ts';

/** Lines of the loopback's person: enough to hear the agent answer. */
const LINES = ['Hello, who is calling?', 'What is my balance?', 'Thank you. Goodbye.'];
const LINE_FORMAT = { encoding: 'mulaw', sampleRateHz: 8_000 } as const;

/**
 * Opens the carrier that the settings name. Undefined: the server has no phone service. `server` is the server that the
 * loopback carrier calls.
 */
export function buildCarrier(
  world: World,
  voice: Pick<VoiceParts, 'engines'>,
  server: LoopbackServer,
): Carrier | undefined {
  const { settings, sql } = world;
  if (world.carrierOf !== undefined) return world.carrierOf(server);
  const { phone, publicUrl } = settings;
  return openCarrier(phone, {
    ...world,
    publicUrl,
    loopback: () =>
      createLoopbackCarrier({
        ...world,
        numbers: createLoopbackNumbers({ findRented: (numbers) => findRented(sql, numbers) }),
        calleeOf: world.calleeOf ?? (() => builtInCallee(voice)),
        server: () => server,
      }),
  });
}

/** Builds a callee who speaks the `LINES` in a voice of the local engines and then hangs up. */
async function builtInCallee({ engines }: Pick<VoiceParts, 'engines'>): Promise<ScriptedCallee> {
  const { signal } = new AbortController();
  const lines: Uint8Array[] = [];
  for (const text of LINES) {
    const encoder = new SpeechEncoder(LINE_FORMAT);
    const pieces: Uint8Array[] = [];
    const take = (deltas: SpeechDeltas) => {
      while (!deltas.isOver) pieces.push(deltas.next().slice());
    };
    for await (const chunk of engines.tts.flite.speak({ text, voice: 'slt', signal })) {
      take(encoder.piece(chunk.pcm, chunk.sampleRateHz));
    }
    take(encoder.end());
    lines.push(Buffer.concat(pieces));
  }
  return new ScriptedCallee(lines);
}
