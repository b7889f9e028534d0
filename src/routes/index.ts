import { adminAgentBalance } from './admin/agents/balance.ts';
import { adminCloseAgent } from './admin/agents/close.ts';
import { adminCreditAgent } from './admin/agents/credit.ts';
import { adminListAgents } from './admin/agents/list.ts';
import { adminSetAgentStatus } from './admin/agents/status.ts';
import { adminListAlarms } from './admin/alarms/list.ts';
import { adminListActs } from './admin/audit/list.ts';
import { adminBalance } from './admin/balances/detail.ts';
import { adminReadCallLimit } from './admin/call-limits/read.ts';
import { adminSetCallLimit } from './admin/call-limits/set.ts';
import { adminListDevelopers } from './admin/developers/list.ts';
import { adminListProcesses } from './admin/processes/list.ts';
import { adminReleaseReservation } from './admin/reservations/release.ts';
import { adminLiftSuspension } from './admin/telephony-suspensions/lift.ts';
import { adminLiftSuspensions } from './admin/telephony-suspensions/lift-all.ts';
import { adminListSuspensions } from './admin/telephony-suspensions/list.ts';
import { adminSuspendTelephony } from './admin/telephony-suspensions/suspend.ts';
import { reportOutcome } from './agents/actions/outcome.ts';
import { ownActivity } from './agents/activity.ts';
import { agentBalance } from './agents/balance.ts';
import { closeSelf } from './agents/close.ts';
import { ownCoverage } from './agents/coverage.ts';
import { creditRemaining } from './agents/credit-remaining.ts';
import { createCreditThreshold } from './agents/credit-thresholds/create.ts';
import { deleteCreditThreshold } from './agents/credit-thresholds/delete.ts';
import { listCreditThresholds } from './agents/credit-thresholds/list.ts';
import { syncLedger } from './agents/ledger/sync.ts';
import { loanState } from './agents/loan-state.ts';
import { ownReputation } from './agents/reputation.ts';
import { reservationDetail } from './agents/reservations/detail.ts';
import { spendSummary } from './agents/spend-summary.ts';
import { listTransactions } from './agents/transactions.ts';
import { ownUsageSummary } from './agents/usage/summary.ts';
import { speech } from './audio/speech.ts';
import { createTranscription } from './audio/transcriptions.ts';
import { grantToken } from './auth/grant.ts';
import { cancelBatch } from './calls/batch/cancel.ts';
import { listBatches } from './calls/batch/list.ts';
import { orderBatch } from './calls/batch/order.ts';
import { pauseBatch } from './calls/batch/pause.ts';
import { readBatch } from './calls/batch/read.ts';
import { listRecipients } from './calls/batch/recipients.ts';
import { resumeBatch } from './calls/batch/resume.ts';
import { callEvents } from './calls/events.ts';
import { hangUpCall } from './calls/hang-up.ts';
import { injectIntoCall } from './calls/inject.ts';
import { placeCall } from './calls/place.ts';
import { readCall } from './calls/read.ts';
import { callRecording } from './calls/recording.ts';
import { callReport } from './calls/report.ts';
import { sayInCall } from './calls/say.ts';
import { transferCall } from './calls/transfer.ts';
import { capabilities } from './capabilities.ts';
import { chatCompletions } from './chat/completions.ts';
import { ownAllowlistMode } from './controls/allowlist-mode.ts';
import { ownPolicies } from './controls/policies.ts';
import { ownSpendLimit } from './controls/spend-limit.ts';
import { memoryDelete } from './db/vectordb/delete.ts';
import { memoryIngest } from './db/vectordb/ingest.ts';
import { memoryList } from './db/vectordb/list.ts';
import { memoryQuery } from './db/vectordb/query.ts';
import { memoryStatus } from './db/vectordb/status.ts';
import { memoryTenantCreate } from './db/vectordb/tenant/create.ts';
import { memoryTenantDelete } from './db/vectordb/tenant/delete.ts';
import { memoryTenantStatus } from './db/vectordb/tenant/status.ts';
import { DEVELOPER_ROUTES } from './developer/routes.ts';
import { createDocumentJob } from './doc/create.ts';
import { readDocumentJob } from './doc/read.ts';
import { embeddings } from './embeddings.ts';
import { estimate } from './estimate.ts';
import { reportToolCall } from './events/tool-call.ts';
import { health } from './health.ts';
import { sellLanguage } from './lid.ts';
import { callerLimits } from './limits.ts';
import { listenToFile } from './listen/transcribe.ts';
import { controlMediaSession, createMediaSession, readMediaSession } from './live/media.ts';
import { proxiedChat } from './llm/chat/completions.ts';
import { proxiedEmbeddings } from './llm/embeddings.ts';
import { markets } from './markets.ts';
import { mcp } from './mcp.ts';
import { countMessageTokens } from './messages/count-tokens.ts';
import { createMessage } from './messages/create.ts';
import { metrics } from './metrics.ts';
import { modelDetail } from './models/detail.ts';
import { listModels } from './models/list.ts';
import { buyOwnNumber } from './numbers/buy.ts';
import { cancelCashOut } from './offramp/orders/cancel.ts';
import { readCashOut } from './offramp/orders/detail.ts';
import { listCashOuts } from './offramp/orders/list.ts';
import { reportCashOutSend } from './offramp/orders/tx.ts';
import { startCashOut } from './offramp/start.ts';
import { onrampGeo } from './onramp/geo.ts';
import { onrampSessionToken } from './onramp/session-token.ts';
import { listOnrampSessions } from './onramp/sessions.ts';
import { openapi } from './openapi.ts';
import { playgroundVendors } from './playground/vendors.ts';
import { projectModel } from './projects/models/detail.ts';
import { listProjectModels } from './projects/models/list.ts';
import { proxyCheck } from './proxy/check.ts';
import { proxyFetch } from './proxy/fetch.ts';
import { createClientSecret } from './realtime/client-secrets.ts';
import { cancelResponse } from './responses/cancel.ts';
import { createResponse } from './responses/create.ts';
import { deleteResponse } from './responses/delete.ts';
import { responseInputItems } from './responses/input-items.ts';
import { readResponse } from './responses/read.ts';
import { speakFluxText, speakText } from './speak/synthesize.ts';
import { status } from './status.ts';
import { sellTranscript } from './stt.ts';
import { sellTranslatedTranscript } from './stt-translate.ts';
import { carrierCallback } from './telephony/callback.ts';
import { confirmTransfer } from './transfers/confirm.ts';
import { executeTransfer } from './transfers/execute.ts';
import { linkTransferOnramp } from './transfers/link-onramp.ts';
import { listTransfers } from './transfers/list.ts';
import { prepareTransfer } from './transfers/prepare.ts';
import { sellTranslation } from './translate.ts';
import { sellTransliteration } from './transliterate.ts';
import { sellSpeech } from './tts.ts';
import { platformCallEnd } from './webhooks/call-end.ts';
import { platformPreCall } from './webhooks/pre-call.ts';
import { estimateX402 } from './x402/estimate.ts';
import { forecastX402 } from './x402/forecast.ts';

