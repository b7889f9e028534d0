import { KEY_COLUMNS, type Section, words } from './section.ts';

/** Tables whose rows belong to the account. */
export const ACCOUNT_SECTIONS: readonly Section[] = [
  {
    type: 'account',
    table: 'developers',
    owner: 'account_id',
    columns: words('account_id wallet display_name email created_at'),
    key: [['account_id', 'text']],
  },
  {
    type: 'developer_key',
    table: 'developer_keys',
    owner: 'account_id',
    columns: [...KEY_COLUMNS, ...words('expires_at')],
    key: [['id', 'integer']],
  },
  {
    type: 'member',
    table: 'members',
    owner: 'account_id',
    columns: words('wallet role email invited_by created_at'),
    key: [['wallet', 'text']],
  },
  {
    type: 'invite',
    table: 'invites',
    owner: 'account_id',
    columns: words(
      'id email role invited_by created_at expires_at sends sent_at ended_at ended_as',
    ),
    key: [['id', 'integer']],
  },
  {
    type: 'provider_key',
    table: 'provider_keys',
    owner: 'account_id',
    columns: words(
      'id provider key_prefix label enabled created_by last_used_at created_at updated_at',
    ),
    key: [['id', 'integer']],
  },
  {
    type: 'policy',
    table: 'policies',
    owner: 'account_id',
    columns: words(`
      id agent_id kind match_key match_kind limit_raw limit_floor_raw limit_ceiling_raw
      window_kind window_seconds calendar_unit starts_at expires_at effective_from
      effective_until action label created_at updated_at revoked_at`),
    key: [['id', 'integer']],
  },
  {
    type: 'webhook',
    table: 'webhooks',
    owner: 'account_id',
    columns: words(`
      id url events scope scope_value description active inactive_reason max_per_second
      created_at`),
    key: [['id', 'integer']],
  },
  {
    type: 'phone_number',
    table: 'phone_numbers',
    owner: 'account_id',
    columns: words(`
      id agent_id phone_number area_code status monthly_rental_raw paid_months
      next_renewal_at grace_until released_at release_reason created_at`),
    key: [['id', 'integer']],
  },
  {
    type: 'orchestrator_connection',
    table: 'orchestrator_connections',
    owner: 'account_id',
    columns: words('id agent_id provider label active last_event_at created_at updated_at'),
    key: [['id', 'integer']],
  },
  {
    type: 'transfer',
    table: 'transfers',
    owner: 'account_id',
    columns: words(`
      id direction agent_id counterparty_agent_id from_address to_address amount_raw nonce state
      tx_hash failure_reason onramp_id expires_at created_at`),
    key: [
      ['created_at', 'timestamptz'],
      ['id', 'text'],
    ],
  },
  {
    type: 'cash_out',
    table: 'cash_outs',
    owner: 'account_id',
    columns: words(`
      id ref source_kind agent_id state owner_address agent_wallet requested_raw final_raw
      fiat_estimate deposit_address sale_id transfer_id send_tx_hash failure_reason created_at updated_at`),
    key: [['id', 'bigint']],
  },
  {
    type: 'onramp_session',
    table: 'onramp_sessions',
    owner: 'account_id',
    columns: words('id agent_id destination fiat_amount created_at'),
    key: [
      ['created_at', 'timestamptz'],
      ['id', 'text'],
    ],
  },
  {
    type: 'do_not_call',
    table: 'do_not_call',
    owner: 'account_id',
    columns: words('phone_number created_at'),
    key: [['phone_number', 'text']],
  },
  {
    type: 'call_batch',
    table: 'call_batches',
    owner: 'account_id',
    columns: words('id agent_id status paused_for created_at ended_at'),
    key: [
      ['created_at', 'timestamptz'],
      ['id', 'text'],
    ],
  },
  {
    type: 'webhook_delivery',
    table: 'webhook_deliveries',
    owner: 'account_id',
    columns: words(`
      id delivery_id webhook_id event agent_wallet correlation_id status attempt
      status_code error created_at`),
    key: [['id', 'bigint']],
  },
  {
    type: 'event',
    table: 'events',
    owner: 'account_id',
    columns: words('position name agent_wallet correlation_id payload created_at'),
    key: [['position', 'bigint']],
  },
];
