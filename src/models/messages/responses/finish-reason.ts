import { isObject, type Json } from '../../../kernel/json.ts';

/** Returns the finish reason of chat for a response that has ended. */
export function finishReasonOf({ incomplete_details: details, status }: Json): string {
  if (status !== 'incomplete') return 'stop';
  const reason = isObject(details) ? details.reason : undefined;
  return reason === 'content_filter' ? reason : 'length';
}
