import { z } from 'zod';
import { ok, route } from '../../http/route/route.ts';
import { REPORT_LIMITS } from '../../reports/limits.ts';
import type { ToolCalls } from '../../reports/tool-calls.ts';

const { bodyBytes, codeChars, durationMs, nameChars } = REPORT_LIMITS.toolCall;

/** Counts a tool call that a client has made. Any valid key may report, so that no report fails a client's work. */
export const reportToolCall = route<{ toolCalls: ToolCalls }>()({
  method: 'POST',
  path: '/v1/events/tool-call',
  credential: 'any',
  summary: 'Report a call of a tool that a client has made',
  permission: 'read',
  admitsClosed: true,
  admitsExpired: true,
  rateLimit: 'control',
  maxBodyBytes: bodyBytes,
  body: z.object({
    tool: z.string().min(1).max(nameChars),
    durationMs: z.number().min(0).max(durationMs),
    ok: z.boolean(),
    errorCode: z.string().max(codeChars).nullish(),
  }),
  response: z.object({ ok: z.literal(true) }),

  handle({ body, services }) {
    services.toolCalls.count({ ...body, errorCode: body.errorCode ?? undefined });
    return ok({ ok: true });
  },
});
