import { LIMITS } from '../limits.ts';
import { refusal } from '../refusal.ts';

export const attribution = {
  invalidActionId: () =>
    refusal(
      400,
      'invalid_action_id',
      `An action id has 1 to ${LIMITS.taskIdChars} printable ASCII characters.`,
    ),
  tooManyEvents: (max: number) =>
    refusal(413, 'payload_too_large', `An upload may have at most ${max} events.`, {
      limit_events: max,
    }),
};
