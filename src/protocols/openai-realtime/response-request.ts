import { z } from 'zod';
import { fewMembers } from '../../kernel/json/few-members.ts';
import { VOICE_LIMITS } from '../../voice/limits.ts';
import type { AnswerRequest } from '../../voice/session/answer-request.ts';
import {
  type Conversation,
  type ConversationItem,
  imageChars,
  wordChars,
} from '../../voice/session/conversation.ts';
import type { SessionConfig } from '../../voice/session/session-config.ts';
import type { VoicePipeline } from '../../voice/session/voice-pipeline.ts';
import { type EventProblem, Item } from './client-event.ts';
import { readItem } from './read-item.ts';
import { updateFitting } from './read-session-config.ts';

const INPUT_ITEMS = 256;

const ResponseBody = z.object({
  conversation: z.enum(['auto', 'none']).nullish(),
  metadata: fewMembers(
    z.record(z.string().max(64), z.string().max(512)),
    16,
    'at most 16 members',
  ).nullish(),
  input: z
    .array(
      z.discriminatedUnion('type', [
        ...Item.options,
        z.object({ type: z.literal('item_reference'), id: z.string().min(1).max(64) }),
      ]),
    )
    .max(INPUT_ITEMS)
    .nullish(),
});

/** Parses a client's request for a response. `newItemId` creates ids for input items that have none. */
export function readResponseRequest(
  value: unknown,
  deps: {
    readonly config: SessionConfig;
    readonly pipeline: Pick<VoicePipeline, 'problemOf'>;
    readonly conversation: Conversation;
    readonly newItemId: () => string;
  },
): { readonly request: AnswerRequest } | { readonly problem: EventProblem } {
  const updated = updateFitting(deps.pipeline, deps.config, value);
  if ('problem' in updated) {
    const inResponse = (text: string) => text.replace(/^session/, 'response');
    const { param, message } = updated.problem;
    return invalid(inResponse(param), inResponse(message));
  }
  const parsed = ResponseBody.safeParse(value ?? {});
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const param = ['response', ...(issue?.path ?? [])].join('.');
    return invalid(param, `${param}: ${issue?.message ?? 'is invalid'}`);
  }
  const { conversation, input, metadata } = parsed.data;
  const context: ConversationItem[] = [];
  for (const [index, wanted] of (input ?? []).entries()) {
    const item =
      wanted.type === 'item_reference'
        ? deps.conversation.find(wanted.id)
        : readItem(wanted, wanted.id ?? deps.newItemId());
    if (item === undefined) {
      const param = `response.input.${index}.id`;
      return { problem: { code: 'item_not_found', message: 'There is no such item.', param } };
    }
    context.push(item);
  }
  if (isTooMuch(context)) {
    const param = 'response.input';
    return invalid(param, `${param}: is more than a conversation may hold.`);
  }
  return {
    request: {
      config: updated.config,
      metadata: metadata ?? {},
      isInConversation: conversation !== 'none',
      ...(input && { context }),
    },
  };
}

/**
 * Returns true when the items exceed the bounds of a conversation. An item may be referenced repeatedly, so a few short
 * references could make a prompt of gigabytes.
 */
function isTooMuch(context: readonly ConversationItem[]): boolean {
  const sum = (of: (item: ConversationItem) => number) =>
    context.reduce((all, item) => all + of(item), 0);
  return (
    sum(wordChars) > VOICE_LIMITS.realtime.conversationChars ||
    sum(imageChars) > VOICE_LIMITS.realtime.imagesChars
  );
}

const invalid = (param: string, message: string) => ({
  problem: { code: 'invalid_value', param, message },
});
