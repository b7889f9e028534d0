import { newId } from '../../kernel/ids.ts';
import type { Random } from '../../kernel/random.ts';
import type { VoiceSession } from '../../voice/session/voice-session.ts';
import type { ClientEvent, ClientItem, EventProblem } from './client-event.ts';
import type { EventSender } from './event-sender.ts';
import { readItem } from './read-item.ts';
import { renderItem, renderOwnItem } from './render-item.ts';

export type ItemEvent = Extract<ClientEvent, { type: `conversation.item.${string}` }>;

export type ItemDeps = {
  readonly sender: EventSender;
  readonly random: Random;
  readonly session: Pick<VoiceSession, 'conversation' | 'heardUntil' | 'spoken'>;
};

/** Executes a client's event about conversation items. Returns the problem of an event that is refused. */
export function applyItemEvent(deps: ItemDeps, event: ItemEvent): EventProblem | undefined {
  const { sender, session } = deps;
  switch (event.type) {
    case 'conversation.item.create':
      return createItem(deps, event.item, event.previous_item_id ?? undefined);
    case 'conversation.item.retrieve': {
      const item = session.conversation.find(event.item_id);
      if (item === undefined) return unknownItem('retrieve', event.item_id);
      sender.send('conversation.item.retrieved', { item: renderItem(item) });
      return undefined;
    }
    case 'conversation.item.delete':
      if (!session.conversation.remove(event.item_id)) return unknownItem('delete', event.item_id);
      sender.send('conversation.item.deleted', { item_id: event.item_id });
      return undefined;
    case 'conversation.item.truncate':
      return truncateItem(deps, event);
  }
}

function createItem(
  deps: ItemDeps,
  wanted: ClientItem,
  afterId: string | undefined,
): EventProblem | undefined {
  const { sender } = deps;
  const { conversation } = deps.session;
  if (afterId !== undefined && afterId !== 'root' && conversation.find(afterId) === undefined) {
    const param = 'previous_item_id';
    return { code: 'item_not_found', message: noSuchItem(afterId), param };
  }
  if (wanted.id !== undefined && conversation.find(wanted.id) !== undefined) {
    return {
      code: 'item_already_exists',
      message: `There is an item "${wanted.id}" already.`,
      param: 'item.id',
    };
  }
  if (wanted.type === 'function_call_output' && !conversation.hasCall(wanted.call_id)) {
    return {
      code: 'invalid_tool_call_id',
      message: `No tool was called as "${wanted.call_id}" in this conversation.`,
      param: 'item.call_id',
    };
  }
  const item = readItem(wanted, wanted.id ?? newId(deps.random, 'item_'));
  const { evictedIds, previousId } = conversation.add(item, afterId);
  const added = { previous_item_id: previousId, item: renderOwnItem(item) };
  sender.batch(() => {
    sender.send('conversation.item.added', added);
    sender.send('conversation.item.done', added);
    for (const id of evictedIds) sender.send('conversation.item.deleted', { item_id: id });
  });
  return undefined;
}

/** Truncates a spoken answer to the words that the caller has heard. */
function truncateItem(
  { sender, session }: ItemDeps,
  event: Extract<ItemEvent, { type: 'conversation.item.truncate' }>,
): EventProblem | undefined {
  const item = session.conversation.find(event.item_id);
  if (item === undefined) return unknownItem('truncate', event.item_id);
  const spoken = session.spoken(event.item_id);
  if (item.type !== 'message' || item.role !== 'assistant' || spoken === undefined) {
    return {
      code: 'invalid_value',
      message: 'Only a spoken answer can be truncated.',
      param: 'item_id',
    };
  }
  if (event.content_index !== 0 || event.audio_end_ms > Math.ceil(spoken.durationMs)) {
    return {
      code: 'invalid_value',
      message: `The item has one part of ${Math.ceil(spoken.durationMs)} ms.`,
      param: event.content_index === 0 ? 'audio_end_ms' : 'content_index',
    };
  }
  session.heardUntil(event.item_id, event.audio_end_ms);
  sender.send('conversation.item.truncated', {
    item_id: event.item_id,
    content_index: 0,
    audio_end_ms: event.audio_end_ms,
  });
  return undefined;
}

const noSuchItem = (id: string): string => `There is no item "${id}" in this conversation.`;

const unknownItem = (verb: 'retrieve' | 'delete' | 'truncate', id: string): EventProblem => ({
  code: `item_${verb}_invalid_item_id`,
  message: noSuchItem(id),
  param: 'item_id',
});
