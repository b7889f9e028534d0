import { z } from 'zod';
import { ok, type RouteReply, route } from '../../http/route/route.ts';
import { isStorable } from '../../kernel/storable.ts';
import type { Calls } from '../../phone/calls/calls.ts';
import type { LiveCommand } from '../../phone/calls/commands/live-command.ts';
import { ownerOf } from './call-owner.ts';
import { CallParams } from './call-shape.ts';

/** Schema of a text that is said or read in a call. */
export const CallText = (mostChars: number) =>
  z
    .string()
    .trim()
    .min(1)
    .max(mostChars)
    .refine(isStorable, { message: 'must hold no NUL and no half characters' });

const accepted = (callId: string): RouteReply => ({
  ...ok({ callId, status: 'accepted' }),
  status: 202,
});

/** Creates a route that gives a live call a command. With an `Idempotency-Key` the call carries the command out once. */
export const commandRoute = <B extends z.ZodType>({
  body,
  commandOf,
  name,
  summary,
}: {
  readonly name: string;
  readonly summary: string;
  readonly body: B;
  readonly commandOf: (body: z.output<B>) => LiveCommand;
}) =>
  route<{ calls: Calls }>()({
    method: 'POST',
    path: `/v1/calls/:callId/${name}`,
    credential: 'any',
    summary,
    idempotent: true,
    rateLimit: 'gateway',
    params: CallParams,
    body,
    response: z.object({ callId: z.string(), status: z.literal('accepted') }),
    status: 202,

    async handle({ body: given, caller, params, services, workId }) {
      const { callId } = params as z.output<typeof CallParams>;
      const command = commandOf(given as z.output<B>);
      await services.calls.command(ownerOf(caller), callId, { command, workId });
      return accepted(callId);
    },
  });
