import { z } from 'zod';
import { isStorable } from '../../kernel/storable.ts';
import type { SharedOrder } from '../../phone/batches/batch.ts';
import { ON_MACHINE } from '../../phone/calls/call.ts';
import { PHONE_LIMITS } from '../../phone/limits.ts';
import { CALL_OVERRIDES_SHAPE, readCallOverrides } from '../../phone/voice/call-overrides.ts';
import { RawAmount } from '../raw-amount.ts';

/** Members of a body that say how a call is placed, beside whom it calls. */
export const CALL_ORDER_SHAPE = {
  /** Raw USDC; at most the ceiling of a call. */
  maxSpendRaw: RawAmount.optional(),
  /** The carrier listens for an answering machine. */
  machineDetection: z.boolean().default(false),
  /** Order for a call that a machine has answered; naming one switches the detection on. */
  onMachine: z.enum(ON_MACHINE).optional(),
  /** Message that is left on a machine, in place of the agent's `beginMessage`. */
  machineMessage: z
    .string()
    .trim()
    .min(1)
    .max(PHONE_LIMITS.machine.messageChars)
    .refine(isStorable, { message: 'may hold no NUL and no half of a surrogate pair' })
    .optional(),
  /** Keeps the turns of the call for a report. */
  report: z.boolean().default(false),
  /** Judge of the call after its end: rules for free, or the model of the call at its price. Asks for a report as well. */
  analysis: z
    .union(
      [z.enum(['rules', 'model']), z.strictObject({ schema: z.record(z.string(), z.any()) })],
      {
        error: 'must be "rules", "model" or {"schema": {…}}',
      },
    )
    .optional(),
  /** As `record`, which it replaces where both are named. */
  recording: z.boolean().optional(),
  ...CALL_OVERRIDES_SHAPE,
  /** True when the agent announces the recording to the callee and the carrier then records. */
  record: z.boolean().default(false),
};

const CallOrderBody = z.object(CALL_ORDER_SHAPE);

/** Reads the order of a body that has `CALL_ORDER_SHAPE`. Throws `invalid_voice` for settings of the conversation. */
export const readCallOrder = (body: z.output<typeof CallOrderBody>): SharedOrder => ({
  maxSpendRaw: body.maxSpendRaw,
  detectsMachine: body.machineDetection,
  onMachine: body.onMachine,
  machineMessage: body.machineMessage,
  wantsReport: body.report,
  analysis: body.analysis,
  isRecorded: body.recording ?? body.record,
  overrides: readCallOverrides(body),
});
