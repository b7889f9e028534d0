import { z } from 'zod';
import { created, route } from '../../http/route/route.ts';
import { LIMITS } from '../../kernel/limits.ts';
import { isStorable } from '../../kernel/storable.ts';
import { readSpender } from '../../models/purchase/read-spender.ts';
import { ON_MACHINE } from '../../phone/calls/call.ts';
import type { Calls } from '../../phone/calls/calls.ts';
import { RawAmount } from '../raw-amount.ts';
import { PlacedCall } from './call-shape.ts';

/** Places a call from the agent's number. Nothing is charged before the far side answers. */
export const placeCall = route<{ calls: Calls }>()({
  method: 'POST',
  path: '/v1/calls',
  credential: 'agent',
  summary: 'Call a number',
  idempotent: true,
  rateLimit: 'gateway',
  body: z.object({
    toNumber: z.string().max(32),
    /** Raw USDC; at most the ceiling of a call. */
    maxSpendRaw: RawAmount.optional(),
    /** The carrier listens for an answering machine. */
    machineDetection: z.boolean().default(false),
    /** What happens once one has answered; naming it switches the detection on. */
    onMachine: z.enum(ON_MACHINE).optional(),
    /** What is left to a machine, in place of the agent's `beginMessage`. */
    machineMessage: z
      .string()
      .trim()
      .min(1)
      .max(LIMITS.phone.machineMessageChars)
      .refine(isStorable, { message: 'may hold no NUL and no half of a surrogate pair' })
      .optional(),
    /** What is said is kept for a report. */
    report: z.boolean().default(false),
    /** Who judges the call after its end: rules for nothing, or the model of the call for its price. Asks for a report as well. */
    analysis: z.enum(['rules', 'model']).optional(),
    /** The agent announces the recording to the far side; then the carrier records. */
    record: z.boolean().default(false),
  }),
  response: PlacedCall,

  /** The call whose process was lost: nothing rings twice under one key. */
  async recall({ caller, services, workId }) {
    const placed = await services.calls.findPlaced(caller.agentId, workId);
    return placed && created(placed);
  },

  async handle({ body, caller, headers, services, workId }) {
    const { toNumber: to } = body;
    const { agentId: _, ...spender } = readSpender(caller, headers);
    const placed = await services.calls.place({
      agentId: caller.agentId,
      accountId: caller.accountId,
      spender,
      to,
      maxSpendRaw: body.maxSpendRaw,
      detectsMachine: body.machineDetection,
      onMachine: body.onMachine,
      machineMessage: body.machineMessage,
      wantsReport: body.report,
      analysis: body.analysis,
      isRecorded: body.record,
      workId,
    });
    return created(placed);
  },
});
