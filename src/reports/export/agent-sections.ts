import { KEY_COLUMNS, type Section, words } from './section.ts';

/** Tables whose rows belong to an agent of the account. */
export const AGENT_SECTIONS: readonly Section[] = [
  {
    type: 'agent',
    table: 'agents',
    owner: 'id',
    columns: words(`
      id name status suspended_reason mode funding_mode wallet_address borrow_limit_raw
      max_rate_bps expiry_seconds operator_expiry allowlist_mode self_service_locked
      created_at updated_at closed_at`),
    key: [['id', 'integer']],
  },
  {
    type: 'agent_funds',
    table: 'agent_funds',
    owner: 'agent_id',
    columns: words(
      'agent_id spendable_raw held_raw credited_raw consumed_raw wallet_raw promised_raw',
    ),
    key: [['agent_id', 'integer']],
  },
  {
    type: 'agent_key',
    table: 'agent_keys',
    owner: 'agent_id',
    columns: [...KEY_COLUMNS, ...words('agent_id root_id prompt_caching')],
    key: [['id', 'integer']],
  },
  {
    type: 'voice_settings',
    table: 'voice_settings',
    owner: 'agent_id',
    columns: words(`
      agent_id voice_mode system_prompt begin_message voice model webhook_url inbound_url
      record_calls report_calls conversation tools calls_at_once updated_at`),
    key: [['agent_id', 'integer']],
  },
  {
    type: 'credit_threshold',
    table: 'credit_thresholds',
    owner: 'agent_id',
    columns: words('id agent_id threshold_bps last_state last_fired_at webhook_id created_at'),
    key: [['id', 'integer']],
  },
  {
    type: 'charge',
    table: 'charges',
    owner: 'agent_id',
    columns: words(`
      id agent_id key_id target_url target_host method status cost_raw model rail usage
      task_id action_id customer_id session_id payee response_status_code latency_ms
      overhead_ms upstream_ms created_at`),
    key: [['id', 'bigint']],
  },
  {
    type: 'posting',
    table: 'postings',
    owner: 'agent_id',
    columns: words('id agent_id code asked_raw debits credits amounts at'),
    key: [
      ['at', 'timestamptz'],
      ['id', 'text'],
    ],
  },
  {
    type: 'reservation',
    table: 'reservations',
    owner: 'agent_id',
    columns: words(`
      id nonce agent_id key_id wallet payee value_raw valid_before x402_version network
      target_url target_host method task_id action_id customer_id state refused tx_hash
      response_status_code latency_ms reserved_at sent_at decided_at corrected_at`),
    key: [['id', 'bigint']],
  },
  {
    type: 'proxy_call',
    table: 'proxy_passthroughs',
    owner: 'agent_id',
    columns: words(`
      id agent_id key_id target_url method response_status_code latency_ms task_id
      action_id cost_raw created_at`),
    key: [['id', 'bigint']],
  },
  {
    type: 'payout',
    table: 'payouts',
    owner: 'agent_id',
    columns: words('nonce agent_id kind wallet payee amount_raw state tx_hash created_at done_at'),
    key: [['nonce', 'text']],
  },
  {
    type: 'reconciled_event',
    table: 'reconciled_events',
    owner: 'agent_id',
    columns: words(`
      id agent_id at kind model_or_tool cost_raw prompt_tokens completion_tokens label
      created_at`),
    key: [
      ['at', 'timestamptz'],
      ['id', 'bigint'],
    ],
  },
  {
    type: 'platform_call',
    table: 'platform_calls',
    owner: 'agent_id',
    columns: words(`
      agent_id provider call_id revision cost_raw host task_id customer_id
      duration_seconds counted_at updated_at`),
    key: [
      ['provider', 'text'],
      ['call_id', 'text'],
    ],
  },
  {
    type: 'action_outcome',
    table: 'action_outcomes',
    owner: 'agent_id',
    columns: words('agent_id action_id status score_bps note report_count reported_at'),
    key: [['action_id', 'text']],
  },
  {
    type: 'session',
    table: 'sessions',
    owner: 'agent_id',
    columns: words(`
      id agent_id key_id kind target model task_id action_id customer_id opened_at
      ended_at end_reason summary`),
    key: [
      ['opened_at', 'timestamptz'],
      ['id', 'text'],
    ],
  },
  {
    type: 'call',
    table: 'calls',
    owner: 'agent_id',
    columns: words(`
      id agent_id number_id direction from_number to_number status end_reason key_id
      task_id action_id customer_id max_spend_raw answered_by started_at ended_at
      duration_seconds transport_raw stt_raw tts_raw model_raw summary analysis batch_id
      batch_row created_at`),
    key: [
      ['created_at', 'timestamptz'],
      ['id', 'text'],
    ],
  },
];
