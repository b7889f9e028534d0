import { writeJsonInTurns } from '../kernel/json/write-json.ts';
import { joinPieces, turnForLongWork } from '../kernel/long-work.ts';
import { MARKETPLACE_LIMITS } from './limits.ts';
import type { Delivery } from './vendor.ts';

/**
 * Writes a vendor's delivery as the JSON that the caller reads. A large delivery is written over several turns of the
 * event loop.
 */
export async function deliveryBody(
  delivery: Delivery,
  { character }: Readonly<Record<string, number>>,
): Promise<Buffer> {
  if ('json' in delivery) {
    const result = await writeJsonInTurns(delivery.json);
    return joinPieces([Buffer.from('{"result":'), ...result, Buffer.from('}')]);
  }
  const { audio, contentType } = delivery;
  const rest = JSON.stringify({ contentType, characters: character });
  return joinPieces([
    Buffer.from('{"result":{"audioBase64":"'),
    ...(await base64(audio)),
    Buffer.from(`",${rest.slice(1)}}`),
  ]);
}

async function base64(bytes: Buffer): Promise<Buffer[]> {
  const { base64BytesPerTurn: step } = MARKETPLACE_LIMITS.request;
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += step) {
    if (at > 0) await turnForLongWork();
    pieces.push(Buffer.from(bytes.toString('base64', at, at + step)));
  }
  return pieces;
}
