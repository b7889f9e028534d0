import { MAY_RETRY, mayRetryAfter, NO_RETRY, notConfigured, refusal } from '../kernel/refusal.ts';

/** Refusals of phone numbers and calls (spec, Errors; contract B §3). */
export const phoneErrors = {
  areaCodeRequired: () =>
    refusal(
      400,
      'area_code_required',
      'Name an areaCode of three digits, or an exact phoneNumber.',
    ),
  invalidAreaCode: () =>
    refusal(400, 'invalid_area_code', 'areaCode: three digits, the first of them 2 to 9.'),
  invalidPhoneNumber: () =>
    refusal(
      400,
      'invalid_phone_number',
      'phoneNumber: a US number as +1 and ten digits, or a number of a country that may be called.',
    ),
  invalidDoNotCallNumber: () =>
    refusal(
      400,
      'invalid_phone_number',
      'phoneNumber: must be a number with its country, such as +14155550100.',
    ),
  doNotCallFull: (limit: number) =>
    refusal(
      409,
      'do_not_call_full',
      `The do-not-call list has ${limit} numbers, and may have no more.`,
      { limit },
      NO_RETRY,
    ),
  doNotCallNotFound: () => refusal(404, 'not_found', 'This number is not on the do-not-call list.'),
  invalidToNumber: (message: string) => refusal(400, 'invalid_to_number', `toNumber: ${message}.`),
  invalidTransfer: (message: string) => refusal(400, 'invalid_to_number', `to: ${message}.`),
  invalidDays: () => refusal(400, 'invalid_days', 'days: a whole number from 1 to 365.'),
  maxSpendTooLow: (maxSpendRaw: string, requiredRaw: string) =>
    refusal(
      400,
      'max_spend_too_low',
      `maxSpendRaw is ${maxSpendRaw}; one minute of the call needs ${requiredRaw}. Raise it or leave it out.`,
      { required: requiredRaw },
    ),
  invalidAnalysis: (message: string) =>
    refusal(400, 'invalid_analysis', `analysis.schema: ${message}.`),
  analysisNeedsModel: () =>
    refusal(
      400,
      'invalid_analysis',
      'analysis.schema: a webhook or an application answers the calls of this agent, and no model is there to fill it.',
    ),
  machineMessageRequired: () =>
    refusal(
      400,
      'machine_message_required',
      'machineMessage: onMachine "leave_message" needs one, or a beginMessage of the agent.',
    ),
  machineMessageUnused: () =>
    refusal(
      400,
      'machine_message_unused',
      'machineMessage: it is said with onMachine "leave_message" alone.',
    ),
  insufficientBalance: (availableRaw: string, requiredRaw: string) =>
    refusal(
      402,
      'insufficient_balance',
      `The balance of ${availableRaw} does not cover the ${requiredRaw} of the first month.`,
      { available: availableRaw, required: requiredRaw },
    ),
  telephonySuspended: () =>
    refusal(403, 'telephony_suspended', 'The phone service of this account is suspended.'),
  /** Refuses a call before it is placed: nothing rings. */
  callNotCovered: (availableRaw: string, requiredRaw: string) =>
    refusal(403, 'insufficient_balance', 'The balance does not cover one minute of a call.', {
      available: availableRaw,
      required: requiredRaw,
    }),
  callCapped: (message: string, fields: Readonly<Record<string, unknown>>) =>
    refusal(403, 'policy_exceeded', message, fields),
  creditLineExpired: () =>
    refusal(403, 'credit_line_expired', 'The credit line of this agent has expired.'),
  callerSuspended: () => refusal(403, 'agent_suspended', 'This agent is suspended.'),
  callerNotActive: () => refusal(403, 'agent_not_active', 'This agent may not place calls now.'),
  numberExists: (record: unknown) =>
    refusal(409, 'number_exists', 'This agent has a number already.', { number: record }, NO_RETRY),
  /** Refuses a purchase while another purchase is under way. Names no number, because the agent may never own the number. */
  numberBeingBought: () =>
    refusal(
      409,
      'number_exists',
      'Another purchase of a number for this agent is under way. Read its numbers in some seconds.',
      { number: null },
      mayRetryAfter(5),
    ),
  noNumbersAvailable: (message: string) =>
    refusal(409, 'no_numbers_available', message, {}, NO_RETRY),
  agentUnavailable: () =>
    refusal(409, 'agent_unavailable', 'This agent is suspended or closed.', {}, NO_RETRY),
  agentNotReady: () =>
    refusal(
      409,
      'agent_not_ready',
      'The wallet of this agent is not provisioned yet.',
      {},
      MAY_RETRY,
    ),
  numberRequired: () =>
    refusal(
      409,
      'number_required',
      'This agent has no number to call from: rent one first.',
      {},
      NO_RETRY,
    ),
  /** Refuses a call whose voice names a model that was available, here or with a provider key, when the voice was set. */
  voiceModelUnavailable: (model: string) =>
    refusal(
      409,
      'voice_model_unavailable',
      `The voice of this agent names the model "${model}", which neither this server sells nor a provider key of yours opens.`,
      {},
      NO_RETRY,
    ),
  callLimit: (of: 'agent' | 'account', limit: number, active: number) =>
    refusal(
      429,
      'call_limit',
      `The ${of} has ${active} calls under way, and may have ${limit}.`,
      { limit, active },
      mayRetryAfter(5),
    ),
  /** Nothing rings: the caller's words could not be transcribed in time. */
  capacity: (seconds: number) =>
    refusal(
      503,
      'capacity',
      `This server transcribes as many calls as it can. Nothing rings and nothing is charged; try again in ${seconds} s.`,
      {},
      mayRetryAfter(seconds),
    ),
  /** Refuses a call before anything rings: the carrier takes `limit` calls a second, and the queue for it is full. */
  dialLimit: (limit: number, waiting: number, seconds: number) =>
    refusal(
      429,
      'dial_limit',
      `The carrier takes ${limit} calls a second, and ${waiting} wait for it.`,
      { limit, waiting },
      mayRetryAfter(seconds),
    ),
  provisioningFailed: () =>
    refusal(
      502,
      'provisioning_failed',
      'The carrier did not sell the number. Nothing was charged.',
      {},
      NO_RETRY,
    ),
  /**
   * Refusal of a purchase that the carrier has not answered. The number may still have been sold, so that the text does not
   * deny a charge.
   */
  provisioningUndecided: () =>
    refusal(
      502,
      'provisioning_failed',
      'The carrier did not answer. The number appears in the list within minutes if it was sold; otherwise nothing is charged.',
      {},
      NO_RETRY,
    ),
  callFailed: () =>
    refusal(
      502,
      'call_failed',
      'The carrier did not take the call. Nothing was charged.',
      {},
      NO_RETRY,
    ),
  /** Refuses a call without an answer of the carrier, which may have placed the call all the same. */
  callUndecided: (callId: string) =>
    refusal(
      502,
      'call_failed',
      'The carrier did not answer, so that the call may ring. Read it, or hang it up, under its callId.',
      { callId },
      NO_RETRY,
    ),
  telephonyUnavailable: () =>
    notConfigured(
      'telephony_unavailable',
      'This server has no carrier for calls.',
      'TWILIO_ACCOUNT_SID and TWILIO_AUTH_TOKEN, or TELNYX_API_KEY, TELNYX_PUBLIC_KEY and TELNYX_CONNECTION_ID',
    ),
  noTestCallers: () =>
    refusal(
      503,
      'telephony_unavailable',
      'The carrier of this server has real callers only: a test caller comes with PHONE_CARRIER=loopback.',
      {},
      NO_RETRY,
    ),
  noSuchCaller: () =>
    refusal(
      400,
      'invalid_from_number',
      'from: must be a number with its country, such as +14155550100.',
    ),
  noNumberToRing: () =>
    refusal(
      409,
      'number_required',
      'This number was given back, and takes no calls.',
      {},
      NO_RETRY,
    ),
  carrierAway: () =>
    refusal(
      503,
      'telephony_unavailable',
      'The carrier does not answer at present; try again shortly.',
      {},
      MAY_RETRY,
    ),
  numberNotFound: () => refusal(404, 'not_found', 'This agent has no such number.'),
  forgedCallback: () =>
    refusal(403, 'invalid_signature', 'The carrier has not signed this request.'),
  malformedCallback: (message: string) => refusal(400, 'malformed_callback', message),
  callNotFound: () => refusal(404, 'not_found', 'This agent has no such call.'),
  tooManyReaders: (limit: number, per: 'call' | 'account' | 'server') =>
    refusal(
      429,
      'reader_limit',
      `The events of one ${per} have at most ${limit} readers at a time.`,
      { limit },
      mayRetryAfter(5),
    ),
  callNotAnswered: () =>
    refusal(
      409,
      'call_not_answered',
      'The call is not answered yet. Try again once its status is "in_progress".',
      {},
      mayRetryAfter(1),
    ),
  callOver: () => refusal(409, 'call_over', 'The call is over, or ends now.', {}, NO_RETRY),
  commandLimit: (limit: number) =>
    refusal(409, 'command_limit', `A call takes at most ${limit} commands.`, { limit }, NO_RETRY),
  injectUnavailable: () =>
    refusal(
      409,
      'inject_unavailable',
      'A webhook or an application answers this call, and keeps its own instructions. Tell it there.',
      {},
      NO_RETRY,
    ),
  reportNotFound: () =>
    refusal(404, 'not_found', 'No report of this call was asked for, or it is no longer kept.'),
  reportNotReady: () =>
    refusal(
      409,
      'report_not_ready',
      'The call is not over yet; its report can be read once it is.',
      {},
      mayRetryAfter(5),
    ),
  recordingNotFound: () =>
    refusal(404, 'not_found', 'This call was not recorded, or its recording is no longer kept.'),
  recordingNotReady: () =>
    refusal(
      409,
      'recording_not_ready',
      'The carrier does not have the whole recording yet.',
      {},
      mayRetryAfter(5),
    ),
  webhookUrlRequired: () =>
    refusal(400, 'webhook_url_required', 'webhookUrl: webhook mode needs one.'),
  invalidWebhookUrl: (message: string) =>
    refusal(400, 'invalid_webhook_url', `webhookUrl: ${message}.`),
  invalidInboundUrl: (message: string) =>
    refusal(400, 'invalid_inbound_url', `inboundUrl: ${message}.`),
  inboundUnavailable: () =>
    notConfigured(
      'inbound_url_unavailable',
      'This server has no secret to sign its requests to an inboundUrl with.',
      'PROVIDER_KEY_SECRET',
    ),
  invalidVoiceMode: () => refusal(400, 'invalid_voice_mode', 'voiceMode: "hosted" or "webhook".'),
  invalidModel: (model: string, suggestions: readonly string[]) =>
    refusal(
      400,
      'invalid_model',
      suggestions.length === 0
        ? `model: "${model}" is no chat model of the catalogue.`
        : `model: "${model}" is no chat model of the catalogue; did you mean ${suggestions.map((id) => `"${id}"`).join(' or ')}?`,
    ),
  invalidVoice: (message: string) => refusal(400, 'invalid_voice', message),
};
