import { LIMITS } from '../limits.ts';
import { refusal } from './refusal.ts';

export const attribution = {
  invalidActionId: () =>
    refusal(
      400,
      'invalid_action_id',
      `An action id has 1 to ${LIMITS.taskIdChars} printable ASCII characters.`,
    ),
};
