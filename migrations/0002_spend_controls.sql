-- Policies and their counters, what requests leave behind for a while, and what spending was for.
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
	"buckets" bigint[] NOT NULL
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
CREATE TABLE "rate_windows" (
	"bucket" text COLLATE "C" PRIMARY KEY NOT NULL,
	"started_at" timestamp with time zone NOT NULL,
	"taken" bigint NOT NULL
);
--> statement-breakpoint
ALTER TABLE "agents" ADD COLUMN "allowlist_mode" text DEFAULT 'off' NOT NULL;--> statement-breakpoint
ALTER TABLE "agents" ADD COLUMN "self_service_locked" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "agent_keys" ADD COLUMN "root_id" integer;--> statement-breakpoint
ALTER TABLE "charges" ADD COLUMN "payee" text;--> statement-breakpoint
ALTER TABLE "holds" ADD COLUMN "key_root_id" integer;--> statement-breakpoint
ALTER TABLE "holds" ADD COLUMN "task_id" text;--> statement-breakpoint
ALTER TABLE "holds" ADD COLUMN "host" text;--> statement-breakpoint
ALTER TABLE "holds" ADD COLUMN "payee" text;--> statement-breakpoint
ALTER TABLE "credit_thresholds" ADD CONSTRAINT "credit_thresholds_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "policies" ADD CONSTRAINT "policies_account_id_developers_account_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."developers"("account_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "policies" ADD CONSTRAINT "policies_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "action_outcomes_recent" ON "action_outcomes" USING btree ("agent_id","reported_at");--> statement-breakpoint
CREATE INDEX "action_totals_recent" ON "action_totals" USING btree ("agent_id","last_seen");--> statement-breakpoint
CREATE UNIQUE INDEX "reconciled_events_digest" ON "reconciled_events" USING btree ("agent_id","digest");--> statement-breakpoint
CREATE INDEX "reconciled_events_at" ON "reconciled_events" USING btree ("agent_id","at");--> statement-breakpoint
CREATE INDEX "credit_thresholds_agent" ON "credit_thresholds" USING btree ("agent_id");--> statement-breakpoint
CREATE INDEX "policies_account" ON "policies" USING btree ("account_id") WHERE revoked_at is null;--> statement-breakpoint
CREATE INDEX "policies_agent" ON "policies" USING btree ("agent_id") WHERE revoked_at is null;--> statement-breakpoint
CREATE INDEX "idempotency_keys_expiry" ON "idempotency_keys" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "rate_windows_started" ON "rate_windows" USING btree ("started_at");--> statement-breakpoint
ALTER TABLE "agents" ADD CONSTRAINT "agents_allowlist_mode" CHECK ("agents"."allowlist_mode" in ('off', 'host', 'vendor', 'both'));--> statement-breakpoint
ALTER TABLE "rate_windows" SET UNLOGGED;
