import { isObject } from '../../../kernel/json.ts';
import { type Effort, nearestEffort } from '../../providers/efforts.ts';
import type { MessagesRequest } from '../messages-request.ts';

type Turn = MessagesRequest['messages'][number];

/**
 * Returns the effort for a model with a list of efforts: `none` if the request disables thinking and the list has it, else the
 * effort nearest to the requested one. Undefined when the request names no effort or the model accepts none.
 */
export function preferredEffort(
  request: MessagesRequest,
  taken: readonly Effort[] | undefined,
): Effort | undefined {
  if (taken === undefined) return undefined;
  if (request.thinking?.type === 'disabled' && taken.includes('none')) return 'none';
  return nearestEffort(lastEffort(request), taken);
}

/**
 * Returns the effort of the turn to be answered. A system turn changes the effort: at once when it directly follows new input
 * of the user, else from the next input on (https://platform.claude.com/docs/en/build-with-claude/effort-per-message).
 */
function lastEffort({ messages, output_config: config }: MessagesRequest): unknown {
  let effort = effortOf(config);
  let coming: unknown;
  let isBehindInput = false;
  for (const turn of messages) {
    const changed = turn.role === 'system' ? effortOf(turn.output_config) : undefined;
    if (turn.role !== 'system') isBehindInput = hasNewInput(turn);
    if (changed !== undefined) coming = changed;
    if (coming === undefined || !isBehindInput) continue;
    effort = coming;
    coming = undefined;
  }
  return effort;
}

const effortOf = (config: unknown): unknown =>
  isObject(config) ? (config.effort ?? undefined) : undefined;

/** Returns true for a user turn with content other than tool results. */
const hasNewInput = ({ content, role }: Turn): boolean =>
  role === 'user' &&
  (!Array.isArray(content) ||
    content.some((block) => !isObject(block) || block.type !== 'tool_result'));
