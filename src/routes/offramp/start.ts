import { z } from 'zod';
import { ok, route } from '../../http/route/route.ts';
import type { CashOuts } from '../../payments/cash-outs/cash-outs.ts';
import { RawAmount } from '../raw-amount.ts';
import { AgentId } from '../transfers/transfer-shape.ts';
import { OrderWithPage, visitorOf } from './order-shape.ts';

/** Starts an order that turns USDC into money at a bank. */
export const startCashOut = route<{ cashOuts: CashOuts }>()({
  method: 'POST',
  path: '/v1/offramp/start',
  credential: 'management',
  summary: 'Start a cash-out',
  right: 'money_out',
  idempotent: true,
  body: z.object({
    sourceKind: z.enum(['agent_wallet', 'embedded_wallet']),
    agentId: AgentId,
    amountRaw: RawAmount,
  }),
  response: OrderWithPage,

  async handle({ caller, body, clientAddress, services }) {
    return ok(await services.cashOuts.start(visitorOf(caller, clientAddress), body));
  },
});
