import { JSON_LIMITS } from '../../kernel/json/limits.ts';
import type { Json } from '../../kernel/json.ts';
import { turnForLongWork } from '../../kernel/long-work.ts';
import type { ConnectionMemory } from './connection/connection-memory.ts';
import { keptItem, type ResponseConversation } from './input-items.ts';
import { type KeptResponses, outputOf } from './kept/kept-responses.ts';
import type { ResponsesRequest } from './responses-request.ts';

/** Context of an answered response. */
type Answered = {
  readonly conversation: ResponseConversation;
  readonly newItemId: (prefix: string) => string;
};

/**
 * Keeps responses in the database. A response that continues one from its connection's memory is kept with the whole
 * conversation, because no kept response holds the earlier part.
 */
export const keepIn =
  (
    kept: Pick<KeptResponses, 'keep'>,
    {
      agentId,
      conversation: { before, isUnkept, own },
      newItemId,
      request: { previous_response_id: previous },
    }: Answered & { readonly agentId: number; readonly request: ResponsesRequest },
  ) =>
  (response: Json, written: Buffer): Promise<boolean> => {
    const items = isUnkept ? [...before, ...own] : own;
    const input = items.map((item) => keptItem(item, newItemId));
    const previousId = isUnkept ? null : (previous ?? null);
    return kept.keep(agentId, { response, input, previousId, written });
  };

const CONTINUED: ReadonlySet<unknown> = new Set(['completed', 'incomplete']);

/** Remembers responses on their connection. A failed response is not remembered, because it cannot be continued. */
export const rememberIn =
  (
    memory: Pick<ConnectionMemory, 'remember'>,
    {
      conversation: { before, beforeBytes, own },
      id,
      newItemId,
    }: Answered & { readonly id: string },
  ) =>
  async (response: Json): Promise<void> => {
    if (!CONTINUED.has(response.status)) return;
    await turnForLongWork();
    const said = [...own.map((item) => keptItem(item, newItemId)), ...outputOf(response)];
    const bytes = beforeBytes + Buffer.byteLength(JSON.stringify(said));
    memory.remember(id, { items: [...before, ...said], bytes });
    // Serialising the response is the next long step.
    if (bytes > JSON_LIMITS.bytesPerTurn) await turnForLongWork();
  };
