import { adminAgentBalance } from './admin/agents/balance.ts';
import { adminCloseAgent } from './admin/agents/close.ts';
import { adminCreditAgent } from './admin/agents/credit.ts';
import { adminListAgents } from './admin/agents/list.ts';
import { adminSetAgentStatus } from './admin/agents/status.ts';
import { adminBalance } from './admin/balances/detail.ts';
import { adminReleaseReservation } from './admin/reservations/release.ts';
import { adminLiftSuspension } from './admin/telephony-suspensions/lift.ts';
import { adminLiftSuspensions } from './admin/telephony-suspensions/lift-all.ts';
import { adminListSuspensions } from './admin/telephony-suspensions/list.ts';
import { adminSuspendTelephony } from './admin/telephony-suspensions/suspend.ts';
import { reportOutcome } from './agents/actions/outcome.ts';
import { readOwnAllowlistMode } from './agents/allowlist-mode/read.ts';
import { setOwnAllowlistMode } from './agents/allowlist-mode/set.ts';
import { agentBalance } from './agents/balance.ts';
import { closeSelf } from './agents/close.ts';
import { creditRemaining } from './agents/credit-remaining.ts';
import { createCreditThreshold } from './agents/credit-thresholds/create.ts';
import { deleteCreditThreshold } from './agents/credit-thresholds/delete.ts';
import { listCreditThresholds } from './agents/credit-thresholds/list.ts';
import { syncLedger } from './agents/ledger/sync.ts';
import { loanState } from './agents/loan-state.ts';
import { changeOwnPolicy } from './agents/policies/change.ts';
import { createOwnPolicy } from './agents/policies/create.ts';
import { listOwnPolicies } from './agents/policies/list.ts';
import { resetOwnPolicy } from './agents/policies/reset.ts';
import { revokeOwnPolicy } from './agents/policies/revoke.ts';
import { reservationDetail } from './agents/reservations/detail.ts';
import { clearOwnSpendLimit } from './agents/spend-limit/clear.ts';
import { readOwnSpendLimit } from './agents/spend-limit/read.ts';
import { setOwnSpendLimit } from './agents/spend-limit/set.ts';
import { listTransactions } from './agents/transactions.ts';
import { speech } from './audio/speech.ts';
import { createTranscription } from './audio/transcriptions.ts';
import { grantToken } from './auth/grant.ts';
import { hangUpCall } from './calls/hang-up.ts';
import { placeCall } from './calls/place.ts';
import { readCall } from './calls/read.ts';
import { callRecording } from './calls/recording.ts';
import { callReport } from './calls/report.ts';
import { capabilities } from './capabilities.ts';
import { chatCompletions } from './chat/completions.ts';
import { memoryDelete } from './db/vectordb/delete.ts';
import { memoryIngest } from './db/vectordb/ingest.ts';
import { memoryList } from './db/vectordb/list.ts';
import { memoryQuery } from './db/vectordb/query.ts';
import { memoryStatus } from './db/vectordb/status.ts';
import { memoryTenantCreate } from './db/vectordb/tenant/create.ts';
import { memoryTenantDelete } from './db/vectordb/tenant/delete.ts';
import { memoryTenantStatus } from './db/vectordb/tenant/status.ts';
import { listActions } from './developer/agents/actions/list.ts';
import { reportOutcomeAsOwner } from './developer/agents/actions/outcome.ts';
import { readAgentAllowlistMode } from './developer/agents/allowlist-mode/read.ts';
import { setAgentAllowlistMode } from './developer/agents/allowlist-mode/set.ts';
import { agentCallRecording } from './developer/agents/calls/recording.ts';
import { agentCallReport } from './developer/agents/calls/report.ts';
import { closeAgent } from './developer/agents/close.ts';
import { createAgent } from './developer/agents/create.ts';
import { agentDetail } from './developer/agents/detail.ts';
import { agentFunding } from './developer/agents/funding.ts';
import { agentGatewayUsage } from './developer/agents/gateway-usage.ts';
import { clearAgentKeyBudget } from './developer/agents/keys/budget/clear.ts';
import { setAgentKeyBudget } from './developer/agents/keys/budget/set.ts';
import { listAgentKeys } from './developer/agents/keys/list.ts';
import { mintAgentKey } from './developer/agents/keys/mint.ts';
import { revokeAgentKey } from './developer/agents/keys/revoke.ts';
import { rotateAgentKey } from './developer/agents/keys/rotate.ts';
import { agentLimitChain } from './developer/agents/limit-chain.ts';
import { listAgents } from './developer/agents/list.ts';
import { buyAgentNumber } from './developer/agents/numbers/buy.ts';
import { agentNumberCalls } from './developer/agents/numbers/calls.ts';
import { agentNumber } from './developer/agents/numbers/detail.ts';
import { listAgentNumbers } from './developer/agents/numbers/list.ts';
import { releaseAgentNumber } from './developer/agents/numbers/release.ts';
import { searchAgentNumbers } from './developer/agents/numbers/search.ts';
import { testCallNumber } from './developer/agents/numbers/test-call.ts';
import { testRingNumber } from './developer/agents/numbers/test-ring.ts';
import { agentNumberUsage } from './developer/agents/numbers/usage.ts';
import { changeAgentPolicy } from './developer/agents/policies/change.ts';
import { createAgentPolicy } from './developer/agents/policies/create.ts';
import { listAgentPolicies } from './developer/agents/policies/list.ts';
import { resetAgentPolicy } from './developer/agents/policies/reset.ts';
import { revokeAgentPolicy } from './developer/agents/policies/revoke.ts';
import { preBorrow } from './developer/agents/pre-borrow.ts';
import { renewAgentDelegation } from './developer/agents/renew-delegation.ts';
import { resolveAgentSpend } from './developer/agents/resolve.ts';
import { agentsRollup } from './developer/agents/rollup.ts';
import { readSelfServiceLock } from './developer/agents/self-service-lock/read.ts';
import { setSelfServiceLock } from './developer/agents/self-service-lock/set.ts';
import { clearAgentSpendLimit } from './developer/agents/spend-limit/clear.ts';
import { readAgentSpendLimit } from './developer/agents/spend-limit/read.ts';
import { setAgentSpendLimit } from './developer/agents/spend-limit/set.ts';
import { setAgentStatus } from './developer/agents/status.ts';
import { changeVoice } from './developer/agents/voice/change.ts';
import { changeVoiceByPost } from './developer/agents/voice/change-by-post.ts';
import { readVoice } from './developer/agents/voice/read.ts';
import { verifyWallet } from './developer/auth/verify.ts';
import { developerBalances } from './developer/balances.ts';
import { recentCharges } from './developer/charges/recent.ts';
import { listEvents } from './developer/events.ts';
import { gatewayModels } from './developer/gateway/models.ts';
import { createDeveloperKey } from './developer/keys/create.ts';
import { listDeveloperKeys } from './developer/keys/list.ts';
import { revokeDeveloperKey } from './developer/keys/revoke.ts';
import { rotateDeveloperKey } from './developer/keys/rotate.ts';
import { addDoNotCall } from './developer/phone/do-not-call/add.ts';
import { listDoNotCall } from './developer/phone/do-not-call/list.ts';
import { removeDoNotCall } from './developer/phone/do-not-call/remove.ts';
import { listPhoneNumbers } from './developer/phone/numbers.ts';
import { accountCap } from './developer/policies/account-cap.ts';
import { changeTeamPolicy } from './developer/policies/change.ts';
import { createTeamPolicy } from './developer/policies/create.ts';
import { policyDefaults } from './developer/policies/defaults.ts';
import { listTeamPolicies } from './developer/policies/list.ts';
import { revokeTeamPolicy } from './developer/policies/revoke.ts';
import { developerProfile } from './developer/profile.ts';
import { listProviderKeys } from './developer/provider-keys/list.ts';
import { removeProviderKey } from './developer/provider-keys/remove.ts';
import { setProviderKey } from './developer/provider-keys/set.ts';
import { toggleProviderKey } from './developer/provider-keys/toggle.ts';
import { deliveryDetail } from './developer/webhook-deliveries/detail.ts';
import { listDeliveries } from './developer/webhook-deliveries/list.ts';
import { changeWebhook } from './developer/webhooks/change.ts';
import { createWebhook } from './developer/webhooks/create.ts';
import { listWebhookDeliveries } from './developer/webhooks/deliveries.ts';
import { webhookDetail } from './developer/webhooks/detail.ts';
import { listEventKinds } from './developer/webhooks/events.ts';
import { listWebhooks } from './developer/webhooks/list.ts';
import { recoverWebhook } from './developer/webhooks/recover.ts';
import { webhookRecovery } from './developer/webhooks/recovery.ts';
import { removeWebhook } from './developer/webhooks/remove.ts';
import { retryWebhookDelivery } from './developer/webhooks/retry-delivery.ts';
import { rotateWebhookSecret } from './developer/webhooks/rotate-secret.ts';
import { testWebhook } from './developer/webhooks/test.ts';
import { embeddings } from './embeddings.ts';
import { estimate } from './estimate.ts';
import { health } from './health.ts';
import { sellLanguage } from './lid.ts';
import { listenToFile } from './listen/transcribe.ts';
import { proxiedChat } from './llm/chat/completions.ts';
import { proxiedEmbeddings } from './llm/embeddings.ts';
import { markets } from './markets.ts';
import { mcp } from './mcp.ts';
import { metrics } from './metrics.ts';
import { modelDetail } from './models/detail.ts';
import { listModels } from './models/list.ts';
import { buyOwnNumber } from './numbers/buy.ts';
import { openapi } from './openapi.ts';
import { playgroundVendors } from './playground/vendors.ts';
import { projectModel } from './projects/models/detail.ts';
import { listProjectModels } from './projects/models/list.ts';
import { proxyCheck } from './proxy/check.ts';
import { proxyFetch } from './proxy/fetch.ts';
import { createClientSecret } from './realtime/client-secrets.ts';
import { speakText } from './speak/synthesize.ts';
import { status } from './status.ts';
import { sellTranscript } from './stt.ts';
import { sellTranslatedTranscript } from './stt-translate.ts';
import { carrierCallback } from './telephony/callback.ts';
import { sellTranslation } from './translate.ts';
import { sellTransliteration } from './transliterate.ts';
import { sellSpeech } from './tts.ts';
import { estimateX402 } from './x402/estimate.ts';
import { forecastX402 } from './x402/forecast.ts';

