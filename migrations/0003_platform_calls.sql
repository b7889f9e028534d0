CREATE TABLE "orchestrator_connections" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "orchestrator_connections_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"account_id" text NOT NULL,
	"agent_id" integer NOT NULL,
	"provider" text NOT NULL,
	"label" text,
	"active" boolean DEFAULT true NOT NULL,
	"token_hash" "bytea" NOT NULL,
	"token_salt" "bytea" NOT NULL,
	"sealed_secret" "bytea" NOT NULL,
	"last_event_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "orchestrator_connections_provider" CHECK ("orchestrator_connections"."provider" in ('vapi', 'retell', 'bland', 'pipecat', 'livekit'))
);
--> statement-breakpoint
CREATE TABLE "platform_calls" (
	"agent_id" integer NOT NULL,
	"provider" text NOT NULL,
	"call_id" text COLLATE "C" NOT NULL,
	"revision" integer NOT NULL,
	"cost_raw" bigint NOT NULL,
	"rank" smallint NOT NULL,
	"said_at_ms" bigint,
	"seen" text[] NOT NULL,
	"told" text[] NOT NULL,
	"host" text NOT NULL,
	"task_id" text,
	"customer_id" text,
	"duration_seconds" integer,
	"counted_at" timestamp with time zone NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "platform_calls_agent_id_provider_call_id_pk" PRIMARY KEY("agent_id","provider","call_id"),
	CONSTRAINT "platform_calls_cost" CHECK ("platform_calls"."cost_raw" >= 0)
);
--> statement-breakpoint
ALTER TABLE "reconciled_events" ADD COLUMN "source" text DEFAULT 'guard' NOT NULL;--> statement-breakpoint
ALTER TABLE "reconciled_events" ADD COLUMN "calls" smallint DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE "reconciled_events" ADD COLUMN "task_id" text;--> statement-breakpoint
ALTER TABLE "reconciled_events" ADD COLUMN "customer_id" text;--> statement-breakpoint
ALTER TABLE "orchestrator_connections" ADD CONSTRAINT "orchestrator_connections_account_id_developers_account_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."developers"("account_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "orchestrator_connections" ADD CONSTRAINT "orchestrator_connections_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "orchestrator_connections_token" ON "orchestrator_connections" USING btree ("token_hash");--> statement-breakpoint
CREATE UNIQUE INDEX "orchestrator_connections_agent" ON "orchestrator_connections" USING btree ("agent_id","provider");--> statement-breakpoint
CREATE INDEX "orchestrator_connections_account" ON "orchestrator_connections" USING btree ("account_id","id");--> statement-breakpoint
CREATE INDEX "reconciled_events_counted" ON "reconciled_events" USING btree ("agent_id","at") WHERE source <> 'guard';