CREATE SEQUENCE "public"."proxy_call_ids" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1;--> statement-breakpoint
CREATE TABLE "agents" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "agents_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"account_id" text NOT NULL,
	"name" text NOT NULL,
	"status" text NOT NULL,
	"suspended_reason" text,
	"mode" text DEFAULT 'managed' NOT NULL,
	"funding_mode" text NOT NULL,
	"wallet_address" text,
	"borrow_limit_raw" bigint,
	"max_rate_bps" integer NOT NULL,
	"expiry_seconds" integer NOT NULL,
	"operator_expiry" bigint,
	"delegation_tx_hash" text,
	"provision_attempts" integer DEFAULT 0 NOT NULL,
	"provision_next_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	"closed_at" timestamp with time zone,
	"allowlist_mode" text DEFAULT 'off' NOT NULL,
	"self_service_locked" boolean DEFAULT false NOT NULL,
	CONSTRAINT "agents_wallet_address_unique" UNIQUE("wallet_address"),
	CONSTRAINT "agents_status" CHECK ("agents"."status" in ('pending_delegation', 'active', 'suspended', 'closed')),
	CONSTRAINT "agents_allowlist_mode" CHECK ("agents"."allowlist_mode" in ('off', 'host', 'vendor', 'both')),
	CONSTRAINT "agents_funding_mode" CHECK ("agents"."funding_mode" in ('wallet', 'credit_line'))
);
--> statement-breakpoint
CREATE TABLE "operator_permissions" (
	"agent_id" integer PRIMARY KEY NOT NULL,
	"operator" text NOT NULL,
	"borrow_limit_raw" bigint NOT NULL,
	"max_rate_bps" integer NOT NULL,
	"expiry" bigint NOT NULL,
	"on_behalf_of" text NOT NULL,
	"tx_hash" text NOT NULL,
	"approved" boolean NOT NULL
);
--> statement-breakpoint
CREATE TABLE "action_outcomes" (
	"agent_id" integer NOT NULL,
	"action_id" text NOT NULL,
	"status" text NOT NULL,
	"score_bps" integer,
	"note" text,
	"report_count" integer DEFAULT 1 NOT NULL,
	"reported_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "action_outcomes_agent_id_action_id_pk" PRIMARY KEY("agent_id","action_id"),
	CONSTRAINT "action_outcomes_status" CHECK ("action_outcomes"."status" in ('success', 'failure', 'partial', 'unknown'))
);
--> statement-breakpoint
CREATE TABLE "action_totals" (
	"agent_id" integer NOT NULL,
	"action_id" text NOT NULL,
	"calls" integer NOT NULL,
	"spent_raw" bigint NOT NULL,
	"first_seen" timestamp with time zone NOT NULL,
	"last_seen" timestamp with time zone NOT NULL,
	CONSTRAINT "action_totals_agent_id_action_id_pk" PRIMARY KEY("agent_id","action_id")
);
--> statement-breakpoint
CREATE TABLE "free_action_totals" (
	"agent_id" integer NOT NULL,
	"action_id" text NOT NULL,
	"calls" integer NOT NULL,
	"first_seen" timestamp with time zone NOT NULL,
	"last_seen" timestamp with time zone NOT NULL,
	CONSTRAINT "free_action_totals_agent_id_action_id_pk" PRIMARY KEY("agent_id","action_id")
);
--> statement-breakpoint
CREATE TABLE "reconciled_events" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"agent_id" integer NOT NULL,
	"digest" text NOT NULL,
	"at" timestamp with time zone NOT NULL,
	"kind" text NOT NULL,
	"model_or_tool" text NOT NULL,
	"cost_raw" bigint NOT NULL,
	"prompt_tokens" integer,
	"completion_tokens" integer,
	"label" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "spend_totals" (
	"agent_id" integer NOT NULL,
	"day" date NOT NULL,
	"model" text NOT NULL,
	"rail" text NOT NULL,
	"calls" integer NOT NULL,
	"failed" integer NOT NULL,
	"cost_raw" bigint NOT NULL,
	CONSTRAINT "spend_totals_agent_id_day_model_rail_pk" PRIMARY KEY("agent_id","day","model","rail")
) WITH (fillfactor = 60);
--> statement-breakpoint
CREATE TABLE "developers" (
	"account_id" text PRIMARY KEY NOT NULL,
	"wallet" text NOT NULL,
	"display_name" text,
	"email" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"session_generation" integer DEFAULT 0 NOT NULL,
	CONSTRAINT "developers_wallet_unique" UNIQUE("wallet")
);
--> statement-breakpoint
CREATE TABLE "ended_sessions" (
	"account_id" text NOT NULL,
	"id" text NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	CONSTRAINT "ended_sessions_account_id_id_pk" PRIMARY KEY("account_id","id")
);
--> statement-breakpoint
CREATE TABLE "invalidations" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"agent_id" integer,
	"key_id" integer,
	"at" timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "agent_keys" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "agent_keys_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"digest" text NOT NULL,
	"prefix" text NOT NULL,
	"label" text,
	"permissions" text NOT NULL,
	"rotated_from" integer,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"last_used_at" timestamp with time zone,
	"revoked_at" timestamp with time zone,
	"agent_id" integer NOT NULL,
	"root_id" integer,
	"prompt_caching" text DEFAULT 'off' NOT NULL,
	CONSTRAINT "agent_keys_digest_unique" UNIQUE("digest"),
	CONSTRAINT "agent_keys_permissions" CHECK ("agent_keys"."permissions" in ('read', 'read_write')),
	CONSTRAINT "agent_keys_prompt_caching" CHECK ("agent_keys"."prompt_caching" in ('off', 'auto'))
);
--> statement-breakpoint
CREATE TABLE "developer_keys" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "developer_keys_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"digest" text NOT NULL,
	"prefix" text NOT NULL,
	"label" text,
	"permissions" text NOT NULL,
	"rotated_from" integer,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"last_used_at" timestamp with time zone,
	"revoked_at" timestamp with time zone,
	"account_id" text NOT NULL,
	"expires_at" timestamp with time zone,
	CONSTRAINT "developer_keys_digest_unique" UNIQUE("digest"),
	CONSTRAINT "developer_keys_permissions" CHECK ("developer_keys"."permissions" in ('read', 'read_write'))
);
--> statement-breakpoint
CREATE TABLE "agent_funds" (
	"agent_id" integer PRIMARY KEY NOT NULL,
	"account_id" text NOT NULL,
	"version" bigint DEFAULT 0 NOT NULL,
	"rules_version" bigint DEFAULT 0 NOT NULL,
	"spendable_raw" bigint DEFAULT 0 NOT NULL,
	"held_raw" bigint DEFAULT 0 NOT NULL,
	"credited_raw" bigint DEFAULT 0 NOT NULL,
	"consumed_raw" bigint DEFAULT 0 NOT NULL,
	"wallet_raw" bigint DEFAULT 0 NOT NULL,
	"promised_raw" bigint DEFAULT 0 NOT NULL,
	"counters" text,
	CONSTRAINT "agent_funds_spendable" CHECK ("agent_funds"."spendable_raw" >= 0),
	CONSTRAINT "agent_funds_held" CHECK ("agent_funds"."held_raw" >= 0),
	CONSTRAINT "agent_funds_promised" CHECK ("agent_funds"."promised_raw" >= 0),
	CONSTRAINT "agent_funds_balanced" CHECK ("agent_funds"."credited_raw" = "agent_funds"."spendable_raw" + "agent_funds"."held_raw" + "agent_funds"."consumed_raw")
) WITH (fillfactor = 40);
--> statement-breakpoint
CREATE TABLE "charges" (
	"id" bigserial NOT NULL,
	"agent_id" integer NOT NULL,
	"posting_id" text NOT NULL,
	"key_id" integer,
	"target_url" text NOT NULL,
	"target_host" text NOT NULL,
	"method" text NOT NULL,
	"status" text NOT NULL,
	"cost_raw" bigint NOT NULL,
	"model" text,
	"rail" text,
	"usage" jsonb NOT NULL,
	"task_id" text,
	"action_id" text,
	"customer_id" text,
	"session_id" text,
	"payee" text,
	"response_status_code" integer,
	"latency_ms" integer,
	"overhead_ms" integer,
	"upstream_ms" integer,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "charges_agent_id_id_pk" PRIMARY KEY("agent_id","id"),
	CONSTRAINT "charges_status" CHECK ("charges"."status" in ('success', 'failed'))
);
--> statement-breakpoint
CREATE TABLE "events" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"account_id" text,
	"agent_wallet" text,
	"correlation_id" text,
	"payload" jsonb NOT NULL,
	"webhook_id" integer,
	"position" bigint,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "holds" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"agent_id" integer NOT NULL,
	"amount_raw" bigint NOT NULL,
	"kind" text NOT NULL,
	"session_id" text,
	"node_id" text COLLATE "C" NOT NULL,
	"lease_epoch" integer NOT NULL,
	"key_root_id" integer,
	"task_id" text,
	"host" text,
	"payee" text,
	"opened_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "holds_amount" CHECK ("holds"."amount_raw" >= 0)
);
--> statement-breakpoint
CREATE TABLE "postings" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"agent_id" integer NOT NULL,
	"code" text NOT NULL,
	"asked_raw" bigint NOT NULL,
	"debits" text[] NOT NULL,
	"credits" text[] NOT NULL,
	"amounts" bigint[] NOT NULL,
	"at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "marketplace_jobs" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"agent_id" integer NOT NULL,
	"account_id" text NOT NULL,
	"vendor" text COLLATE "C" NOT NULL,
	"step" text DEFAULT 'submitting' NOT NULL,
	"asked" jsonb NOT NULL,
	"pages_held" integer NOT NULL,
	"held_raw" bigint NOT NULL,
	"vendor_job_id" text,
	"epoch" integer DEFAULT 0 NOT NULL,
	"looks" integer DEFAULT 0 NOT NULL,
	"due_at" timestamp with time zone,
	"deadline_at" timestamp with time zone NOT NULL,
	"verdict" jsonb,
	"cost_raw" bigint,
	"result" "bytea",
	"result_until" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"started_at" timestamp with time zone,
	"ended_at" timestamp with time zone,
	CONSTRAINT "marketplace_jobs_step" CHECK ("marketplace_jobs"."step" in ('submitting', 'queued', 'starting', 'running', 'ending', 'completed', 'failed'))
);
--> statement-breakpoint
CREATE TABLE "marketplace_tripwires" (
	"agent_id" integer NOT NULL,
	"vendor" text COLLATE "C" NOT NULL,
	"tripwire" text COLLATE "C" NOT NULL,
	"triggered_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "marketplace_tripwires_agent_id_vendor_tripwire_pk" PRIMARY KEY("agent_id","vendor","tripwire")
);
--> statement-breakpoint
CREATE TABLE "marketplace_vendors" (
	"vendor" text COLLATE "C" PRIMARY KEY NOT NULL,
	"status" text DEFAULT 'ok' NOT NULL,
	"failures" integer DEFAULT 0 NOT NULL,
	"checked_at" timestamp with time zone,
	"latency_ms" integer,
	"excerpt" text,
	"sold_at" timestamp with time zone,
	"sale_latency_ms" integer,
	"sale_failures" integer DEFAULT 0 NOT NULL,
	CONSTRAINT "marketplace_vendors_status" CHECK ("marketplace_vendors"."status" in ('ok', 'down'))
);
--> statement-breakpoint
CREATE TABLE "memory_chunks" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"item_id" text COLLATE "C" NOT NULL,
	"space_id" integer NOT NULL,
	"type" text NOT NULL,
	"content" text NOT NULL,
	"words" "tsvector" GENERATED ALWAYS AS (to_tsvector('english', regexp_replace(normalize(content, NFC),
          '[/\\_@<>:=?#~]|(?<![0-9])[.]|[.](?![0-9])', ' ', 'g'))
          || array_to_tsvector(array['space ' || space_id::text])) STORED NOT NULL,
	"terms" text[] NOT NULL,
	"vector" "bytea" NOT NULL,
	"version" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "memory_items" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"seq" bigserial NOT NULL,
	"space_id" integer NOT NULL,
	"agent_id" integer NOT NULL,
	"type" text NOT NULL,
	"text" text NOT NULL,
	"infer" boolean NOT NULL,
	"metadata" jsonb NOT NULL,
	"title" text,
	"source_id" text,
	"status" text NOT NULL,
	"claim" text COLLATE "C",
	"due_at" timestamp with time zone,
	"attempts" smallint DEFAULT 0 NOT NULL,
	"bytes" integer DEFAULT 0 NOT NULL,
	"spender" jsonb,
	"cost_raw" bigint DEFAULT 0 NOT NULL,
	"reason" text,
	"needs_raw" bigint,
	"waits" smallint DEFAULT 0 NOT NULL,
	"inferred_by" text,
	"infer_error" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "memory_items_type" CHECK ("memory_items"."type" in ('memory', 'knowledge')),
	CONSTRAINT "memory_items_status" CHECK ("memory_items"."status" in ('queued', 'processing', 'completed', 'failed'))
);
--> statement-breakpoint
CREATE TABLE "memory_purchases" (
	"item_id" text COLLATE "C" NOT NULL,
	"kind" text NOT NULL,
	"work_id" text COLLATE "C" NOT NULL,
	"model" text NOT NULL,
	"result" "bytea",
	CONSTRAINT "memory_purchases_item_id_kind_pk" PRIMARY KEY("item_id","kind"),
	CONSTRAINT "memory_purchases_kind" CHECK ("memory_purchases"."kind" in ('facts', 'vectors'))
);
--> statement-breakpoint
CREATE TABLE "memory_removals" (
	"space_id" integer NOT NULL,
	"version" bigint NOT NULL,
	"chunk_ids" bigint[] NOT NULL,
	"at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "memory_removals_space_id_version_pk" PRIMARY KEY("space_id","version")
);
--> statement-breakpoint
CREATE TABLE "memory_spaces" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "memory_spaces_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"agent_id" integer NOT NULL,
	"sub_tenant" text COLLATE "C" NOT NULL,
	"schema" jsonb,
	"model" text NOT NULL,
	"dims" integer NOT NULL,
	"memories" integer DEFAULT 0 NOT NULL,
	"knowledge" integer DEFAULT 0 NOT NULL,
	"version" bigint DEFAULT 0 NOT NULL,
	"forgotten_version" bigint DEFAULT 0 NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"deleted_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "memory_tenants" (
	"agent_id" integer PRIMARY KEY NOT NULL,
	"spaces" integer DEFAULT 0 NOT NULL,
	"items" integer DEFAULT 0 NOT NULL,
	"bytes" bigint DEFAULT 0 NOT NULL,
	"knowledge" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "awaited_deposits" (
	"agent_id" integer PRIMARY KEY NOT NULL,
	"from_block" bigint NOT NULL,
	"to_block" bigint NOT NULL,
	"looks" integer DEFAULT 0 NOT NULL,
	"found_at" timestamp with time zone DEFAULT now() NOT NULL,
	"next_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "chain_cursors" (
	"name" text COLLATE "C" PRIMARY KEY NOT NULL,
	"block_number" bigint NOT NULL,
	"block_hash" text NOT NULL,
	"claimed_by" text,
	"claimed_until" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "payouts" (
	"nonce" text COLLATE "C" PRIMARY KEY NOT NULL,
	"agent_id" integer NOT NULL,
	"kind" text NOT NULL,
	"wallet" text COLLATE "C" NOT NULL,
	"payee" text NOT NULL,
	"amount_raw" bigint NOT NULL,
	"state" text DEFAULT 'planned' NOT NULL,
	"valid_before" bigint,
	"tx_hash" text,
	"attempts" integer DEFAULT 0 NOT NULL,
	"next_at" timestamp with time zone DEFAULT now() NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"done_at" timestamp with time zone,
	CONSTRAINT "payouts_state" CHECK ("payouts"."state" in ('planned', 'submitted', 'done')),
	CONSTRAINT "payouts_kind" CHECK ("payouts"."kind" in ('close', 'sweep'))
);
--> statement-breakpoint
CREATE TABLE "proxy_passthroughs" (
	"id" bigint PRIMARY KEY DEFAULT nextval('proxy_call_ids') NOT NULL,
	"agent_id" integer NOT NULL,
	"key_id" integer,
	"target_url" text NOT NULL,
	"method" text NOT NULL,
	"response_status_code" integer NOT NULL,
	"latency_ms" integer NOT NULL,
	"task_id" text,
	"action_id" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"cost_raw" bigint DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE TABLE "reservations" (
	"nonce" text COLLATE "C" PRIMARY KEY NOT NULL,
	"id" bigint DEFAULT nextval('proxy_call_ids') NOT NULL,
	"hold_id" text COLLATE "C" NOT NULL,
	"agent_id" integer NOT NULL,
	"key_id" integer,
	"wallet" text COLLATE "C" NOT NULL,
	"payee" text NOT NULL,
	"value_raw" bigint NOT NULL,
	"valid_before" bigint NOT NULL,
	"signature" text NOT NULL,
	"x402_version" smallint NOT NULL,
	"network" text NOT NULL,
	"target_url" text NOT NULL,
	"target_host" text NOT NULL,
	"method" text NOT NULL,
	"task_id" text,
	"action_id" text,
	"customer_id" text,
	"state" text DEFAULT 'reserved' NOT NULL,
	"refused" boolean DEFAULT false NOT NULL,
	"tx_hash" text,
	"response_status_code" integer,
	"latency_ms" integer,
	"reserved_at" timestamp with time zone DEFAULT now() NOT NULL,
	"sent_at" timestamp with time zone,
	"decided_at" timestamp with time zone,
	"corrected_at" timestamp with time zone,
	CONSTRAINT "reservations_hold_id_unique" UNIQUE("hold_id"),
	CONSTRAINT "reservations_state" CHECK ("reservations"."state" in ('reserved', 'sent', 'pending_settlement', 'settled', 'expired_unsettled', 'payment_rejected', 'released'))
);
--> statement-breakpoint
CREATE TABLE "wallet_audits" (
	"name" text COLLATE "C" PRIMARY KEY NOT NULL,
	"from_block" bigint NOT NULL,
	"to_block" bigint NOT NULL,
	"after_agent_id" integer,
	"due_at" timestamp with time zone DEFAULT now() NOT NULL,
	"reread_from" bigint
);
--> statement-breakpoint
CREATE TABLE "wallet_differences" (
	"agent_id" integer PRIMARY KEY NOT NULL,
	"difference_raw" bigint NOT NULL,
	"floor_block" bigint NOT NULL,
	"searched_from" bigint,
	"looks" integer DEFAULT 0 NOT NULL,
	"passes" integer DEFAULT 0 NOT NULL,
	"told_raw" bigint,
	"found_at" timestamp with time zone DEFAULT now() NOT NULL,
	"next_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "call_batch_rows" (
	"batch_id" text COLLATE "C" NOT NULL,
	"seq" integer NOT NULL,
	"request" jsonb NOT NULL,
	"state" text NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"call_id" text COLLATE "C",
	"outcome" text,
	"reason" text,
	"cost_raw" bigint DEFAULT 0 NOT NULL,
	"due_at" timestamp with time zone,
	CONSTRAINT "call_batch_rows_batch_id_seq_pk" PRIMARY KEY("batch_id","seq"),
	CONSTRAINT "call_batch_rows_state" CHECK ("call_batch_rows"."state" in ('waiting', 'calling', 'done'))
);
--> statement-breakpoint
CREATE TABLE "call_batches" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"agent_id" integer NOT NULL,
	"account_id" text NOT NULL,
	"work_id" text COLLATE "C",
	"request" jsonb NOT NULL,
	"status" text NOT NULL,
	"paused_for" text,
	"due_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"ended_at" timestamp with time zone,
	CONSTRAINT "call_batches_status" CHECK ("call_batches"."status" in ('running', 'paused', 'canceled', 'completed'))
);
--> statement-breakpoint
CREATE TABLE "call_commands" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "call_commands_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"call_id" text COLLATE "C" NOT NULL,
	"work_id" text COLLATE "C",
	"command" jsonb NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"taken_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "call_limits" (
	"account_id" text PRIMARY KEY NOT NULL,
	"calls" integer NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "call_recordings" (
	"call_id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"agent_id" integer NOT NULL,
	"carrier" text NOT NULL,
	"carrier_recording_id" text,
	"status" text NOT NULL,
	"announced_at" timestamp with time zone NOT NULL,
	"began_ms" integer,
	"stopped_ms" integer,
	"duration_seconds" integer,
	"due_at" timestamp with time zone,
	"deleted_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "call_recordings_status" CHECK ("call_recordings"."status" in ('recording', 'stopped', 'ready', 'failed', 'deleted'))
);
--> statement-breakpoint
CREATE TABLE "call_tools" (
	"call_id" text COLLATE "C" NOT NULL,
	"tool_call_id" text COLLATE "C" NOT NULL,
	"name" text NOT NULL,
	"arguments" text NOT NULL,
	"outcome" text,
	"result" text,
	"cost_raw" bigint DEFAULT 0 NOT NULL,
	"at" timestamp with time zone DEFAULT now() NOT NULL,
	"ms" integer,
	CONSTRAINT "call_tools_call_id_tool_call_id_pk" PRIMARY KEY("call_id","tool_call_id"),
	CONSTRAINT "call_tools_outcome" CHECK ("call_tools"."outcome" in ('done', 'failed'))
);
--> statement-breakpoint
CREATE TABLE "call_turns" (
	"call_id" text COLLATE "C" NOT NULL,
	"seq" integer NOT NULL,
	"role" text NOT NULL,
	"content" text NOT NULL,
	"heard" text,
	"latency" jsonb,
	"at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "call_turns_call_id_seq_pk" PRIMARY KEY("call_id","seq")
);
--> statement-breakpoint
CREATE TABLE "calls" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"agent_id" integer NOT NULL,
	"account_id" text NOT NULL,
	"number_id" integer NOT NULL,
	"carrier" text NOT NULL,
	"carrier_call_id" text,
	"direction" text NOT NULL,
	"from_number" text NOT NULL,
	"to_number" text NOT NULL,
	"status" text NOT NULL,
	"terminal" boolean DEFAULT false NOT NULL,
	"end_reason" text,
	"handoff_data" text,
	"key_id" integer,
	"task_id" text NOT NULL,
	"task_value_bps" integer,
	"action_id" text,
	"customer_id" text,
	"work_id" text COLLATE "C",
	"max_spend_raw" bigint NOT NULL,
	"rates" jsonb NOT NULL,
	"options" jsonb NOT NULL,
	"carrier_status" text,
	"carrier_sequence" integer DEFAULT -1 NOT NULL,
	"answered_by" text,
	"streams_asked" integer DEFAULT 0 NOT NULL,
	"streams_opened" integer DEFAULT 0 NOT NULL,
	"due_at" timestamp with time zone,
	"started_at" timestamp with time zone,
	"ended_at" timestamp with time zone,
	"duration_seconds" integer,
	"transport_raw" bigint,
	"stt_raw" bigint,
	"tts_raw" bigint,
	"model_raw" bigint,
	"is_backstop" boolean DEFAULT false NOT NULL,
	"carrier_price_raw" bigint,
	"price_due_at" timestamp with time zone,
	"transfer_summary" text,
	"summary" jsonb,
	"report_until" timestamp with time zone,
	"analysis_due_at" timestamp with time zone,
	"analysis_claims" integer DEFAULT 0 NOT NULL,
	"analysis" jsonb,
	"batch_id" text COLLATE "C",
	"batch_row" integer,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "calls_status" CHECK ("calls"."status" in ('pending', 'in_progress', 'ending', 'completed', 'failed')),
	CONSTRAINT "calls_direction" CHECK ("calls"."direction" in ('inbound', 'outbound'))
);
--> statement-breakpoint
CREATE TABLE "do_not_call" (
	"account_id" text NOT NULL,
	"phone_number" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "do_not_call_account_id_phone_number_pk" PRIMARY KEY("account_id","phone_number")
);
--> statement-breakpoint
CREATE TABLE "calls_ended_early" (
	"carrier" text NOT NULL,
	"carrier_call_id" text NOT NULL,
	"status" text NOT NULL,
	"at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "calls_ended_early_carrier_carrier_call_id_pk" PRIMARY KEY("carrier","carrier_call_id")
);
--> statement-breakpoint
CREATE TABLE "phone_numbers" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "phone_numbers_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"agent_id" integer NOT NULL,
	"account_id" text NOT NULL,
	"carrier" text NOT NULL,
	"carrier_number_id" text,
	"phone_number" text NOT NULL,
	"area_code" text,
	"status" text NOT NULL,
	"monthly_rental_raw" bigint NOT NULL,
	"purchase_id" text COLLATE "C" NOT NULL,
	"key_id" integer,
	"task_id" text,
	"action_id" text,
	"customer_id" text,
	"paid_months" integer DEFAULT 0 NOT NULL,
	"next_renewal_at" timestamp with time zone,
	"grace_until" timestamp with time zone,
	"due_at" timestamp with time zone,
	"released_at" timestamp with time zone,
	"release_reason" text,
	"returned_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "phone_numbers_status" CHECK ("phone_numbers"."status" in ('buying', 'active', 'grace', 'released', 'failed'))
);
--> statement-breakpoint
CREATE TABLE "telephony_stops" (
	"reason" text PRIMARY KEY NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "telephony_suspensions" (
	"account_id" text PRIMARY KEY NOT NULL,
	"reason" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "voice_settings" (
	"agent_id" integer PRIMARY KEY NOT NULL,
	"voice_mode" text DEFAULT 'hosted' NOT NULL,
	"system_prompt" text,
	"begin_message" text,
	"voice" text,
	"model" text,
	"webhook_url" text,
	"inbound_url" text,
	"record_calls" boolean DEFAULT false NOT NULL,
	"report_calls" boolean DEFAULT false NOT NULL,
	"conversation" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"tools" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"secret_version" integer DEFAULT 1 NOT NULL,
	"calls_at_once" integer,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "voice_settings_mode" CHECK ("voice_settings"."voice_mode" in ('hosted', 'webhook'))
);
--> statement-breakpoint
CREATE TABLE "credit_thresholds" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "credit_thresholds_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"agent_id" integer NOT NULL,
	"threshold_bps" integer NOT NULL,
	"last_state" text NOT NULL,
	"last_fired_at" timestamp with time zone,
	"webhook_id" integer,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "policies" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "policies_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"account_id" text NOT NULL,
	"agent_id" integer,
	"kind" text NOT NULL,
	"match_key" text,
	"match_kind" text,
	"limit_raw" bigint NOT NULL,
	"limit_floor_raw" bigint,
	"limit_ceiling_raw" bigint,
	"window_kind" text NOT NULL,
	"window_seconds" integer,
	"calendar_unit" text,
	"starts_at" timestamp with time zone NOT NULL,
	"expires_at" bigint,
	"effective_from" bigint,
	"effective_until" bigint,
	"action" text DEFAULT 'block' NOT NULL,
	"label" text,
	"quality_throttle_floor_bps" integer,
	"quality_window_seconds" integer,
	"reserves" boolean DEFAULT false NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	"revoked_at" timestamp with time zone,
	CONSTRAINT "policies_limit" CHECK ("policies"."limit_raw" > 0),
	CONSTRAINT "policies_kind" CHECK ("policies"."kind" in ('task', 'api', 'vendor', 'session', 'key')),
	CONSTRAINT "policies_window_kind" CHECK ("policies"."window_kind" in ('rolling', 'calendar', 'once', 'session')),
	CONSTRAINT "policies_action" CHECK ("policies"."action" in ('block', 'suspend_agent'))
);
--> statement-breakpoint
CREATE TABLE "team_counters" (
	"policy_id" integer PRIMARY KEY NOT NULL,
	"held_raw" bigint NOT NULL,
	"head" bigint NOT NULL,
	"buckets" bigint[] NOT NULL,
	CONSTRAINT "team_counters_held" CHECK ("team_counters"."held_raw" >= 0)
) WITH (fillfactor = 40);
--> statement-breakpoint
CREATE TABLE "provider_keys" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "provider_keys_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"account_id" text NOT NULL,
	"provider" text NOT NULL,
	"sealed_key" "bytea" NOT NULL,
	"key_prefix" text NOT NULL,
	"label" text,
	"enabled" boolean DEFAULT true NOT NULL,
	"created_by" text NOT NULL,
	"last_used_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "provider_keys_one_each" UNIQUE("account_id","provider")
);
--> statement-breakpoint
CREATE TABLE "idempotency_keys" (
	"owner" text COLLATE "C" NOT NULL,
	"key" text COLLATE "C" NOT NULL,
	"method" text NOT NULL,
	"path" text NOT NULL,
	"work_id" text COLLATE "C" NOT NULL,
	"node_id" text COLLATE "C" NOT NULL,
	"lease_epoch" integer NOT NULL,
	"state" text NOT NULL,
	"answer" "bytea",
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	CONSTRAINT "idempotency_keys_owner_key_pk" PRIMARY KEY("owner","key")
);
--> statement-breakpoint
-- Windows of rate limits need not survive a crash of the database server.
CREATE UNLOGGED TABLE "rate_windows" (
	"bucket" text COLLATE "C" PRIMARY KEY NOT NULL,
	"started_at" timestamp with time zone NOT NULL,
	"taken" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "model_responses" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"agent_id" integer NOT NULL,
	"previous_id" text COLLATE "C",
	"item_ids" text[] NOT NULL,
	"bytes" integer NOT NULL,
	"sealed" "bytea" NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "leases" (
	"node_id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"epoch" integer NOT NULL,
	"expires_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "session_journal" (
	"session_id" text COLLATE "C" NOT NULL,
	"seq" integer NOT NULL,
	"epoch" integer NOT NULL,
	"cost_raw" bigint NOT NULL,
	"usage" "bytea" NOT NULL,
	"at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "session_journal_session_id_seq_pk" PRIMARY KEY("session_id","seq")
);
--> statement-breakpoint
CREATE TABLE "sessions" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"agent_id" integer NOT NULL,
	"key_id" integer,
	"kind" text NOT NULL,
	"target" text NOT NULL,
	"model" text NOT NULL,
	"account" text NOT NULL,
	"task_id" text,
	"action_id" text,
	"customer_id" text,
	"node_id" text COLLATE "C" NOT NULL,
	"lease_epoch" integer NOT NULL,
	"epoch" integer DEFAULT 1 NOT NULL,
	"opened_at" timestamp with time zone DEFAULT now() NOT NULL,
	"ended_at" timestamp with time zone,
	"end_reason" text,
	"summary" jsonb
);
--> statement-breakpoint
CREATE TABLE "managed_wallets" (
	"reference" text PRIMARY KEY NOT NULL,
	"address" text NOT NULL,
	"sealed_key" "bytea" NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "managed_wallets_address_unique" UNIQUE("address")
);
--> statement-breakpoint
CREATE TABLE "remote_wallets" (
	"reference" text PRIMARY KEY NOT NULL,
	"wallet_id" text NOT NULL,
	"address" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "remote_wallets_wallet_id_unique" UNIQUE("wallet_id"),
	CONSTRAINT "remote_wallets_address_unique" UNIQUE("address")
);
--> statement-breakpoint
CREATE TABLE "event_positions" (
	"id" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"last" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "webhook_deliveries" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"delivery_id" text COLLATE "C" NOT NULL,
	"webhook_id" integer NOT NULL,
	"account_id" text NOT NULL,
	"event_id" bigint,
	"event" text NOT NULL,
	"agent_wallet" text,
	"correlation_id" text,
	"payload" jsonb,
	"status" text DEFAULT 'pending' NOT NULL,
	"attempt" smallint DEFAULT 0 NOT NULL,
	"status_code" smallint,
	"error" text,
	"response_body" text,
	"due_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "webhook_deliveries_status" CHECK ("webhook_deliveries"."status" in ('pending', 'retrying', 'success', 'failed'))
);
--> statement-breakpoint
CREATE TABLE "webhook_recoveries" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "webhook_recoveries_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"webhook_id" integer NOT NULL,
	"account_id" text NOT NULL,
	"since" timestamp with time zone NOT NULL,
	"until" timestamp with time zone NOT NULL,
	"cursor_id" bigint DEFAULT 0 NOT NULL,
	"requeued" integer DEFAULT 0 NOT NULL,
	"finished_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "webhooks" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "webhooks_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"account_id" text NOT NULL,
	"url" text NOT NULL,
	"events" text[] NOT NULL,
	"scope" text NOT NULL,
	"scope_value" text,
	"description" text,
	"active" boolean DEFAULT true NOT NULL,
	"inactive_reason" text,
	"sealed_secret" "bytea" NOT NULL,
	"sealed_previous" "bytea",
	"previous_until" timestamp with time zone,
	"max_per_second" integer,
	"next_claim_at" timestamp with time zone,
	"failing_since" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "webhooks_scope" CHECK ("webhooks"."scope" in ('global', 'wallet', 'agent', 'loan'))
);
--> statement-breakpoint
ALTER TABLE "agents" ADD CONSTRAINT "agents_account_id_developers_account_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."developers"("account_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "operator_permissions" ADD CONSTRAINT "operator_permissions_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ended_sessions" ADD CONSTRAINT "ended_sessions_account_id_developers_account_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."developers"("account_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "agent_keys" ADD CONSTRAINT "agent_keys_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "developer_keys" ADD CONSTRAINT "developer_keys_account_id_developers_account_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."developers"("account_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "memory_chunks" ADD CONSTRAINT "memory_chunks_item_id_memory_items_id_fk" FOREIGN KEY ("item_id") REFERENCES "public"."memory_items"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "memory_items" ADD CONSTRAINT "memory_items_space_id_memory_spaces_id_fk" FOREIGN KEY ("space_id") REFERENCES "public"."memory_spaces"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "memory_purchases" ADD CONSTRAINT "memory_purchases_item_id_memory_items_id_fk" FOREIGN KEY ("item_id") REFERENCES "public"."memory_items"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "memory_spaces" ADD CONSTRAINT "memory_spaces_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "memory_tenants" ADD CONSTRAINT "memory_tenants_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "credit_thresholds" ADD CONSTRAINT "credit_thresholds_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "policies" ADD CONSTRAINT "policies_account_id_developers_account_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."developers"("account_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "policies" ADD CONSTRAINT "policies_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "provider_keys" ADD CONSTRAINT "provider_keys_account_id_developers_account_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."developers"("account_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "model_responses" ADD CONSTRAINT "model_responses_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhooks" ADD CONSTRAINT "webhooks_account_id_developers_account_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."developers"("account_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "agents_open_name" ON "agents" USING btree ("account_id","name") WHERE status <> 'closed';--> statement-breakpoint
CREATE INDEX "agents_account" ON "agents" USING btree ("account_id");--> statement-breakpoint
CREATE INDEX "agents_awaiting_provision" ON "agents" USING btree ("provision_next_at") WHERE status = 'pending_delegation';--> statement-breakpoint
CREATE INDEX "action_outcomes_recent" ON "action_outcomes" USING btree ("agent_id","reported_at");--> statement-breakpoint
CREATE INDEX "action_totals_recent" ON "action_totals" USING btree ("agent_id","last_seen");--> statement-breakpoint
CREATE INDEX "free_action_totals_recent" ON "free_action_totals" USING btree ("agent_id","last_seen");--> statement-breakpoint
CREATE UNIQUE INDEX "reconciled_events_digest" ON "reconciled_events" USING btree ("agent_id","digest");--> statement-breakpoint
CREATE INDEX "reconciled_events_at" ON "reconciled_events" USING btree ("agent_id","at");--> statement-breakpoint
CREATE INDEX "invalidations_at" ON "invalidations" USING btree ("at");--> statement-breakpoint
CREATE INDEX "agent_keys_active" ON "agent_keys" USING btree ("agent_id") WHERE revoked_at is null;--> statement-breakpoint
CREATE INDEX "developer_keys_active" ON "developer_keys" USING btree ("account_id") WHERE revoked_at is null;--> statement-breakpoint
CREATE INDEX "agent_funds_account" ON "agent_funds" USING btree ("account_id");--> statement-breakpoint
CREATE INDEX "charges_agent_at" ON "charges" USING btree ("agent_id","created_at");--> statement-breakpoint
CREATE UNIQUE INDEX "events_first_settlement" ON "events" USING btree ("agent_wallet") WHERE name = 'x402.first_settlement';--> statement-breakpoint
CREATE INDEX "events_undispatched" ON "events" USING btree ("id") WHERE position is null;--> statement-breakpoint
CREATE INDEX "events_account" ON "events" USING btree ("account_id","position");--> statement-breakpoint
CREATE INDEX "events_created" ON "events" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "postings_agent" ON "postings" USING btree ("agent_id","at");--> statement-breakpoint
CREATE INDEX "marketplace_jobs_due" ON "marketplace_jobs" USING btree ("due_at") WHERE due_at is not null;--> statement-breakpoint
CREATE INDEX "marketplace_jobs_living" ON "marketplace_jobs" USING btree ("account_id","agent_id") WHERE ended_at is null;--> statement-breakpoint
CREATE INDEX "memory_chunks_space" ON "memory_chunks" USING btree ("space_id","version","id");--> statement-breakpoint
CREATE INDEX "memory_chunks_item" ON "memory_chunks" USING btree ("item_id");--> statement-breakpoint
CREATE INDEX "memory_chunks_words" ON "memory_chunks" USING gin ("words");--> statement-breakpoint
CREATE INDEX "memory_chunks_terms" ON "memory_chunks" USING gin ("terms");--> statement-breakpoint
CREATE INDEX "memory_items_unpaid" ON "memory_items" USING btree ("agent_id") WHERE needs_raw is not null;--> statement-breakpoint
CREATE INDEX "memory_items_space" ON "memory_items" USING btree ("space_id","seq");--> statement-breakpoint
CREATE INDEX "memory_items_due" ON "memory_items" USING btree ("agent_id","space_id","due_at") WHERE due_at is not null;--> statement-breakpoint
CREATE INDEX "memory_removals_at" ON "memory_removals" USING btree ("at");--> statement-breakpoint
CREATE UNIQUE INDEX "memory_spaces_living" ON "memory_spaces" USING btree ("agent_id","sub_tenant") WHERE deleted_at is null;--> statement-breakpoint
CREATE INDEX "memory_spaces_deleted" ON "memory_spaces" USING btree ("id") WHERE deleted_at is not null;--> statement-breakpoint
CREATE INDEX "awaited_deposits_due" ON "awaited_deposits" USING btree ("next_at");--> statement-breakpoint
CREATE INDEX "payouts_open" ON "payouts" USING btree ("next_at") WHERE state <> 'done';--> statement-breakpoint
CREATE INDEX "payouts_agent" ON "payouts" USING btree ("agent_id");--> statement-breakpoint
CREATE INDEX "proxy_passthroughs_agent" ON "proxy_passthroughs" USING btree ("agent_id","id");--> statement-breakpoint
CREATE INDEX "reservations_live" ON "reservations" USING btree ("valid_before") WHERE state in ('reserved', 'sent', 'pending_settlement');--> statement-breakpoint
CREATE INDEX "reservations_decided" ON "reservations" USING btree ("decided_at") WHERE decided_at is not null;--> statement-breakpoint
CREATE INDEX "reservations_watched" ON "reservations" USING btree ("decided_at") WHERE decided_at is not null and state <> 'settled' and corrected_at is null;--> statement-breakpoint
CREATE INDEX "reservations_agent" ON "reservations" USING btree ("agent_id","id");--> statement-breakpoint
CREATE INDEX "reservations_waiting" ON "reservations" USING btree ("agent_id") WHERE state = 'pending_settlement';--> statement-breakpoint
CREATE INDEX "wallet_differences_due" ON "wallet_differences" USING btree ("next_at");--> statement-breakpoint
CREATE INDEX "call_batch_rows_open" ON "call_batch_rows" USING btree ("batch_id","seq") WHERE state <> 'done';--> statement-breakpoint
CREATE UNIQUE INDEX "call_batches_work" ON "call_batches" USING btree ("work_id") WHERE work_id is not null;--> statement-breakpoint
CREATE INDEX "call_batches_due" ON "call_batches" USING btree ("due_at") WHERE due_at is not null;--> statement-breakpoint
CREATE INDEX "call_batches_agent" ON "call_batches" USING btree ("agent_id","created_at");--> statement-breakpoint
CREATE INDEX "call_batches_account" ON "call_batches" USING btree ("account_id","created_at");--> statement-breakpoint
CREATE INDEX "call_commands_call" ON "call_commands" USING btree ("call_id");--> statement-breakpoint
CREATE INDEX "call_commands_waiting" ON "call_commands" USING btree ("call_id") WHERE taken_at is null;--> statement-breakpoint
CREATE UNIQUE INDEX "call_commands_work" ON "call_commands" USING btree ("work_id") WHERE work_id is not null;--> statement-breakpoint
CREATE INDEX "call_recordings_due" ON "call_recordings" USING btree ("due_at") WHERE due_at is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "calls_carrier_call" ON "calls" USING btree ("carrier","carrier_call_id");--> statement-breakpoint
CREATE UNIQUE INDEX "calls_work" ON "calls" USING btree ("work_id") WHERE work_id is not null;--> statement-breakpoint
CREATE INDEX "calls_agent" ON "calls" USING btree ("agent_id","created_at");--> statement-breakpoint
CREATE INDEX "calls_number" ON "calls" USING btree ("number_id","created_at");--> statement-breakpoint
CREATE INDEX "calls_batch" ON "calls" USING btree ("batch_id","batch_row") WHERE batch_id is not null;--> statement-breakpoint
CREATE INDEX "calls_living_agent" ON "calls" USING btree ("agent_id") WHERE not terminal;--> statement-breakpoint
CREATE INDEX "calls_living_account" ON "calls" USING btree ("account_id") WHERE not terminal;--> statement-breakpoint
CREATE INDEX "calls_due" ON "calls" USING btree ("due_at") WHERE due_at is not null;--> statement-breakpoint
CREATE INDEX "calls_price_due" ON "calls" USING btree ("price_due_at") WHERE price_due_at is not null;--> statement-breakpoint
CREATE INDEX "calls_analysis_due" ON "calls" USING btree ("analysis_due_at") WHERE analysis_due_at is not null;--> statement-breakpoint
CREATE INDEX "calls_report_until" ON "calls" USING btree ("report_until") WHERE report_until is not null;--> statement-breakpoint
CREATE INDEX "calls_ended_early_at" ON "calls_ended_early" USING btree ("at");--> statement-breakpoint
CREATE UNIQUE INDEX "phone_numbers_agent_living" ON "phone_numbers" USING btree ("agent_id") WHERE status in ('buying', 'active', 'grace');--> statement-breakpoint
CREATE UNIQUE INDEX "phone_numbers_number_living" ON "phone_numbers" USING btree ("phone_number") WHERE status in ('buying', 'active', 'grace');--> statement-breakpoint
CREATE UNIQUE INDEX "phone_numbers_purchase" ON "phone_numbers" USING btree ("purchase_id");--> statement-breakpoint
CREATE INDEX "phone_numbers_agent" ON "phone_numbers" USING btree ("agent_id","id");--> statement-breakpoint
CREATE INDEX "phone_numbers_account" ON "phone_numbers" USING btree ("account_id","id");--> statement-breakpoint
CREATE INDEX "phone_numbers_due" ON "phone_numbers" USING btree ("due_at") WHERE due_at is not null;--> statement-breakpoint
CREATE INDEX "credit_thresholds_agent" ON "credit_thresholds" USING btree ("agent_id");--> statement-breakpoint
CREATE INDEX "policies_account" ON "policies" USING btree ("account_id") WHERE revoked_at is null;--> statement-breakpoint
CREATE INDEX "policies_agent" ON "policies" USING btree ("agent_id") WHERE revoked_at is null;--> statement-breakpoint
CREATE INDEX "policies_owner" ON "policies" USING btree ("account_id","agent_id","id");--> statement-breakpoint
CREATE INDEX "idempotency_keys_expiry" ON "idempotency_keys" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "rate_windows_started" ON "rate_windows" USING btree ("started_at");--> statement-breakpoint
CREATE INDEX "model_responses_agent" ON "model_responses" USING btree ("agent_id","expires_at","id","bytes");--> statement-breakpoint
CREATE INDEX "model_responses_due" ON "model_responses" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "sessions_open_node" ON "sessions" USING btree ("node_id") WHERE ended_at is null;--> statement-breakpoint
CREATE INDEX "sessions_agent" ON "sessions" USING btree ("agent_id","opened_at");--> statement-breakpoint
CREATE UNIQUE INDEX "webhook_deliveries_delivery" ON "webhook_deliveries" USING btree ("delivery_id");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_due" ON "webhook_deliveries" USING btree ("webhook_id","due_at") WHERE due_at is not null;--> statement-breakpoint
CREATE INDEX "webhook_deliveries_endpoint" ON "webhook_deliveries" USING btree ("webhook_id","id");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_account" ON "webhook_deliveries" USING btree ("account_id","id");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_correlation" ON "webhook_deliveries" USING btree ("account_id","correlation_id") WHERE correlation_id is not null;--> statement-breakpoint
CREATE INDEX "webhook_deliveries_stats" ON "webhook_deliveries" USING btree ("webhook_id","status");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_created" ON "webhook_deliveries" USING btree ("created_at");--> statement-breakpoint
CREATE UNIQUE INDEX "webhook_recoveries_running" ON "webhook_recoveries" USING btree ("webhook_id") WHERE finished_at is null;--> statement-breakpoint
CREATE INDEX "webhooks_account" ON "webhooks" USING btree ("account_id","id");
--> statement-breakpoint
-- Sealed responses are ciphertext: compression finds nothing in them.
ALTER TABLE "model_responses" ALTER COLUMN "sealed" SET STORAGE EXTERNAL;
--> statement-breakpoint
-- Adds to a bucket, or to the newest one where that is later.
CREATE OR REPLACE FUNCTION fill_bucket(buckets bigint[], head bigint, bucket bigint, amount bigint) RETURNS bigint[]
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  place CONSTANT integer := greatest(head, bucket) % cardinality(buckets) + 1;
BEGIN
  buckets := roll_buckets(buckets, head, bucket);
  buckets[place] := buckets[place] + amount;
  RETURN buckets;
END $$;
--> statement-breakpoint
-- A ring of buckets as it reads later: what has left the window since is empty. Bucket n lies at n modulo the
-- length, and `head` is the newest.
CREATE OR REPLACE FUNCTION roll_buckets(buckets bigint[], head bigint, upto bigint) RETURNS bigint[]
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  span CONSTANT integer := cardinality(buckets);
BEGIN
  IF upto <= head THEN
    RETURN buckets;
  END IF;
  -- Numbers of buckets outgrow an integer, which is what a loop counts in.
  FOR i IN 1 .. least(upto - head, span) LOOP
    buckets[(head + i) % span + 1] := 0;
  END LOOP;
  RETURN buckets;
END $$;
--> statement-breakpoint
-- Whether a spending counts under a policy: what src/policy/match.ts decides, for what was spent before.
CREATE OR REPLACE FUNCTION policy_matches(kind text, match_key text, match_kind text,
                               key_root integer, task text, host text, payee text) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(CASE kind
    WHEN 'session' THEN true
    WHEN 'task' THEN task = match_key
    WHEN 'key' THEN key_root::text = match_key
    WHEN 'vendor' THEN payee = match_key
    WHEN 'api' THEN CASE
      WHEN match_kind = 'host_exact' THEN host = match_key
      ELSE host = ltrim(match_key, '.') OR right(host, length(ltrim(match_key, '.')) + 1) = '.' || ltrim(match_key, '.')
    END
  END, false)
$$;
--> statement-breakpoint
-- The policies that an agent spends under, its own and its team's, in id order, and how well its outcomes were
-- over each of the windows that they look at. Every hold's agent is read by it: its plan is kept, where a function in SQL
-- is planned at each call.
CREATE OR REPLACE FUNCTION living_policies(agent integer, account text, OUT policies json, OUT quality json)
LANGUAGE plpgsql STABLE
SET enable_seqscan = off
SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
BEGIN
  WITH living AS (
    SELECT p.* FROM policies p
    WHERE p.revoked_at IS NULL AND (p.agent_id = agent OR (p.agent_id IS NULL AND p.account_id = account))
      AND extract(epoch FROM statement_timestamp()) < least(coalesce(p.expires_at, 9007199254740991),
                                                        coalesce(p.effective_until, 9007199254740991)))
  SELECT
    (SELECT json_agg(json_build_object('id', p.id, 'agent_id', p.agent_id, 'kind', p.kind,
       'match_key', p.match_key, 'match_kind', p.match_kind, 'limit_raw', p.limit_raw::text,
       'limit_floor_raw', p.limit_floor_raw::text, 'limit_ceiling_raw', p.limit_ceiling_raw::text,
       'window_kind', p.window_kind, 'window_seconds', p.window_seconds,
       'calendar_unit', p.calendar_unit, 'effective_from', p.effective_from,
       'effective_until', p.effective_until, 'expires_at', p.expires_at, 'action', p.action,
       'quality_throttle_floor_bps', p.quality_throttle_floor_bps,
       'quality_window_seconds', p.quality_window_seconds, 'reserves', p.reserves, 'label', p.label)
       ORDER BY p.id) FROM living p),
    (SELECT json_agg(json_build_object('seconds', w.seconds, 'bps', (
       SELECT floor(avg(coalesce(o.score_bps, CASE o.status WHEN 'success' THEN 10000
                                              WHEN 'partial' THEN 5000 ELSE 0 END)))::integer
       FROM (SELECT r.status, r.score_bps FROM action_outcomes r
             -- Not clock_timestamp(), which would have every outcome looked at: no index takes what may change.
             WHERE r.agent_id = agent AND r.reported_at > statement_timestamp() - make_interval(secs => w.seconds)
             ORDER BY r.reported_at DESC LIMIT 10000) AS o)))
     FROM (SELECT DISTINCT p.quality_window_seconds AS seconds FROM living p
           WHERE p.quality_throttle_floor_bps IS NOT NULL) AS w)
  INTO policies, quality;
END $$;
--> statement-breakpoint
-- Rows that ride with a posting. `standing[op]` says whether the operation is written at all. It runs, and is planned,
-- under the settings of `apply_batch`, which calls it.
CREATE OR REPLACE FUNCTION write_companions(companions jsonb, standing boolean[], node text, lease integer)
RETURNS void LANGUAGE plpgsql
AS $$
BEGIN
  IF companions ? 'sessions' THEN
    INSERT INTO sessions (id, agent_id, key_id, kind, target, model, account, task_id, action_id,
                          customer_id, node_id, lease_epoch)
    SELECT x.id, x.agent, x.key, x.kind, x.target, x.model, x.account, x.task, x.action,
           x.customer, node, lease
    FROM jsonb_to_recordset(companions -> 'sessions') AS x(op integer, id text, agent integer,
         key integer, kind text, target text, model text, account text, task text, action text,
         customer text)
    WHERE standing[x.op];
  END IF;
  IF companions ? 'journal' THEN
    -- A repeat after a lost connection finds its own line.
    INSERT INTO session_journal (session_id, seq, epoch, cost_raw, usage)
    SELECT x.session, x.seq, x.epoch, x.cost, decode(x.usage, 'hex')
    FROM jsonb_to_recordset(companions -> 'journal') AS x(op integer, session text, seq integer,
         epoch integer, cost bigint, usage text)
    WHERE standing[x.op]
    ON CONFLICT DO NOTHING;
  END IF;
  IF companions ? 'ends' THEN
    UPDATE sessions s SET ended_at = now(), end_reason = x.reason, summary = x.summary
    FROM jsonb_to_recordset(companions -> 'ends') AS x(op integer, id text, reason text, summary jsonb)
    WHERE standing[x.op] AND s.id = x.id;
  END IF;
  IF companions ? 'charges' THEN
    INSERT INTO charges (agent_id, posting_id, key_id, target_url, target_host, method, status,
                         cost_raw, model, rail, usage, task_id, action_id, customer_id, session_id,
                         payee, response_status_code, latency_ms, overhead_ms, upstream_ms, created_at)
    SELECT x.agent, x.posting, x.key, x.url, x.host, x.method, x.status, x.cost, x.model, x.rail,
           x.usage, x.task, x.action, x.customer, x.session, x.payee, x.code, x.latency,
           -- Not when the sql transaction began: it may have waited for its rows since.
           x.overhead, x.upstream, clock_timestamp()
    FROM jsonb_to_recordset(companions -> 'charges') AS x(op integer, agent integer, posting text,
         key integer, url text, host text, method text, status text, cost bigint, model text,
         rail text, usage jsonb, task text, action text, customer text, session text,
         payee text, code integer, latency integer, overhead integer, upstream integer)
    WHERE standing[x.op];
    -- Reports read sums, and never count rows. An agent's rows are guarded by its own, which is locked.
    INSERT INTO spend_totals AS s (agent_id, day, model, rail, calls, failed, cost_raw)
    SELECT x.agent, (clock_timestamp() AT TIME ZONE 'UTC')::date, coalesce(x.model, ''), coalesce(x.rail, ''),
           count(*), count(*) FILTER (WHERE x.status = 'failed'), sum(x.cost)
    FROM jsonb_to_recordset(companions -> 'charges') AS x(op integer, agent integer, model text,
         rail text, status text, cost bigint)
    WHERE standing[x.op] GROUP BY 1, 3, 4
    ON CONFLICT (agent_id, day, model, rail) DO UPDATE
    SET calls = s.calls + excluded.calls, failed = s.failed + excluded.failed,
        cost_raw = s.cost_raw + excluded.cost_raw;
    INSERT INTO action_totals AS a (agent_id, action_id, calls, spent_raw, first_seen, last_seen)
    SELECT x.agent, x.action, count(*), coalesce(sum(x.cost) FILTER (WHERE x.status = 'success'), 0),
           now(), now()
    FROM jsonb_to_recordset(companions -> 'charges') AS x(op integer, agent integer, action text,
         status text, cost bigint)
    WHERE standing[x.op] AND x.action IS NOT NULL GROUP BY 1, 2
    ON CONFLICT (agent_id, action_id) DO UPDATE
    SET calls = a.calls + excluded.calls, spent_raw = a.spent_raw + excluded.spent_raw,
        last_seen = greatest(a.last_seen, excluded.last_seen);
  END IF;
  IF companions ? 'reservations' THEN
    INSERT INTO reservations (nonce, hold_id, agent_id, key_id, wallet, payee, value_raw, valid_before,
                              signature, x402_version, network, target_url, target_host, method,
                              task_id, action_id, customer_id)
    SELECT x.nonce, x.hold, x.agent, x.key, x.wallet, x.payee, x.value, x.valid_before, x.signature,
           x.version, x.network, x.url, x.host, x.method, x.task, x.action, x.customer
    FROM jsonb_to_recordset(companions -> 'reservations') AS x(op integer, nonce text, hold text,
         agent integer, key integer, wallet text, payee text, value bigint, valid_before bigint,
         signature text, version smallint, network text, url text, host text, method text,
         task text, action text, customer text)
    WHERE standing[x.op];
  END IF;
  IF companions ? 'moves' THEN
    -- What is not told stays as it was.
    UPDATE reservations r
    SET state = x.state, refused = r.refused OR x.refused, tx_hash = coalesce(x.tx, r.tx_hash),
        response_status_code = coalesce(x.code, r.response_status_code),
        latency_ms = coalesce(x.latency, r.latency_ms),
        -- An answer that comes at once is written without a step of its own for the sending.
        sent_at = CASE x.state WHEN 'sent' THEN clock_timestamp()
                  WHEN 'pending_settlement' THEN
                    coalesce(r.sent_at, clock_timestamp() - coalesce(x.latency, 0) * interval '1 millisecond')
                  ELSE r.sent_at END,
        decided_at = CASE WHEN x.decided THEN clock_timestamp() ELSE r.decided_at END,
        corrected_at = CASE WHEN x.corrected THEN clock_timestamp() ELSE r.corrected_at END
    FROM jsonb_to_recordset(companions -> 'moves') AS x(op integer, nonce text, state text,
         refused boolean, tx text, code integer, latency integer, decided boolean, corrected boolean)
    WHERE standing[x.op] AND r.nonce = x.nonce;
  END IF;
  IF companions ? 'payouts' THEN
    INSERT INTO payouts (nonce, agent_id, kind, wallet, payee, amount_raw)
    SELECT x.nonce, x.agent, x.kind, x.wallet, x.payee, x.amount
    FROM jsonb_to_recordset(companions -> 'payouts') AS x(op integer, nonce text, agent integer,
         kind text, wallet text, payee text, amount bigint)
    WHERE standing[x.op];
  END IF;
  IF companions ? 'paid' THEN
    UPDATE payouts p SET state = 'done', tx_hash = x.tx, done_at = clock_timestamp()
    FROM jsonb_to_recordset(companions -> 'paid') AS x(op integer, nonce text, tx text)
    WHERE standing[x.op] AND p.nonce = x.nonce;
  END IF;
  IF companions ? 'suspends' THEN
    -- Whoever decided it has counted on the rules to move by one for each.
    UPDATE agent_funds f SET rules_version = f.rules_version + x.times
    FROM (SELECT r.agent, count(*) AS times
          FROM jsonb_to_recordset(companions -> 'suspends') AS r(op integer, agent integer)
          WHERE standing[r.op] GROUP BY r.agent) AS x
    WHERE f.agent_id = x.agent;
    UPDATE agents a SET status = 'suspended', suspended_reason = 'policy:' || x.policy, updated_at = now()
    FROM jsonb_to_recordset(companions -> 'suspends') AS x(op integer, agent integer, policy integer)
    WHERE standing[x.op] AND a.id = x.agent AND a.status = 'active';
    INSERT INTO invalidations (kind, agent_id)
    SELECT 'agent_stopped', x.agent
    FROM jsonb_to_recordset(companions -> 'suspends') AS x(op integer, agent integer)
    WHERE standing[x.op];
  END IF;
  IF companions ? 'thresholds' THEN
    UPDATE credit_thresholds t SET last_state = x.state, last_fired_at = now()
    FROM jsonb_to_recordset(companions -> 'thresholds') AS x(op integer, id integer, state text)
    WHERE standing[x.op] AND t.id = x.id;
  END IF;
  IF companions ? 'events' THEN
    INSERT INTO events (name, account_id, agent_wallet, correlation_id, webhook_id, payload)
    SELECT x.name, x.account, x.wallet, x.correlation, x.webhook, x.payload
    FROM jsonb_to_recordset(companions -> 'events') AS x(op integer, name text, account text,
         wallet text, correlation text, webhook integer, payload jsonb)
    WHERE standing[x.op]
    -- Of payments that are settled side by side, each was the first when it was looked.
    ON CONFLICT DO NOTHING;
  END IF;
END $$;
--> statement-breakpoint
-- Parts (p_) are the batches of one agent each, in ascending order; operations (o_) name their part by number and
-- are numbered from 1 (one without debits is only looked for); hold changes (h_), counts under policies of a
-- team (t_, in the order of their operations) and guards (g_) name their operation. An array that is null has
-- nothing in it; counters that are null stay as they are. Of what was sent before (`resent`) a copy may still be on its
-- way. A part stands whole or not at all. Only parts that do not stand come back, with the
-- present state of their agent (no version: there is no such agent) and a letter an operation; one that
-- stands has moved its row by exactly what it said, since its version was the row's.
--   d  the same posting stands already (details: what left the agent by it), or without a posting: its row is where
--      it leaves it
--   c  another posting stands under this id, or was written with another payment
--   r  the id stands earlier in this batch
--   l  the guard failed: another process has taken the row over
--   m  the hold is not open at the amount named (details: the amount it is open at, or null)
--   t  a cap of the team would be crossed (details: the policy; spent: what counts under it)
--   s  nothing wrong with it, but its part does not stand: decide again
CREATE OR REPLACE FUNCTION apply_batch(
  p_agent integer[], p_version bigint[], p_size integer[],
  p_spendable bigint[], p_held bigint[], p_credited bigint[], p_consumed bigint[],
  p_wallet bigint[], p_promised bigint[], p_counters text[],
  o_part integer[], o_id text[], o_code text[], o_asked bigint[],
  o_debits text[], o_credits text[], o_amounts text[], o_nonce text[],
  h_op integer[], h_id text[], h_from bigint[], h_to bigint[], h_session text[],
  h_key integer[], h_task text[], h_host text[], h_payee text[],
  t_op integer[], t_policy integer[], t_bucket bigint[],
  t_held bigint[], t_settled bigint[], t_cap bigint[], t_stops boolean[],
  g_op integer[], g_id text[], g_epoch integer[], g_state text[], g_done text[],
  node text, lease integer, resent boolean, companions jsonb
) RETURNS TABLE (
  part integer, version bigint, rules_version bigint,
  spendable bigint, held bigint, credited bigint, consumed bigint, wallet bigint, promised bigint,
  counters text, verdicts text, details bigint[], spent bigint[]
) LANGUAGE plpgsql
-- Every table is reached by its key, however small it was when the plan was made.
SET enable_seqscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
  n CONSTANT integer := coalesce(cardinality(o_part), 0);
  marks text[];
  found_details bigint[];
  down boolean[] := array_fill(false, ARRAY[cardinality(p_agent)]);
  any_down boolean := false;
  found_spent bigint[];
  -- Policies of teams that count something here, and what counts under each by now.
  s_policy integer[];
  s_spent bigint[];
  saved bigint[];
  is_tight boolean := false;
  j integer;
  last integer;
  room bigint;
  stops boolean;
  k integer := 0;
  i integer;
  r record;
BEGIN
  -- 1. Ids that stand already, or twice in this call.
  IF n > 0 THEN
    FOR r IN SELECT * FROM postings p WHERE p.id = ANY (o_id) LOOP
      IF marks IS NULL THEN
        marks := array_fill('a'::text, ARRAY[n]);
        found_details := array_fill(NULL::bigint, ARRAY[n]);
      END IF;
      FOREACH i IN ARRAY array_positions(o_id, r.id) LOOP
        IF r.agent_id = p_agent[o_part[i]] AND r.code = o_code[i] AND r.asked_raw = o_asked[i]
           AND r.credits[1] = coalesce((o_credits[i]::text[])[1], r.credits[1]) IS NOT FALSE
           -- Whoever asks for a payment under an id that stands with another one would send what is written nowhere.
           AND (o_nonce[i] IS NULL OR EXISTS (SELECT 1 FROM reservations v
                WHERE v.nonce = o_nonce[i] AND 'hold:' || v.hold_id = r.id)) THEN
          marks[i] := 'd';
          found_details[i] := (
            SELECT coalesce(sum(e.amount), 0)
            FROM unnest(r.debits, r.credits, r.amounts) AS e(debit, credit, amount)
            WHERE e.debit LIKE 'agent:%' AND e.credit NOT LIKE 'agent:%');
        ELSE
          marks[i] := 'c';
        END IF;
      END LOOP;
    END LOOP;
  END IF;
  -- Most calls have one operation: a query for what cannot be is not asked.
  IF n > 1 THEN
    IF (SELECT count(o.id) <> count(DISTINCT o.id COLLATE "C") FROM unnest(o_id) AS o(id)) THEN
      marks := coalesce(marks, array_fill('a'::text, ARRAY[n]));
      FOR r IN SELECT o.i FROM (SELECT u.i, row_number() OVER (PARTITION BY u.id ORDER BY u.i) AS nth
                                FROM unnest(o_id) WITH ORDINALITY AS u(id, i)
                                WHERE u.id IS NOT NULL) AS o WHERE o.nth > 1 LOOP
        IF marks[r.i] = 'a' THEN marks[r.i] := 'r'; END IF;
      END LOOP;
    END IF;
  END IF;

  -- 2. The agents, in id order; a part that was decided on another version does not stand.
  FOR r IN SELECT f.agent_id, f.version FROM agent_funds f
           WHERE f.agent_id = ANY (p_agent)
           ORDER BY f.agent_id FOR NO KEY UPDATE LOOP
    k := k + 1;
    WHILE p_agent[k] < r.agent_id LOOP
      down[k] := true;
      any_down := true;
      k := k + 1;
    END LOOP;
    IF p_agent[k] IS DISTINCT FROM r.agent_id THEN
      RAISE EXCEPTION 'the parts of a batch must be in ascending order of their agents';
    END IF;
    IF r.version <> p_version[k] THEN
      down[k] := true;
      any_down := true;
    END IF;
  END LOOP;
  WHILE k < cardinality(p_agent) LOOP
    k := k + 1;
    down[k] := true;
    any_down := true;
  END LOOP;

  -- 3. Expected states of companion rows, and of the holds that are to grow or to be resolved. A hold is
  -- guarded by its agent's row, which is locked.
  IF g_op IS NOT NULL THEN
    PERFORM 1 FROM sessions s WHERE s.id = ANY (g_id) ORDER BY s.id FOR NO KEY UPDATE;
    -- A reservation is guarded by its agent's row, like a hold; it alone has a state to be in. A step that has no
    -- posting is known by where it leads, or who sends it again for want of an answer would have lost to itself.
    -- Both are joined by their keys and nothing else: asked for otherwise, all rows of the agent would be read.
    FOR r IN SELECT g.op, coalesce(v.state = g.done AND v.agent_id = p_agent[o_part[g.op]], false) AS is_done
             FROM unnest(g_op, g_id, g_epoch, g_state, g_done) AS g(op, id, epoch, state, done)
             LEFT JOIN sessions s ON s.id = g.id AND g.state IS NULL
             LEFT JOIN reservations v ON v.nonce = g.id AND g.state IS NOT NULL
             WHERE coalesce(s.agent_id, v.agent_id) IS DISTINCT FROM p_agent[o_part[g.op]]
                OR s.epoch IS DISTINCT FROM g.epoch OR v.state IS DISTINCT FROM g.state LOOP
      marks := coalesce(marks, array_fill('a'::text, ARRAY[n]));
      IF marks[r.op] = 'a' THEN marks[r.op] := CASE WHEN r.is_done THEN 'd' ELSE 'l' END; END IF;
    END LOOP;
  END IF;
  IF cardinality(array_remove(h_from, NULL)) > 0 THEN
    FOR r IN SELECT h.op, d.amount_raw
             FROM unnest(h_op, h_id, h_from) AS h(op, id, amount)
             LEFT JOIN holds d ON d.id = h.id AND d.agent_id = p_agent[o_part[h.op]]
             WHERE h.amount IS NOT NULL AND d.amount_raw IS DISTINCT FROM h.amount LOOP
      marks := coalesce(marks, array_fill('a'::text, ARRAY[n]));
      found_details := coalesce(found_details, array_fill(NULL::bigint, ARRAY[n]));
      IF marks[r.op] = 'a' THEN
        marks[r.op] := 'm';
        found_details[r.op] := r.amount_raw;
      END IF;
    END LOOP;
  END IF;
  IF marks IS NOT NULL THEN
    FOR i IN 1 .. n LOOP
      IF marks[i] <> 'a' THEN
        down[o_part[i]] := true;
        any_down := true;
      END IF;
    END LOOP;
  END IF;

  -- 4. What teams share, policy by policy in id order. Where not everything fits, operations are admitted
  --    in arrival order against the locked rows; one that does not fit takes its part down, and what the
  --    part had taken is free for those behind it.
  IF t_op IS NOT NULL AND NOT (any_down AND true = ALL (down)) THEN
    FOR r IN
      SELECT c.policy_id, c.held_raw + (SELECT sum(u.b) FROM unnest(
               -- What was decided on an old state may number the buckets of another window.
               roll_buckets(c.buckets, c.head, coalesce((
                 SELECT max(t.bucket) FROM unnest(t_op, t_policy, t_bucket) AS t(op, policy, bucket)
                 WHERE t.policy = c.policy_id AND NOT down[o_part[t.op]]), c.head))) AS u(b)) AS spent
      FROM team_counters c WHERE c.policy_id = ANY (t_policy)
      ORDER BY c.policy_id FOR NO KEY UPDATE LOOP
      s_policy := array_append(s_policy, r.policy_id);
      s_spent := array_append(s_spent, r.spent::bigint);
    END LOOP;
    is_tight := EXISTS (
      -- What is settled beyond its hold leaves less to those behind it.
      SELECT 1 FROM unnest(t_policy, t_held, t_settled, t_cap) AS t(policy, held, settled, cap)
      GROUP BY t.policy
      HAVING sum(greatest(t.held + t.settled, 0)) + s_spent[array_position(s_policy, t.policy)] > min(t.cap)
          OR array_position(s_policy, t.policy) IS NULL);
  END IF;
  IF is_tight THEN
    marks := coalesce(marks, array_fill('a'::text, ARRAY[n]));
    found_details := coalesce(found_details, array_fill(NULL::bigint, ARRAY[n]));
    found_spent := array_fill(NULL::bigint, ARRAY[n]);
    i := 1;
    k := 0;
    WHILE i <= cardinality(t_op) LOOP
      -- All that this operation counts under: i to last.
      last := i;
      WHILE t_op[last + 1] = t_op[i] LOOP last := last + 1; END LOOP;
      -- What was decided on an old state is not admitted, and not refused either.
      IF down[o_part[t_op[i]]] THEN
        i := last + 1;
        CONTINUE;
      END IF;
      IF o_part[t_op[i]] <> k THEN
        k := o_part[t_op[i]];
        saved := s_spent;
      END IF;
      room := NULL;
      FOR t IN i .. last LOOP
        j := array_position(s_policy, t_policy[t]);
        IF j IS NULL THEN
          RAISE EXCEPTION 'policy % of a team has no counter', t_policy[t];
        END IF;
        -- One that stops its agent is told before one that only blocks, then the one with the least room.
        IF t_cap[t] IS NOT NULL AND s_spent[j] + t_held[t] > t_cap[t]
           AND (room IS NULL OR (t_stops[t], room) > (stops, t_cap[t] - s_spent[j])) THEN
          room := t_cap[t] - s_spent[j];
          stops := t_stops[t];
          found_details[t_op[i]] := t_policy[t];
          found_spent[t_op[i]] := s_spent[j];
        END IF;
      END LOOP;
      IF room IS NOT NULL THEN
        IF marks[t_op[i]] = 'a' THEN marks[t_op[i]] := 't'; END IF;
      ELSE
        FOR t IN i .. last LOOP
          j := array_position(s_policy, t_policy[t]);
          s_spent[j] := s_spent[j] + t_held[t] + t_settled[t];
        END LOOP;
      END IF;
      i := last + 1;
      -- The part is over: what it took is given back unless it stands.
      IF (t_op[i] IS NULL OR o_part[t_op[i]] <> k) AND EXISTS (
        SELECT 1 FROM unnest(o_part, marks) AS m(part, mark) WHERE m.part = k AND m.mark = 't') THEN
        down[k] := true;
        any_down := true;
        s_spent := saved;
      END IF;
    END LOOP;
  END IF;

  -- 5. What stands is written.
  IF n > 0 AND NOT (any_down AND true = ALL (down)) THEN
    UPDATE agent_funds f
    SET version = f.version + 1,
        spendable_raw = f.spendable_raw + p.spendable,
        held_raw = f.held_raw + p.held,
        credited_raw = f.credited_raw + p.credited,
        consumed_raw = f.consumed_raw + p.consumed,
        wallet_raw = f.wallet_raw + p.wallet,
        promised_raw = f.promised_raw + p.promised,
        counters = coalesce(p.counters, f.counters)
    FROM unnest(p_agent, p_size, p_spendable, p_held, p_credited, p_consumed, p_wallet, p_promised,
                coalesce(p_counters, array_fill(NULL::text, ARRAY[cardinality(p_agent)])), down)
         AS p(agent, size, spendable, held, credited, consumed, wallet, promised, counters, down)
    WHERE f.agent_id = p.agent AND p.size > 0 AND NOT p.down;

    IF t_op IS NOT NULL THEN
      UPDATE team_counters c
      SET held_raw = c.held_raw + d.held,
          buckets = fill_bucket(c.buckets, c.head, d.bucket, d.settled),
          head = greatest(c.head, d.bucket)
      FROM (SELECT t.policy, sum(t.held)::bigint AS held, sum(t.settled)::bigint AS settled,
                   max(t.bucket) AS bucket
            FROM unnest(t_op, t_policy, t_held, t_settled, t_bucket)
                 AS t(op, policy, held, settled, bucket)
            WHERE NOT down[o_part[t.op]] GROUP BY t.policy) AS d
      WHERE c.policy_id = d.policy;
    END IF;

    INSERT INTO postings (id, agent_id, code, asked_raw, debits, credits, amounts)
    SELECT o.id, p_agent[o.part], o.code, o.asked, o.debits::text[], o.credits::text[],
           o.amounts::bigint[]
    FROM unnest(o_part, o_id, o_code, o_asked, o_debits, o_credits, o_amounts)
         AS o(part, id, code, asked, debits, credits, amounts)
    WHERE o.id IS NOT NULL AND o.debits IS NOT NULL AND NOT down[o.part];

    IF array_position(h_from, NULL) IS NOT NULL THEN
      INSERT INTO holds (id, agent_id, amount_raw, kind, session_id, node_id, lease_epoch,
                         key_root_id, task_id, host, payee)
      SELECT h.id, p_agent[o_part[h.op]], h.amount,
             CASE WHEN h.session IS NULL THEN 'request' ELSE 'session' END, h.session, node, lease,
             h.key, h.task, h.host, h.payee
      FROM unnest(h_op, h_id, h_from, h_to, h_session, h_key, h_task, h_host, h_payee)
           AS h(op, id, prior, amount, session, key, task, host, payee)
      WHERE h.prior IS NULL AND NOT down[o_part[h.op]];
    END IF;
    IF cardinality(array_remove(h_from, NULL)) + cardinality(array_remove(h_to, NULL))
       > cardinality(h_op) THEN
      UPDATE holds d SET amount_raw = h.amount
      FROM unnest(h_op, h_id, h_from, h_to) AS h(op, id, prior, amount)
      WHERE d.id = h.id AND h.prior IS NOT NULL AND h.amount IS NOT NULL AND NOT down[o_part[h.op]];
    END IF;
    IF array_position(h_to, NULL) IS NOT NULL THEN
      DELETE FROM holds d
      USING unnest(h_op, h_id, h_to) AS h(op, id, amount)
      WHERE d.id = h.id AND h.amount IS NULL AND NOT down[o_part[h.op]];
    END IF;

    IF companions IS NOT NULL THEN
      PERFORM write_companions(
        companions, ARRAY(SELECT NOT down[u.part] FROM unnest(o_part) WITH ORDINALITY AS u(part, i)
                          ORDER BY u.i), node, lease);
    END IF;
  END IF;

  IF NOT any_down THEN
    RETURN;
  END IF;
  -- A cap of the team may have room again when the copy of a refused part arrives: it must find another version. All
  -- else that takes a part down is as it was for as long as its version is.
  IF resent AND is_tight THEN
    UPDATE agent_funds f SET version = f.version + 1
    WHERE f.agent_id IN (SELECT p_agent[m.part] FROM unnest(o_part, marks) AS m(part, mark) WHERE m.mark = 't');
  END IF;
  RETURN QUERY
    SELECT p.nr::integer, f.version, f.rules_version, f.spendable_raw, f.held_raw, f.credited_raw,
      f.consumed_raw, f.wallet_raw, f.promised_raw, f.counters,
      coalesce((SELECT string_agg(CASE coalesce(marks[u.i], 'a') WHEN 'a' THEN 's' ELSE marks[u.i] END,
                                  '' ORDER BY u.i)
                FROM unnest(o_part) WITH ORDINALITY AS u(part, i) WHERE u.part = p.nr), ''),
      CASE WHEN found_details IS NOT NULL THEN
        ARRAY(SELECT found_details[u.i] FROM unnest(o_part) WITH ORDINALITY AS u(part, i)
              WHERE u.part = p.nr ORDER BY u.i) END,
      CASE WHEN found_spent IS NOT NULL THEN
        ARRAY(SELECT found_spent[u.i] FROM unnest(o_part) WITH ORDINALITY AS u(part, i)
              WHERE u.part = p.nr ORDER BY u.i) END
    FROM unnest(p_agent, down) WITH ORDINALITY AS p(agent, down, nr)
    LEFT JOIN agent_funds f ON f.agent_id = p.agent
    WHERE p.down
    ORDER BY p.nr;
END $$;
