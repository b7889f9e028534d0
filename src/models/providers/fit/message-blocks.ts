import { isObject, type Json } from '../../../kernel/json.ts';
import { isBlankText } from '../anthropic/translate-content.ts';
import { ANTHROPIC_CALL_IDS, CallIds, hasOddId } from './call-ids.ts';
import { shownType } from './shown-type.ts';

/**
 * Returns a relayed Messages request that the vendor accepts although its conversation began with another vendor: ids of calls
 * are replaced, blank texts dropped, and media types of images set by the first bytes. Returns the same object if the whole
 * request fits.
 */
export function withFittingBlocks<R extends Json>(request: R): R {
  const { messages } = request;
  if (!Array.isArray(messages)) return request;
  const given = idsOf(messages);
  const hasOddIds = given !== undefined && hasOddId(ANTHROPIC_CALL_IDS, given);
  if (!hasOddIds && !messages.some((turn) => isObject(turn) && hasOdd(turn.content))) {
    return request;
  }
  const ids = hasOddIds ? new CallIds(ANTHROPIC_CALL_IDS) : undefined;
  const fitting = (messages as unknown[]).flatMap((turn) => {
    if (!isObject(turn) || !Array.isArray(turn.content)) return [turn];
    const content = turn.content
      .filter((block: unknown) => !isBlankText(block))
      .map((block: unknown) => fittingBlock(block, ids));
    return content.length > 0 || turn.content.length === 0 ? [{ ...turn, content }] : [];
  });
  return { ...request, messages: fitting };
}

/** Returns the ids of all calls; undefined without calls. */
function idsOf(messages: readonly unknown[]): readonly string[] | undefined {
  let ids: string[] | undefined;
  for (const turn of messages) {
    if (!isObject(turn) || !Array.isArray(turn.content)) continue;
    for (const block of turn.content as unknown[]) {
      if (isObject(block) && block.type === 'tool_use' && typeof block.id === 'string') {
        ids ??= [];
        ids.push(block.id);
      }
    }
  }
  return ids;
}

const hasOdd = (content: unknown): boolean =>
  Array.isArray(content) &&
  content.some(
    (block: unknown) =>
      isBlankText(block) || (isObject(block) && (isMislabelled(block) || hasOdd(block.content))),
  );

/** Returns the media type that an image's first bytes show, if the image names another type; undefined otherwise. */
function typeBeliedBy({ source, type }: Json): string | undefined {
  if (type !== 'image' || !isObject(source) || source.type !== 'base64') return undefined;
  const shown = typeof source.data === 'string' ? shownType(source.data) : undefined;
  return shown === source.media_type ? undefined : shown;
}

const isMislabelled = (block: Json): boolean => typeBeliedBy(block) !== undefined;

function fittingBlock(block: unknown, ids: CallIds | undefined): unknown {
  if (!isObject(block)) return block;
  const { content, id, source, tool_use_id: answered, type } = block;
  if (type === 'tool_use' && typeof id === 'string' && ids !== undefined) {
    return { ...block, id: ids.call(id) };
  }
  const shown = typeBeliedBy(block);
  if (shown !== undefined) return { ...block, source: { ...(source as Json), media_type: shown } };
  if (type !== 'tool_result') return block;
  const named =
    typeof answered === 'string' && ids !== undefined ? { tool_use_id: ids.result(answered) } : {};
  const within = Array.isArray(content) && hasOdd(content) ? { content: innerOf(content) } : {};
  return { ...block, ...named, ...within };
}

const innerOf = (content: readonly unknown[]): unknown[] =>
  content.filter((one) => !isBlankText(one)).map((one) => fittingBlock(one, undefined));