/**
 * Every route, in the order of the specification's section Endpoints. Routes that the specification does not list come last;
 * those of developers are in `DEVELOPER_ROUTES`.
 */
export const ROUTES = [
  // Public
  health,
  markets,
  proxyCheck,
  // Agent runtime
  proxyFetch,
  agentBalance,
  reservationDetail,
  listTransactions,
  creditRemaining,
  loanState,
  ownSpendLimit.read,
  estimateX402,
  reportOutcome,
  ownPolicies.create,
  ownPolicies.change,
  ownPolicies.revoke,
  syncLedger,
  placeCall,
  readCall,
  callEvents,
  sayInCall,
  injectIntoCall,
  transferCall,
  hangUpCall,
  callReport,
  callRecording,
  orderBatch,
  listBatches,
  readBatch,
  listRecipients,
  cancelBatch,
  pauseBatch,
  resumeBatch,
  buyOwnNumber,
  // Developers
  ...DEVELOPER_ROUTES,
  onrampSessionToken,
  // Inference gateway
  chatCompletions,
  createMessage,
  countMessageTokens,
  createResponse,
  readResponse,
  deleteResponse,
  cancelResponse,
  responseInputItems,
  embeddings,
  speech,
  createTranscription,
  proxiedChat,
  listModels,
  estimate,
  // Vector memory store
  memoryQuery,
  memoryIngest,
  memoryStatus,
  memoryList,
  memoryDelete,
  memoryTenantCreate,
  memoryTenantStatus,
  memoryTenantDelete,
  // Named by the guidance of errors
  status,
  // Admin
  adminListAgents,
  adminSetAgentStatus,
  adminAgentBalance,
  adminBalance,
  adminCloseAgent,
  adminCreditAgent,
  adminReleaseReservation,
  // Routes that the specification does not list
  ownSpendLimit.set,
  ownSpendLimit.clear,
  ownPolicies.list,
  ownPolicies.reset,
  ownAllowlistMode.read,
  ownAllowlistMode.set,
  proxiedEmbeddings,
  modelDetail,
  createClientSecret,
  createMediaSession,
  controlMediaSession,
  readMediaSession,
  closeSelf,
  listCreditThresholds,
  createCreditThreshold,
  deleteCreditThreshold,
  forecastX402,
  mcp,
  carrierCallback,
  platformCallEnd,
  platformPreCall,
  adminListSuspensions,
  adminSuspendTelephony,
  adminReadCallLimit,
  adminSetCallLimit,
  adminLiftSuspension,
  adminLiftSuspensions,
  adminListDevelopers,
  adminListProcesses,
  adminListAlarms,
  adminListActs,
  sellSpeech,
  sellTranscript,
  sellTranslatedTranscript,
  sellTranslation,
  sellTransliteration,
  sellLanguage,
  listenToFile,
  speakText,
  speakFluxText,
  grantToken,
  listProjectModels,
  projectModel,
  createDocumentJob,
  readDocumentJob,
  playgroundVendors,
  spendSummary,
  ownActivity,
  ownUsageSummary,
  ownCoverage,
  ownReputation,
  reportToolCall,
  callerLimits,
  onrampGeo,
  listOnrampSessions,
  prepareTransfer,
  executeTransfer,
  confirmTransfer,
  linkTransferOnramp,
  listTransfers,
  startCashOut,
  listCashOuts,
  readCashOut,
  reportCashOutSend,
  cancelCashOut,
  capabilities,
  openapi,
  metrics,
] as const;
