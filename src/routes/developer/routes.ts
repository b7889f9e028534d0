import { agentAllowlistMode } from '../controls/allowlist-mode.ts';
import { agentPolicies, teamPolicies } from '../controls/policies.ts';
import { agentSpendLimit } from '../controls/spend-limit.ts';
import { listActivity } from './activity.ts';
import { listActions } from './agents/actions/list.ts';
import { reportOutcomeAsOwner } from './agents/actions/outcome.ts';
import { agentCallRecording } from './agents/calls/recording.ts';
import { agentCallReport } from './agents/calls/report.ts';
import { closeAgent } from './agents/close.ts';
import { agentCoverage } from './agents/coverage.ts';
import { createAgent } from './agents/create.ts';
import { agentDetail } from './agents/detail.ts';
import { agentFunding } from './agents/funding.ts';
import { agentGatewayUsage } from './agents/gateway-usage.ts';
import { clearAgentKeyBudget } from './agents/keys/budget/clear.ts';
import { setAgentKeyBudget } from './agents/keys/budget/set.ts';
import { listAgentKeys } from './agents/keys/list.ts';
import { mintAgentKey } from './agents/keys/mint.ts';
import { revokeAgentKey } from './agents/keys/revoke.ts';
import { rotateAgentKey } from './agents/keys/rotate.ts';
import { agentLimitChain } from './agents/limit-chain.ts';
import { listAgents } from './agents/list.ts';
import { buyAgentNumber } from './agents/numbers/buy.ts';
import { agentNumberCalls } from './agents/numbers/calls.ts';
import { agentNumber } from './agents/numbers/detail.ts';
import { listAgentNumbers } from './agents/numbers/list.ts';
import { releaseAgentNumber } from './agents/numbers/release.ts';
import { searchAgentNumbers } from './agents/numbers/search.ts';
import { testCallNumber } from './agents/numbers/test-call.ts';
import { testRingNumber } from './agents/numbers/test-ring.ts';
import { agentNumberUsage } from './agents/numbers/usage.ts';
import { preBorrow } from './agents/pre-borrow.ts';
import { renewAgentDelegation } from './agents/renew-delegation.ts';
import { agentReputation } from './agents/reputation.ts';
import { resolveAgentSpend } from './agents/resolve.ts';
import { agentsRollup } from './agents/rollup.ts';
import { readSelfServiceLock } from './agents/self-service-lock/read.ts';
import { setSelfServiceLock } from './agents/self-service-lock/set.ts';
import { setAgentStatus } from './agents/status.ts';
import { changeVoice } from './agents/voice/change.ts';
import { changeVoiceByPost } from './agents/voice/change-by-post.ts';
import { readVoice } from './agents/voice/read.ts';
import { analyticsSummary } from './analytics/summary.ts';
import { logout } from './auth/logout.ts';
import { verifyWallet } from './auth/verify.ts';
import { developerBalances } from './balances.ts';
import { billingExport } from './billing/export.ts';
import { billingInvoice } from './billing/invoice.ts';
import { billingMonthToDate } from './billing/mtd.ts';
import { recentCharges } from './charges/recent.ts';
import { fleetCoverage } from './coverage.ts';
import { listEvents } from './events.ts';
import { exportEverything } from './export.ts';
import { gatewayModels } from './gateway/models.ts';
import { createDeveloperKey } from './keys/create.ts';
import { listDeveloperKeys } from './keys/list.ts';
import { revokeDeveloperKey } from './keys/revoke.ts';
import { rotateDeveloperKey } from './keys/rotate.ts';
import { groupedLedger } from './ledger.ts';
import { changeAccount } from './me.ts';
import { changeOrchestrator } from './orchestrators/change.ts';
import { connectOrchestrator } from './orchestrators/create.ts';
import { listOrchestrators } from './orchestrators/list.ts';
import { removeOrchestrator } from './orchestrators/remove.ts';
import { rotateOrchestrator } from './orchestrators/rotate.ts';
import { addDoNotCall } from './phone/do-not-call/add.ts';
import { listDoNotCall } from './phone/do-not-call/list.ts';
import { removeDoNotCall } from './phone/do-not-call/remove.ts';
import { listPhoneNumbers } from './phone/numbers.ts';
import { accountCap } from './policies/account-cap.ts';
import { policyDefaults } from './policies/defaults.ts';
import { developerProfile } from './profile.ts';
import { listProviderKeys } from './provider-keys/list.ts';
import { removeProviderKey } from './provider-keys/remove.ts';
import { setProviderKey } from './provider-keys/set.ts';
import { toggleProviderKey } from './provider-keys/toggle.ts';
import { listRefusals } from './refusals.ts';
import { searchAccount } from './search.ts';
import { spendSeries } from './spend-series.ts';
import { acceptInvite } from './team/invites/accept.ts';
import { createInvite } from './team/invites/create.ts';
import { listInvites } from './team/invites/list.ts';
import { removeInvite } from './team/invites/remove.ts';
import { resendInvite } from './team/invites/resend.ts';
import { changeMember } from './team/members/change.ts';
import { listMembers } from './team/members/list.ts';
import { removeMember } from './team/members/remove.ts';
import { usageSummary } from './usage/summary.ts';
import { deliveryDetail } from './webhook-deliveries/detail.ts';
import { listDeliveries } from './webhook-deliveries/list.ts';
import { changeWebhook } from './webhooks/change.ts';
import { createWebhook } from './webhooks/create.ts';
import { listWebhookDeliveries } from './webhooks/deliveries.ts';
import { webhookDetail } from './webhooks/detail.ts';
import { listEventKinds } from './webhooks/events.ts';
import { listWebhooks } from './webhooks/list.ts';
import { recoverWebhook } from './webhooks/recover.ts';
import { webhookRecovery } from './webhooks/recovery.ts';
import { removeWebhook } from './webhooks/remove.ts';
import { retryWebhookDelivery } from './webhooks/retry-delivery.ts';
import { rotateWebhookSecret } from './webhooks/rotate-secret.ts';
import { testWebhook } from './webhooks/test.ts';

