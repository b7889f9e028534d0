import { ok, route } from '../../../http/route/route.ts';
import type { Payments } from '../../../payments/reservations/payments.ts';
import {
  ReservationParams,
  ReservationRecord,
} from '../../agents/reservations/reservation-shape.ts';

/** Releases the hold of a payment that can no longer be made, as the present state of the chain shows. */
export const adminReleaseReservation = route<{ payments: Payments }>()({
  method: 'POST',
  path: '/v1/admin/reservations/:nonce/release',
  credential: 'admin',
  summary: 'Release a payment that the chain shows cannot be made',
  params: ReservationParams,
  response: ReservationRecord,

  async handle({ clientAddress, params, requestId, services }) {
    return ok(await services.payments.release(params.nonce, { clientAddress, requestId }));
  },
});
