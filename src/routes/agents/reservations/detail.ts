import { ok, route } from '../../../http/route/route.ts';
import type { Payments } from '../../../payments/reservations/payments.ts';
import { ReservationParams, ReservationRecord } from './reservation-shape.ts';

/** Reads the state of a payment. A closed agent may still look: its last payments end after it. */
export const reservationDetail = route<{ payments: Payments }>()({
  method: 'GET',
  path: '/v1/agents/reservations/:nonce',
  credential: 'agent',
  summary: 'What became of a payment',
  admitsClosed: true,
  params: ReservationParams,
  response: ReservationRecord,

  async handle({ caller, params, services }) {
    return ok(await services.payments.reservation(caller.agentId, params.nonce));
  },
});