/** Every route, in the order of the specification's Endpoints; what it does not list stands last. */
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
  readOwnSpendLimit,
  estimateX402,
  reportOutcome,
  createOwnPolicy,
  changeOwnPolicy,
  revokeOwnPolicy,
  syncLedger,
  placeCall,
  readCall,
  hangUpCall,
  callReport,
  callRecording,
  buyOwnNumber,
  // Developer keys
  createDeveloperKey,
  listDeveloperKeys,
  revokeDeveloperKey,
  // Developer agents
  createAgent,
  listAgents,
  agentDetail,
  setAgentStatus,
  closeAgent,
  mintAgentKey,
  listAgentKeys,
  revokeAgentKey,
  rotateAgentKey,
  listActions,
  reportOutcomeAsOwner,
  readVoice,
  changeVoice,
  // Developer account
  verifyWallet,
  developerProfile,
  developerBalances,
  createTeamPolicy,
  changeTeamPolicy,
  revokeTeamPolicy,
  // Webhooks
  createWebhook,
  listWebhooks,
  webhookDetail,
  changeWebhook,
  removeWebhook,
  listEventKinds,
  rotateWebhookSecret,
  testWebhook,
  listWebhookDeliveries,
  retryWebhookDelivery,
  listDeliveries,
  deliveryDetail,
  // Phone
  buyAgentNumber,
  listAgentNumbers,
  releaseAgentNumber,
  agentNumberCalls,
  agentCallReport,
  agentCallRecording,
  agentNumberUsage,
  testCallNumber,
  // Inference gateway
  chatCompletions,
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
  // What the error guidance refers to
  status,
  // Admin
  adminListAgents,
  adminSetAgentStatus,
  adminAgentBalance,
  adminBalance,
  adminCloseAgent,
  adminCreditAgent,
  adminReleaseReservation,
  // Beside the specification
  setOwnSpendLimit,
  clearOwnSpendLimit,
  listOwnPolicies,
  resetOwnPolicy,
  readOwnAllowlistMode,
  setOwnAllowlistMode,
  readAgentSpendLimit,
  setAgentSpendLimit,
  clearAgentSpendLimit,
  listAgentPolicies,
  createAgentPolicy,
  changeAgentPolicy,
  revokeAgentPolicy,
  resetAgentPolicy,
  readAgentAllowlistMode,
  setAgentAllowlistMode,
  readSelfServiceLock,
  setSelfServiceLock,
  setAgentKeyBudget,
  clearAgentKeyBudget,
  preBorrow,
  listTeamPolicies,
  accountCap,
  policyDefaults,
  rotateDeveloperKey,
  agentsRollup,
  agentGatewayUsage,
  recentCharges,
  proxiedEmbeddings,
  modelDetail,
  createClientSecret,
  gatewayModels,
  closeSelf,
  listCreditThresholds,
  createCreditThreshold,
  deleteCreditThreshold,
  agentLimitChain,
  resolveAgentSpend,
  renewAgentDelegation,
  forecastX402,
  mcp,
  agentFunding,
  listProviderKeys,
  setProviderKey,
  toggleProviderKey,
  removeProviderKey,
  recoverWebhook,
  webhookRecovery,
  listEvents,
  changeVoiceByPost,
  searchAgentNumbers,
  agentNumber,
  listPhoneNumbers,
  carrierCallback,
  testRingNumber,
  adminListSuspensions,
  adminSuspendTelephony,
  adminLiftSuspension,
  adminLiftSuspensions,
  listDoNotCall,
  addDoNotCall,
  removeDoNotCall,
  sellSpeech,
  sellTranscript,
  sellTranslatedTranscript,
  sellTranslation,
  sellTransliteration,
  sellLanguage,
  listenToFile,
  speakText,
  grantToken,
  listProjectModels,
  projectModel,
  playgroundVendors,
  capabilities,
  openapi,
  metrics,
] as const;
