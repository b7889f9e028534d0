import { mayRetryAfter, NO_RETRY, notConfigured, refusal } from '../kernel/refusal.ts';
import { ORCHESTRATOR_LIMITS } from './limits.ts';

/** Refusals of the connections to voice platforms and of what the platforms send (contract B §9). */
export const orchestratorErrors = {
  invalidProvider: (known: string) =>
    refusal(400, 'invalid_provider', `provider: use one of ${known}.`),
  secretRequired: (provider: string) =>
    refusal(
      400,
      'secret_required',
      `secret: "${provider}" signs with a secret of its own; copy it from the platform.`,
    ),
  alreadyConnected: (provider: string) =>
    refusal(
      409,
      'already_connected',
      `This agent is connected to "${provider}" already; rotate that connection or delete it first.`,
      {},
      NO_RETRY,
    ),
  limitExceeded: () =>
    refusal(
      400,
      'Limit exceeded',
      `Maximum ${ORCHESTRATOR_LIMITS.connection.perAccount} connections to voice platforms allowed.`,
    ),
  notFound: () => refusal(404, 'not_found', 'There is no such connection to a voice platform.'),
  unavailable: () =>
    notConfigured(
      'orchestrators_unavailable',
      'This server cannot seal the secrets of voice platforms.',
      'PROVIDER_KEY_SECRET',
    ),
  unknownUrl: () =>
    refusal(404, 'not_found', 'No connection to a voice platform has this URL, or it is off.'),
  badSignature: (header: string) =>
    refusal(
      401,
      'invalid_signature',
      `${header} does not prove that the platform has sent this body; check the secret of the connection.`,
    ),
  invalidReport: (message: string) => refusal(400, 'invalid_report', message),
  invalidCallId: (member: string) =>
    refusal(
      400,
      'invalid_call_id',
      `${member}: name the call by a text of 1 to ${ORCHESTRATOR_LIMITS.report.callIdChars} characters.`,
    ),
  invalidCost: (message: string) => refusal(400, 'invalid_cost', message),
  assistantRequired: () =>
    refusal(
      400,
      'assistant_required',
      'assistantId: add ?assistantId=<id of your assistant> to the URL that Vapi asks.',
    ),
  busy: () =>
    refusal(
      503,
      'report_not_taken',
      'Other reports of this call are being taken; send this one again.',
      {},
      mayRetryAfter(1),
    ),
  tooMany: (seconds: number) =>
    refusal(
      429,
      'connection_rate_limit',
      `A connection may send ${ORCHESTRATOR_LIMITS.inbound.perConnection.perMinute} requests a minute; send this one again in ${seconds} s.`,
      { retry_after_seconds: seconds },
      mayRetryAfter(seconds),
    ),
};
