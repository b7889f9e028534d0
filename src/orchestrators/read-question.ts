import type { Json } from '../kernel/json.ts';
import type { RefusedCall } from './call-events.ts';
import { ORCHESTRATOR_LIMITS } from './limits.ts';
import type { Provider } from './platform.ts';
import { cutText, objectAt, textAt } from './report-fields.ts';

/**
 * Reads what a platform tells of the call that it asks for. Undefined for an event that asks nothing. Members that are missing
 * are empty: a question without them is answered all the same.
 */
export function readQuestion(provider: Provider, body: Json): RefusedCall | undefined {
  switch (provider) {
    case 'vapi': {
      const message = objectAt(body, 'message');
      if (message.type !== 'assistant-request') return undefined;
      const call = objectAt(message, 'call');
      const customer = objectAt(message, 'customer');
      const dialled = objectAt(message, 'phoneNumber');
      return {
        callId: idAt(call, 'id'),
        from: shortText(customer, 'number') || shortText(objectAt(call, 'customer'), 'number'),
        to: shortText(dialled, 'number') || shortText(objectAt(call, 'phoneNumber'), 'number'),
      };
    }
    case 'retell': {
      if (body.event !== 'call_inbound') return undefined;
      const call = objectAt(body, 'call_inbound');
      return {
        callId: idAt(call, 'call_id'),
        from: shortText(call, 'from_number'),
        to: shortText(call, 'to_number'),
      };
    }
    case 'bland':
      return {
        callId: idAt(body, 'call_id'),
        from: shortText(body, 'from'),
        to: shortText(body, 'to'),
      };
    default:
      return {
        callId: idAt(body, 'external_call_id'),
        from: shortText(body, 'from'),
        to: shortText(body, 'to'),
      };
  }
}

const shortText = (body: Json, name: string): string =>
  cutText(textAt(body, name) ?? '', ORCHESTRATOR_LIMITS.report.textChars);

const idAt = (body: Json, name: string): string | null => shortText(body, name) || null;
