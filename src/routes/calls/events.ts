import { ok, route } from '../../http/route/route.ts';
import type { Calls } from '../../phone/calls/calls.ts';
import { ownerOf } from './call-owner.ts';
import { CallParams } from './call-shape.ts';

/** The events of a call until its end, as Server-Sent Events. With `Last-Event-ID` turns up to that one are left out. */
export const callEvents = route<{ calls: Calls }>()({
  method: 'GET',
  path: '/v1/calls/:callId/events',
  credential: 'any',
  summary: 'Follow a call while it is talked',
  params: CallParams,

  async handle({ caller, headers, onOver, params, services }) {
    const last = headers.get('last-event-id') ?? '';
    const reader = {
      keyId: caller.keyId,
      wallet: caller.kind === 'developer' ? caller.wallet : null,
      afterSeq: /^\d{1,9}$/.test(last) ? Number(last) : 0,
    };
    const events = await services.calls.events(ownerOf(caller), params.callId, reader);
    onOver(() => void events.return());
    return ok(events, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
    });
  },
});