/** Routes of developers, in the order of the specification. Routes that are not in the specification stand last. */
export const DEVELOPER_ROUTES = [
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
  teamPolicies.create,
  teamPolicies.change,
  teamPolicies.revoke,
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
  // Routes that the specification does not list
  logout,
  changeAccount,
  listMembers,
  changeMember,
  removeMember,
  listInvites,
  createInvite,
  acceptInvite,
  resendInvite,
  removeInvite,
  agentSpendLimit.read,
  agentSpendLimit.set,
  agentSpendLimit.clear,
  agentPolicies.list,
  agentPolicies.create,
  agentPolicies.change,
  agentPolicies.revoke,
  agentPolicies.reset,
  agentAllowlistMode.read,
  agentAllowlistMode.set,
  readSelfServiceLock,
  setSelfServiceLock,
  setAgentKeyBudget,
  clearAgentKeyBudget,
  preBorrow,
  teamPolicies.list,
  accountCap,
  policyDefaults,
  rotateDeveloperKey,
  agentsRollup,
  agentGatewayUsage,
  recentCharges,
  gatewayModels,
  agentLimitChain,
  resolveAgentSpend,
  renewAgentDelegation,
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
  testRingNumber,
  listDoNotCall,
  addDoNotCall,
  removeDoNotCall,
  connectOrchestrator,
  listOrchestrators,
  rotateOrchestrator,
  changeOrchestrator,
  removeOrchestrator,
  listActivity,
  spendSeries,
  usageSummary,
  analyticsSummary,
  fleetCoverage,
  agentCoverage,
  groupedLedger,
  agentReputation,
  billingMonthToDate,
  billingInvoice,
  billingExport,
  exportEverything,
  listRefusals,
  searchAccount,
] as const;
