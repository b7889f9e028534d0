import type { SessionConfig } from '../../session/session-config.ts';
import { renderLiveFormat } from './audio-format.ts';
import type { Delegation } from './delegation.ts';
import type { LiveStart } from './read-start.ts';

/** Returns the session as the client receives it. */
export function renderLiveSession(
  { inputFormat, voice }: SessionConfig,
  about: Pick<LiveStart, 'model' | 'instructions' | 'items'> & {
    readonly id: string;
    /** Time when the session expires, in seconds since the Unix epoch. */
    readonly expiresAt: number;
    readonly delegation: Delegation;
  },
): Readonly<Record<string, unknown>> {
  const { delegation, expiresAt, id, instructions, items, model } = about;
  return {
    id,
    model,
    status: 'active',
    expires_at: expiresAt,
    audio: { format: renderLiveFormat(inputFormat), output: { voice } },
    delegation,
    input: items,
    instructions,
    store: false,
    triggers: [],
  };
}
