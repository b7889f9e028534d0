-- Webhooks of developers: their endpoints, every event on its way to one, and the order of all events.
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
ALTER TABLE "events" ALTER COLUMN "account_id" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "events" ADD COLUMN "webhook_id" integer;--> statement-breakpoint
ALTER TABLE "events" ADD COLUMN "position" bigint;--> statement-breakpoint
ALTER TABLE "webhooks" ADD CONSTRAINT "webhooks_account_id_developers_account_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."developers"("account_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "webhook_deliveries_delivery" ON "webhook_deliveries" USING btree ("delivery_id");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_due" ON "webhook_deliveries" USING btree ("webhook_id","due_at") WHERE due_at is not null;--> statement-breakpoint
CREATE INDEX "webhook_deliveries_endpoint" ON "webhook_deliveries" USING btree ("webhook_id","id");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_account" ON "webhook_deliveries" USING btree ("account_id","id");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_correlation" ON "webhook_deliveries" USING btree ("account_id","correlation_id") WHERE correlation_id is not null;--> statement-breakpoint
CREATE INDEX "webhook_deliveries_stats" ON "webhook_deliveries" USING btree ("webhook_id","status");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_created" ON "webhook_deliveries" USING btree ("created_at");--> statement-breakpoint
CREATE UNIQUE INDEX "webhook_recoveries_running" ON "webhook_recoveries" USING btree ("webhook_id") WHERE finished_at is null;--> statement-breakpoint
CREATE INDEX "webhooks_account" ON "webhooks" USING btree ("account_id","id");--> statement-breakpoint
CREATE INDEX "events_undispatched" ON "events" USING btree ("id") WHERE position is null;--> statement-breakpoint
CREATE INDEX "events_account" ON "events" USING btree ("account_id","position");--> statement-breakpoint
CREATE INDEX "events_created" ON "events" USING btree ("created_at");
