-- Jobs that a vendor of the marketplace works on for minutes, what vendors did otherwise than expected, and how their sales went.
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
ALTER TABLE "marketplace_vendors" ADD COLUMN "sold_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "marketplace_vendors" ADD COLUMN "sale_latency_ms" integer;--> statement-breakpoint
ALTER TABLE "marketplace_vendors" ADD COLUMN "sale_failures" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX "marketplace_jobs_due" ON "marketplace_jobs" USING btree ("due_at") WHERE due_at is not null;--> statement-breakpoint
CREATE INDEX "marketplace_jobs_living" ON "marketplace_jobs" USING btree ("account_id","agent_id") WHERE ended_at is null;