import { isObject, type Json } from '../../../kernel/json.ts';

/** Why a response ended, in the words of chat. */
export function finishReasonOf({ incomplete_details: details, status }: Json): string {
  if (status !== 'incomplete') return 'stop';
  const reason = isObject(details) ? details.reason : undefined;
  return reason === 'content_filter' ? reason : 'length';
}
