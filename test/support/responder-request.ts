import type { ConversationItem } from '../../src/voice/session/conversation.ts';
import { DEFAULT_CONFIG } from '../../src/voice/session/session-config.ts';
import {
  type LlmPiece,
  type LlmReply,
  type LlmRequest,
  StageFailed,
} from '../../src/voice/session/voice-pipeline.ts';

/** A request for an answer to these items. */
export const responderRequest = (
  items: readonly ConversationItem[],
  signal: AbortSignal = new AbortController().signal,
): LlmRequest => ({ config: DEFAULT_CONFIG, items, outputCap: 1_000, signal });

/** All of an answer. */
export async function wholeReply(reply: LlmReply): Promise<readonly LlmPiece[]> {
  const pieces: LlmPiece[] = [];
  for (let piece = await reply.next(); piece !== undefined; piece = await reply.next()) {
    pieces.push(piece);
  }
  return pieces;
}

/** The words of pieces. */
export const wordsOf = (pieces: readonly LlmPiece[]): string =>
  pieces.map((piece) => (piece.kind === 'text' ? piece.text : '')).join('');

/** The code and message of the failure of an answer, or a test that fails because there is none. */
export async function failureCode(reply: LlmReply): Promise<string> {
  const outcome = await wholeReply(reply).then(
    (pieces) => pieces,
    (error: unknown) => error,
  );
  if (outcome instanceof StageFailed) return `${outcome.code}: ${outcome.message}`;
  throw new Error('the answer did not fail as a stage', { cause: outcome });
}
