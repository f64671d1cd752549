// Generated from the description of the API by `make docs`.

export type Action = {
  id: number;
  at: string;
  user: string;
  via: string;
  action: string;
  target: null | string;
  count: number;
};
export type ActionPage = {
  items: Array<Action>;
  next_cursor: null | string;
};
export type AddedSlot = {
  limits: Record<string, number>;
  makespan_ms: number;
};
export type AttemptStatus = "cancelled" | "completed" | "failed" | "lost" | "released" | "running" | "timeout";
export type Backoff = "exponential" | "linear";
export type Bulk = {
  action: BulkAction;
  filter: JobFilter;
  dry_run?: boolean | null;
  cursor?: null | string;
};
export type BulkAction = "cancel" | "retry";
export type BulkDone = {
  matched: number;
  done: number;
  more: boolean;
  next_cursor: null | string;
  ids: Array<string>;
};
export type CancelAll = {
  task_id?: null | string;
  statuses?: Array<"pending" | "processing" | "ready" | "timeout"> | null;
  role?: null | string;
};
export type CancelledAll = {
  cancelled: Array<string>;
  more: boolean;
};
export type Cause = "dependency" | "slot" | "time";
export type Chain = {
  queue_id: number;
  job_number: number;
  operation_direction: Direction;
  queue_library: string;
  state: ChainState;
  queue_return: "UNINIT" | Array<Returned>;
  job_queue: "UNINIT" | number;
  running_job: "QUEUE_NOT_RUNNING" | number;
  last_job: "UNINIT" | number;
  context: Record<string, unknown>;
  run: number;
  jobs: Array<ChainJob>;
  retries: number;
  on_unknown: OnUnknown;
  on_backward_failure: OnBackwardFailure;
  created_by: string;
  created_at: string;
};
export type ChainEvent = {
  id: number;
  type: ChainEventType;
  queue_id: number;
  run: number;
  details: Record<string, unknown>;
  timestamp: string;
};
export type ChainEventType = "chain_aborted" | "chain_blocked" | "chain_ended" | "chain_resumed" | "chain_started" | "chain_step_ended" | "chain_step_lost" | "chain_turned";
export type ChainJob = {
  job_id: number;
  forward_operation: string;
  backward_operation: string;
  arguments: unknown;
  operation_library: string;
  expired_time: number;
  job_return: "UNINIT" | Record<string, unknown>;
  next_job: "TAIL" | "UNLINK" | number;
  prev_job: "HEAD" | "UNLINK" | number;
  state: string;
};
export type ChainPage = {
  items: Array<Chain>;
  next_cursor: null | string;
};
export type ChainState = "BLOCKED" | "EMPTY" | "READY" | "RUNNING";
export type ChangeType = "changed";
export type ClockFold = "both" | "first" | "second";
export type ClockGap = "fire" | "skip";
export type ConfigChange = {
  maxConcurrentJobs?: number;
  maxConcurrentByRole?: Record<string, null | number>;
  defaultTimeout?: number;
  maxRetries?: number;
  retryBackoff?: Backoff;
  retryBaseDelay?: number;
};
export type CreatedToken = {
  id: number;
  user: string;
  scope: Scope;
  created_at: string;
  last_used_at: null | string;
  revoked_at: null | string;
  token: string;
};
export type DeadLetter = {
  id: string;
  stream: string;
  entry: string;
  reason: string;
  code: DeadLetterCode;
  field: null | string;
  payload: Record<string, unknown>;
  at: string;
};
export type DeadLetterCode = "invalid_output_path" | "other" | "unknown_job" | "unreadable";
export type DeadLetterPage = {
  items: Array<DeadLetter>;
  next_cursor: null | string;
};
export type DelayedRun = {
  run_id: string;
  workflow_id: string;
  name: null | string;
  scheduled_time: string;
  due_at: string;
  late_seconds: number;
};
export type Delivery = {
  id: string;
  event_id: null | number;
  type: MessageType;
  job_id: null | string;
  status: OfficesDeliveryStatus;
  attempts: number;
  error_message: null | string;
  next_attempt_at: null | string;
  created_at: string;
  delivered_at: null | string;
};
export type DeliveryPage = {
  items: Array<Delivery>;
  next_cursor: null | string;
};
export type Direction = "BACKWARD" | "FORWARD";
export type DryRun = {
  variables?: Record<string, unknown> | null;
  outputs?: Record<string, unknown> | null;
};
export type DryRunResult = {
  messages: Array<RenderedMessage>;
  more?: boolean;
};
export type Edge = {
  from: string;
  to: string;
};
export type EngineAttempt = {
  attempt: number;
  status: AttemptStatus;
  instance: null | string;
  instance_id: null | number;
  started_at: string;
  deadline_at: null | string;
  ended_at: null | string;
  failure_type: null | string;
  error_message: null | string;
  failure: Failure | null;
};
export type EngineChange = {
  id: number;
  type: ChangeType;
  timestamp: string;
};
export type EngineEvent = {
  id: number;
  type: Reason;
  queue: string;
  job_id: string;
  task: null | string;
  state: State | null;
  attempt: null | number;
  details: Record<string, unknown>;
  timestamp: string;
};
export type EngineInstance = {
  id: number;
  name: string;
  host: string;
  pid: number;
  version: string;
  tasks: Array<string>;
  schedules: Array<string>;
  capacity: number;
  running: number;
  alive: boolean;
  draining: boolean;
  started_at: string;
  seen_at: string;
  stopped_at: null | string;
  jobs: Array<Linked>;
};
export type EngineInstances = {
  items: Array<EngineInstance>;
};
export type EngineJob = {
  seq: number;
  id: string;
  queue: string;
  task: string;
  role: null | string;
  concurrency_key: null | string;
  state: State;
  args: unknown;
  priority: number;
  urgent: boolean;
  run_at: string;
  created_at: string;
  started_at: null | string;
  deadline_at: null | string;
  finished_at: null | string;
  stop_requested_at: null | string;
  unmet: number;
  on_dependency_failure: OnDependencyFailure;
  dispatched_at: null | string;
  retry_count: number;
  max_retries: number;
  policy: EnginePolicy;
  timeout_ms: null | number;
  expires_at: null | string;
  attempt: number;
  instance_id: null | number;
  locked_until: null | string;
  progress: unknown;
  result: unknown;
  result_kept: boolean;
  failure_type: null | string;
  error_message: null | string;
  idempotency_key: null | string;
  unique_key: null | string;
  work_item: null | string;
  meta: unknown;
  replaced_by: null | string;
  surface: null | string;
  path: null | string;
};
export type EngineJobDetail = {
  seq: number;
  id: string;
  queue: string;
  task: string;
  role: null | string;
  concurrency_key: null | string;
  state: State;
  args: unknown;
  priority: number;
  urgent: boolean;
  run_at: string;
  created_at: string;
  started_at: null | string;
  deadline_at: null | string;
  finished_at: null | string;
  stop_requested_at: null | string;
  unmet: number;
  on_dependency_failure: OnDependencyFailure;
  dispatched_at: null | string;
  retry_count: number;
  max_retries: number;
  policy: EnginePolicy;
  timeout_ms: null | number;
  expires_at: null | string;
  attempt: number;
  instance_id: null | number;
  locked_until: null | string;
  progress: unknown;
  result: unknown;
  result_kept: boolean;
  failure_type: null | string;
  error_message: null | string;
  idempotency_key: null | string;
  unique_key: null | string;
  work_item: null | string;
  meta: unknown;
  replaced_by: null | string;
  surface: null | string;
  path: null | string;
  failure: Failure | null;
  waiting: null | string;
  links: Array<JobLink>;
  attempts: Array<EngineAttempt>;
  timeline: Array<Moved>;
  depends_on: Array<Linked>;
  dependents: Array<Linked>;
};
export type EngineJobPage = {
  items: Array<EngineJob>;
  next_cursor: null | string;
};
export type EngineMarkDone = {
  comment: string;
  result?: unknown;
};
export type EngineOverview = {
  at: string;
  states: Record<string, number>;
  queues: number;
  oldest_ready: null | number;
  late_queues: number;
  late: Array<LateQueue>;
  paused_queues: number;
  paused: Array<LateQueue>;
  workers: number;
  slots: number;
};
export type EnginePolicy = {
  retries: number;
  retry_delay: number;
  backoff: Backoff;
  jitter: number;
  on_lost: OnLost;
};
export type EnginePriority = {
  priority?: number;
  urgent?: boolean;
};
export type EngineQueue = {
  enqueued: number;
  started: number;
  succeeded: number;
  failed: number;
  cancelled: number;
  retried: number;
  timed_out: number;
  throughput: number;
  wait: Spans | null;
  run: Spans | null;
  name: string;
  paused: boolean;
  max_concurrent: number;
  max_per_key: number;
  roles: Record<string, number>;
  keys: Record<string, number>;
  states: Record<string, number>;
  declared: Record<string, unknown> | null;
  oldest_ready: null | number;
  mean_run: null | number;
  seconds: number;
};
export type EngineQueues = {
  at: string;
  items: Array<EngineQueue>;
  next_cursor: null | string;
};
export type EngineRetry = {
  comment?: null | string;
  args?: Record<string, unknown> | null;
};
export type EngineSettings = {
  items: Array<Setting>;
};
export type EngineStatistics = {
  states: Record<string, number>;
  step: number;
  items: Array<StatisticsStep>;
};
export type EventType = "job_cancelled" | "job_completed" | "job_failed" | "job_ready" | "job_retrying" | "job_started" | "job_timeout";
export type Executed = {
  executed: number;
  results: Array<ExecutedRun>;
};
export type ExecutedRun = {
  run_id: string;
  workflow_id: string;
  status: RunStatus;
  error_code: null | string;
  error_message: null | string;
};
export type ExecutionPage = {
  items: Array<SchedulesExecution>;
  next_cursor: null | string;
};
export type ExecutionType = "MANUAL" | "SCHEDULE";
export type Explanation = {
  runnable: boolean;
  reasons: Array<ExplanationReason>;
};
export type ExplanationCode = "blocked" | "chain_blocked" | "chain_empty" | "chain_not_run" | "dependency" | "dispatched" | "event_loop_blocked" | "finished" | "key_full" | "lease_expired" | "next_in_line" | "no_handler" | "no_stream_worker" | "no_worker" | "paused" | "queue_full" | "redis_unavailable" | "retry_time" | "role_full" | "run_at" | "running" | "stopping";
export type ExplanationReason = {
  attempt?: number;
  blocked_by?: Array<string>;
  code: ExplanationCode;
  comment?: string;
  error_message?: null | string;
  exception?: string;
  failure_type?: null | string;
  finished_at?: null | string;
  holders?: Array<string>;
  instance?: null | number;
  job?: null | string;
  key?: string;
  limit?: number;
  marked_done_by?: string;
  max_retries?: number;
  overdue?: boolean;
  queue?: string;
  replaced_by?: string;
  retry_count?: number;
  role?: string;
  run_at?: string;
  seconds?: number;
  sent?: boolean;
  status?: string;
  stream?: string;
  task?: string;
  text: string;
  traceback?: string;
  waits_for?: Array<string>;
  workers?: null | number;
};
export type Export = {
  jobId: number;
  jobType: JobType;
  replayId: number;
  status: ExportStatus;
  progress: number;
  phase: string;
  message: string;
  resultUri: null | string;
  resultChecksum: null | string;
  errorCode: null | string;
  errorMessage: null | string;
  createdAt: string;
  startedAt: null | string;
  endedAt: null | string;
  waiting?: null | string;
};
export type ExportCreated = {
  jobId: number;
};
export type ExportEvent = {
  id: number;
  type: ExportEventType;
  jobId: number;
  jobType: JobType;
  replayId: number;
  timestamp: string;
  progress?: number;
  phase?: string;
  message?: string;
  status?: ExportStatus;
  resultUri?: null | string;
  checksum?: null | string;
  errorCode?: null | string;
  errorMessage?: null | string;
};
export type ExportEventType = "job.cancelled" | "job.completed" | "job.failed" | "job.progress";
export type ExportPage = {
  items: Array<Export>;
  page: number;
  size: number;
  total: number;
};
export type ExportStatus = "CANCELLED" | "FAILED" | "QUEUED" | "RUNNING" | "SUCCEEDED";
export type FailedRun = {
  run_id: string;
  workflow_id: string;
  name: null | string;
  scheduled_time: string;
  ended_at: string;
  error_code: null | string;
  error_message: null | string;
};
export type Failure = {
  type: string;
  message: string;
  exception: null | string;
  traceback: null | string;
};
export type FailureGroup = {
  task: string;
  failure_type: string;
  message: string;
  count: number;
  first_at: string;
  last_at: string;
  last_id: string;
};
export type FailureGroups = {
  items: Array<FailureGroup>;
  looked_at: number;
};
export type Fire = {
  fire_at: string;
  outcome: FireOutcome;
  reason: FireReason | null;
  execution_id: null | string;
  status: SchedulesExecutionStatus | null;
  more: number;
  recorded_at: string;
};
export type FireOutcome = "coalesced" | "created" | "missed" | "skipped";
export type FirePage = {
  items: Array<Fire>;
  next_cursor: null | string;
};
export type FireReason = "caught_up" | "changed" | "deleted" | "late" | "limit" | "overlap" | "paused" | "queue_full";
export type Frequency = "daily" | "monthly" | "weekly";
export type Graph = {
  nodes: Array<Node>;
  edges: Array<Edge>;
  next_cursor: null | string;
};
export type Job = {
  id: string;
  key: null | string;
  office_id: string;
  task_id: null | string;
  role: null | string;
  title: null | string;
  status: JobStatus;
  priority: number;
  urgent: boolean;
  depends_on: Array<string>;
  blocked_by: Array<string>;
  retry_count: number;
  timeout_ms: null | number;
  progress: unknown;
  result: unknown;
  error_message: null | string;
  failure_type: null | string;
  created_at: string;
  started_at: null | string;
  completed_at: null | string;
  cancelled_at: null | string;
};
export type JobBatch = {
  jobs: Array<JobSpec>;
};
export type JobDetail = {
  id: string;
  key: null | string;
  office_id: string;
  task_id: null | string;
  role: null | string;
  title: null | string;
  status: JobStatus;
  priority: number;
  urgent: boolean;
  depends_on: Array<string>;
  blocked_by: Array<string>;
  retry_count: number;
  timeout_ms: null | number;
  progress: unknown;
  result: unknown;
  error_message: null | string;
  failure_type: null | string;
  created_at: string;
  started_at: null | string;
  completed_at: null | string;
  cancelled_at: null | string;
  executions: Array<JobExecution>;
};
export type JobExecution = {
  job_id: string;
  attempt: number;
  started_at: string;
  timeout_at: null | string;
  session_id: string;
  status: OfficesExecutionStatus;
  completed_at?: null | string;
  error_message?: null | string;
};
export type JobFilter = {
  state?: Array<State> | State | null;
  queue?: null | string;
  task?: null | string;
  role?: null | string;
  key?: null | string;
  id?: null | string;
  text?: null | string;
  failure_type?: null | string;
  created_after?: null | string;
  created_before?: null | string;
  own?: boolean | null;
};
export type JobLink = {
  name: string;
  url: string;
};
export type JobMarkDone = {
  comment: string;
  result?: unknown;
};
export type JobPage = {
  items: Array<Job>;
  next_cursor: null | string;
};
export type JobQueueStats = {
  office_id: string;
  pending: number;
  ready: number;
  processing: number;
  done: number;
  failed: number;
  cancelled: number;
  avg_completion_time: number;
};
export type JobRetry = {
  comment?: null | string;
  args?: Record<string, unknown> | null;
};
export type JobSchedulerConfig = {
  maxConcurrentJobs?: number;
  maxConcurrentByRole?: Record<string, number>;
  defaultTimeout?: number;
  maxRetries?: number;
  retryBackoff?: Backoff;
  retryBaseDelay?: number;
};
export type JobSpec = {
  key?: null | string;
  id?: null | string;
  task_id?: null | string;
  role?: null | string;
  title?: null | string;
  args?: Record<string, unknown> | null;
  priority?: null | number;
  urgent?: boolean | null;
  depends_on?: Array<string> | null;
  timeout_ms?: null | number;
  max_retries?: null | number;
  handler?: null | string;
  on_dependency_failure?: "block" | "fail" | null;
};
export type JobStatus = "cancelled" | "done" | "failed" | "pending" | "processing" | "ready" | "timeout";
export type JobType = "MP4" | "THUMBNAIL";
export type JobsCreated = {
  jobs: Array<Job>;
};
export type LateQueue = {
  name: string;
  oldest_ready: number;
};
export type Linked = {
  id: string;
  task: string;
  state: State;
};
export type Liveness = {
  status?: string;
  version: string;
};
export type Log = {
  entries: Array<LogEntry>;
  after: string;
  more: boolean;
};
export type LogEntry = {
  attempt: number;
  line: number;
  at?: null | string;
  stream?: null | string;
  text?: null | string;
  unended?: boolean;
  lines?: null | number;
};
export type LogIn = {
  token: string;
};
export type ManualRun = {
  args?: Record<string, unknown> | null;
};
export type MessageType = "job_cancelled" | "job_completed" | "job_failed" | "job_ready" | "job_retrying" | "job_started" | "job_timeout" | "webhook_test";
export type Misfire = "all" | "coalesce" | "skip";
export type Mode = "delayed" | "immediate" | "recurring" | "scheduled";
export type MomentType = "cancelled" | "completed" | "created" | "deadline" | "dispatched" | "due" | "failed" | "lost" | "marked_done" | "released" | "requeued" | "retry" | "started" | "stop_requested" | "succeeded" | "timeout";
export type Monitor = {
  pending: number;
  running: number;
  completed: number;
  failed: number;
  delayed: Array<DelayedRun>;
  next: Array<NextRun>;
  recent_failures: Array<FailedRun>;
};
export type Moved = {
  at: string;
  type: MomentType;
  text: string;
  attempt?: null | number;
  user?: null | string;
  comment?: null | string;
  changes?: Record<string, unknown> | null;
};
export type NewChain = {
  queue_library?: null | string;
  jobs?: Array<NewChainJob> | null;
  retries?: null | number;
  on_unknown?: OnUnknown | null;
  on_backward_failure?: OnBackwardFailure | null;
};
export type NewChainJob = {
  forward_operation?: null | string;
  backward_operation?: null | string;
  arguments?: unknown;
  operation_library?: null | string;
  expired_time?: null | number;
};
export type NewConfig = {
  maxConcurrentJobs?: null | number;
  maxConcurrentByRole?: Record<string, null | number> | null;
  defaultTimeout?: null | number;
  maxRetries?: null | number;
  retryBackoff?: Backoff | null;
  retryBaseDelay?: null | number;
};
export type NewEngineJob = {
  task?: null | string;
  args?: Record<string, unknown> | null;
  copy_of?: null | string;
  queue?: null | string;
  role?: null | string;
  priority?: null | number;
  urgent?: boolean | null;
  delay?: null | number;
  timeout_ms?: null | number;
  expires?: null | number | string;
  max_retries?: null | number;
};
export type NewExecution = {
  workflow_id: string;
  variables?: Record<string, unknown> | null;
};
export type NewRecurrence = {
  cron?: null | string;
  frequency?: Frequency | null;
  time?: null | string;
  weekdays?: Array<string> | null;
  day?: null | number;
};
export type NewRun = {
  context?: Record<string, unknown> | null;
};
export type NewSchedule = {
  cron?: null | string;
  every?: null | number | string;
  run_at?: null | string;
  timezone?: null | string;
  jitter?: null | number | string;
  starts_at?: null | string;
  ends_at?: null | string;
  dst_gap?: ClockGap | null;
  dst_fold?: ClockFold | null;
  args?: Record<string, unknown> | null;
  overlap?: Overlap | null;
  misfire?: Misfire | null;
  misfire_limit?: null | number;
  paused?: boolean | null;
  name?: null | string;
  task_id: string;
};
export type NewScheduleConfig = {
  mode: Mode;
  delay_minutes?: null | number;
  scheduled_time?: null | string;
  recurrence?: NewRecurrence | null;
};
export type NewStep = {
  type: StepType;
  name?: null | string;
  retries?: null | number;
  retry_delay?: null | number;
  timeout?: null | number;
  on_error?: OnError | null;
  target?: null | string;
  title?: null | string;
  body?: Array<unknown> | Record<string, unknown> | boolean | null | number | string;
  recipients?: Array<Record<string, unknown>> | null;
  method?: "DELETE" | "GET" | "PATCH" | "POST" | "PUT" | null;
  url?: null | string;
  headers?: Record<string, string> | null;
  seconds?: null | number;
  minutes?: null | number;
  until?: null | string;
  task_id?: null | string;
  args?: Record<string, unknown> | null;
};
export type NewThumbnail = {
  width?: null | number;
  height?: null | number;
  startMs?: null | number;
  lengthMs?: null | number;
};
export type NewTokenRequest = {
  user: string;
  scope: Scope;
};
export type NewVideo = {
  width?: null | number;
  height?: null | number;
  startMs?: null | number;
  lengthMs?: null | number;
  fps?: null | number;
};
export type NewWorkflow = {
  name: string;
  steps: Array<NewStep>;
  schedule_config: NewScheduleConfig;
  variables?: Record<string, unknown> | null;
  timezone?: null | string;
  status?: WorkflowStatus | null;
  notifications?: Array<string> | null;
};
export type NextRun = {
  run_id: string;
  workflow_id: string;
  name: null | string;
  scheduled_time: string;
  due_at: string;
};
export type Node = {
  id: string;
  key: null | string;
  title: null | string;
  role: null | string;
  task_id: null | string;
  status: JobStatus;
};
export type NoteKind = "fold_first" | "fold_second" | "gap";
export type Office = {
  id: string;
  name: string;
  config: JobSchedulerConfig;
  sessions: Record<string, string>;
  notifications: Array<string>;
  webhooks: Array<Webhook>;
  version: number;
  created_at: string;
  changed_at: string;
};
export type OfficeBody = {
  name: string;
  config?: NewConfig | null;
  sessions?: Record<string, null | string> | null;
  notifications?: Array<string> | null;
  webhooks?: Array<WebhookBody> | null;
};
export type OfficeChange = {
  name?: string;
  config?: ConfigChange;
  sessions?: Record<string, null | string> | null;
  notifications?: Array<string> | null;
  webhooks?: Array<WebhookChange> | null;
};
export type OfficePage = {
  items: Array<Office>;
  next_cursor: null | string;
};
export type OnBackwardFailure = "continue" | "stop";
export type OnDependencyFailure = "block" | "fail";
export type OnError = "continue" | "stop";
export type OnLost = "fail" | "retry";
export type OnUnknown = "compensate" | "retry";
export type Overlap = "allow" | "queue_one" | "skip";
export type Preview = {
  fires: Array<PreviewedFire>;
};
export type PreviewRequest = {
  cron?: null | string;
  every?: null | number | string;
  run_at?: null | string;
  timezone?: null | string;
  jitter?: null | number | string;
  starts_at?: null | string;
  ends_at?: null | string;
  dst_gap?: ClockGap | null;
  dst_fold?: ClockFold | null;
  from?: null | string;
  n?: null | number;
};
export type PreviewedFire = {
  at: string;
  note?: null | string;
  note_kind?: NoteKind | null;
  wall?: null | string;
};
export type Priority = {
  priority?: null | number;
  urgent?: boolean | null;
};
export type Problem = {
  type: string;
  title: string;
  status: number;
  detail: string;
  code: string;
  field: null | string;
  rule?: { code: string };
};
export type Processed = {
  activated: number;
  started: number;
  available_slots: number;
};
export type QueueChange = {
  max_concurrent?: number;
  max_per_key?: number;
  roles?: Record<string, number>;
  keys?: Record<string, number>;
  paused?: boolean;
};
export type Readiness = {
  status?: string;
};
export type Reason = "cancelled" | "claimed" | "dependency_failed" | "dispatched" | "enqueued" | "expired" | "failed" | "marked_done" | "overdue" | "postponed" | "promoted" | "released" | "replaced" | "reprioritised" | "requeued" | "retried" | "scheduled" | "stop_requested" | "stopped" | "succeeded";
export type Registered = {
  created: number;
  updated: number;
  unchanged: number;
  removed: number;
};
export type RenderedMessage = {
  step: number;
  name: string;
  recipient: number;
  target: string;
  title: string;
  body: string;
};
export type Replay = {
  replayId: number;
  name: string;
  title: string;
  bytes: number;
  checksum: string;
  durationMs: number;
  createdAt: string;
};
export type ReplayPage = {
  items: Array<Replay>;
  page: number;
  size: number;
  total: number;
};
export type Returned = {
  job_id: number;
  direction: Direction;
  state: string;
  return: unknown;
};
export type Run = {
  run: number;
  queue_id: number;
  operation_direction: Direction | null;
  queue_return: Array<RunStep>;
  started_by: string;
  started_at: string;
  ended_at: null | string;
  duration: null | number;
};
export type RunKind = "manual" | "registered";
export type RunPage = {
  items: Array<Run>;
  next_cursor: null | string;
};
export type RunStatus = "completed" | "failed" | "pending" | "running";
export type RunStep = {
  job_id: number;
  direction: Direction;
  state: string;
  return: unknown;
  execution_id: null | string;
  started_at: null | string;
  ended_at: string;
};
export type Schedule = {
  id: string;
  name: null | string;
  task_id: string;
  cron: null | string;
  every: null | number;
  run_at: null | string;
  timezone: string;
  args: Record<string, unknown>;
  overlap: Overlap;
  misfire: Misfire;
  misfire_limit: number;
  jitter: number;
  starts_at: null | string;
  ends_at: null | string;
  dst_gap: ClockGap | null;
  dst_fold: ClockFold | null;
  paused: boolean;
  next_fire_at: null | string;
  last_fire_at: null | string;
  last_status: SchedulesExecutionStatus | null;
  last_execution_id: null | string;
  waiting: Array<string>;
  declared: boolean;
  overridden: Array<string>;
  version: number;
  created_by: string;
  created_at: string;
  changed_at: string;
};
export type ScheduleChange = {
  cron?: null | string;
  every?: null | number | string;
  run_at?: null | string;
  timezone?: null | string;
  jitter?: null | number | string;
  starts_at?: null | string;
  ends_at?: null | string;
  dst_gap?: ClockGap | null;
  dst_fold?: ClockFold | null;
  args?: Record<string, unknown> | null;
  overlap?: Overlap | null;
  misfire?: Misfire | null;
  misfire_limit?: null | number;
  paused?: boolean | null;
  name?: null | string;
  task_id?: string;
};
export type SchedulePage = {
  items: Array<Schedule>;
  next_cursor: null | string;
};
export type SchedulerEvent = {
  id: number;
  type: EventType;
  job_id: string;
  office_id: string;
  details: Record<string, unknown>;
  timestamp: string;
};
export type Scope = "admin" | "cron" | "read" | "user";
export type Session = {
  user: string;
  scope: Scope;
  login: boolean;
  timezone: string;
  expires_at?: null | string;
};
export type Setting = {
  name: string;
  value: unknown;
  default: unknown;
  description: string;
};
export type SimulatedJob = {
  id: string;
  key: null | string;
  title: null | string;
  role: null | string;
  task_id: null | string;
  status: JobStatus;
  start_ms: number;
  end_ms: number;
  waited_for: Cause | null;
  limit: null | string;
};
export type Simulation = {
  office_id: string;
  jobs: number;
  never: number;
  assumed: number;
  makespan_ms: number;
  unlimited_ms: number;
  ends_at: string;
  critical_path: Array<SimulatedJob>;
  add_slot: AddedSlot | null;
};
export type SimulationLimits = {
  maxConcurrentJobs?: null | number;
  maxConcurrentByRole?: Record<string, null | number> | null;
  assumed_ms?: null | number;
};
export type SkippedTimes = {
  count: number;
  first: string;
  last: string;
};
export type Spans = {
  count: number;
  mean: number;
  p50: number;
  p90: number;
  p95: number;
  p99: number;
  max: number;
};
export type State = "cancelled" | "failed" | "pending" | "ready" | "running" | "succeeded";
export type StatisticsStep = {
  enqueued: number;
  started: number;
  succeeded: number;
  failed: number;
  cancelled: number;
  retried: number;
  timed_out: number;
  throughput: number;
  wait: Spans | null;
  run: Spans | null;
  at: string;
  failures: Record<string, number>;
};
export type StepStatus = "cancelled" | "completed" | "failed" | "retrying" | "running" | "waiting";
export type StepType = "http" | "message" | "task" | "wait";
export type Task = {
  task_id: string;
  queue: string;
  role: null | string;
  priority: number;
  timeout_ms: null | number;
  max_retries: number;
  parameters: Record<string, unknown> | null;
  live: number;
  registered_by: string;
  first_registered_at: string;
  registered_at: string;
};
export type TaskPage = {
  items: Array<Task>;
  next_cursor: null | string;
};
export type Token = {
  id: number;
  user: string;
  scope: Scope;
  created_at: string;
  last_used_at: null | string;
  revoked_at: null | string;
};
export type Tokens = {
  items: Array<Token>;
};
export type Webhook = {
  id: string;
  url: string;
  events: Array<EventType> | null;
  state: WebhookState;
  disabled_at: null | string;
  consecutive_failures: number;
  last_error: null | string;
  last_failure_at: null | string;
  last_success_at: null | string;
};
export type WebhookBody = {
  url: string;
  secret: string;
  events?: Array<EventType> | null;
};
export type WebhookChange = {
  id?: null | string;
  url?: string;
  secret?: null | string;
  events?: Array<EventType> | null;
};
export type WebhookState = "disabled" | "enabled";
export type Workflow = {
  id: string;
  name: string;
  status: WorkflowStatus;
  steps: unknown;
  variables: unknown;
  schedule_config: unknown;
  timezone: string;
  notifications: Array<string>;
  next_run_at: null | string;
  run_id: null | string;
  declared: boolean;
  version: number;
  created_by: string;
  created_at: string;
  updated_at: string;
  run?: WorkflowRun | null;
};
export type WorkflowChanges = {
  name?: string;
  steps?: Array<NewStep>;
  schedule_config?: NewScheduleConfig;
  variables?: Record<string, unknown>;
  timezone?: null | string;
  status?: WorkflowStatus;
  notifications?: Array<string>;
};
export type WorkflowDelivery = {
  recipient: number;
  status: WorkflowsDeliveryStatus;
  attempts: number;
  unknown: number;
  error_message: null | string;
};
export type WorkflowPage = {
  items: Array<Workflow>;
  next_cursor: null | string;
};
export type WorkflowRun = {
  run_id: string;
  workflow_id: string;
  kind: RunKind;
  status: RunStatus;
  scheduled_time: string;
  executed_at: null | string;
  ended_at: null | string;
  retry_count: number;
  error_code: null | string;
  error_message: null | string;
  late: boolean;
  skipped: SkippedTimes | null;
  variables: unknown;
  steps: Array<WorkflowStep>;
};
export type WorkflowRunPage = {
  items: Array<WorkflowRun>;
  next_cursor: null | string;
};
export type WorkflowStatus = "active" | "draft" | "paused";
export type WorkflowStep = {
  index: number;
  name: string;
  type: StepType;
  status: StepStatus;
  attempts: number;
  output: unknown;
  error_message: null | string;
  started_at: string;
  ended_at: null | string;
  unknown: number;
  job_id: null | string;
  deliveries: Array<WorkflowDelivery>;
  output_secret?: boolean;
};
export type OfficesDeliveryStatus = "cancelled" | "delivered" | "failed" | "sending" | "waiting";
export type OfficesExecutionStatus = "cancelled" | "completed" | "failed" | "running" | "timeout";
export type SchedulesExecution = {
  execution_id: string;
  task_id: string;
  type: ExecutionType;
  status: SchedulesExecutionStatus;
  schedule_id: null | string;
  scheduled_at: string;
  created_at: string;
  started_at: null | string;
  ended_at: null | string;
  retry_count: number;
  instance: null | string;
  locked_until: null | string;
  error_code: null | string;
  error_message: null | string;
  progress: unknown;
  result: unknown;
  requested_by: null | string;
};
export type SchedulesExecutionStatus = "FAILED" | "PENDING" | "RUNNING" | "SUCCESS";
export type WorkflowsExecution = {
  run_id: string;
  workflow_id: string;
  status: RunStatus;
  error_code: null | string;
  error_message: null | string;
  steps: Array<WorkflowStep>;
};
export type WorkflowsDeliveryStatus = "failed" | "sending" | "sent" | "unknown";

export interface Calls {
  "GET /healthz": { path: Record<string, never>; query: Record<string, never>; body: undefined; result: Liveness };
  "GET /readyz": { path: Record<string, never>; query: Record<string, never>; body: undefined; result: Readiness };
  "GET /api/session": { path: Record<string, never>; query: Record<string, never>; body: undefined; result: Session };
  "POST /api/session": { path: Record<string, never>; query: Record<string, never>; body: LogIn; result: Session };
  "DELETE /api/session": { path: Record<string, never>; query: Record<string, never>; body: undefined; result: undefined };
  "GET /docs/korean.json": { path: Record<string, never>; query: Record<string, never>; body: undefined; result: Record<string, string> };
  "GET /api/engine/jobs": { path: Record<string, never>; query: { state?: "cancelled" | "failed" | "pending" | "ready" | "running" | "succeeded" | Array<"cancelled" | "failed" | "pending" | "ready" | "running" | "succeeded">; queue?: string; task?: string; role?: string; key?: string; id?: string; text?: string; failure_type?: string; created_after?: string; created_before?: string; own?: boolean; cursor?: string; limit?: number }; body: undefined; result: EngineJobPage };
  "POST /api/engine/jobs": { path: Record<string, never>; query: Record<string, never>; body: NewEngineJob; result: EngineJob };
  "POST /api/engine/jobs/bulk": { path: Record<string, never>; query: Record<string, never>; body: Bulk; result: BulkDone };
  "GET /api/engine/jobs/{jobId}": { path: { jobId: string }; query: Record<string, never>; body: undefined; result: EngineJobDetail };
  "GET /api/engine/jobs/{jobId}/log": { path: { jobId: string }; query: { attempt?: number; after?: string; limit?: number }; body: undefined; result: Log };
  "GET /api/engine/jobs/{jobId}/explain": { path: { jobId: string }; query: Record<string, never>; body: undefined; result: Explanation };
  "POST /api/engine/jobs/{jobId}/cancel": { path: { jobId: string }; query: Record<string, never>; body: undefined; result: EngineJob };
  "POST /api/engine/jobs/{jobId}/retry": { path: { jobId: string }; query: Record<string, never>; body: EngineRetry; result: EngineJob };
  "POST /api/engine/jobs/{jobId}/mark-done": { path: { jobId: string }; query: Record<string, never>; body: EngineMarkDone; result: EngineJob };
  "PATCH /api/engine/jobs/{jobId}/priority": { path: { jobId: string }; query: Record<string, never>; body: EnginePriority; result: EngineJob };
  "GET /api/engine/overview": { path: Record<string, never>; query: Record<string, never>; body: undefined; result: EngineOverview };
  "GET /api/engine/queues": { path: Record<string, never>; query: { name?: string; window?: number; cursor?: string; limit?: number }; body: undefined; result: EngineQueues };
  "PATCH /api/engine/queues/{name}": { path: { name: string }; query: Record<string, never>; body: QueueChange; result: EngineQueue };
  "GET /api/engine/instances": { path: Record<string, never>; query: Record<string, never>; body: undefined; result: EngineInstances };
  "POST /api/engine/instances/{number}/drain": { path: { number: string }; query: Record<string, never>; body: undefined; result: EngineInstance };
  "POST /api/engine/instances/{number}/resume": { path: { number: string }; query: Record<string, never>; body: undefined; result: EngineInstance };
  "GET /api/engine/statistics": { path: Record<string, never>; query: { from?: string; to?: string; step?: number; queue?: string }; body: undefined; result: EngineStatistics };
  "GET /api/engine/failures": { path: Record<string, never>; query: { seconds?: number; limit?: number }; body: undefined; result: FailureGroups };
  "GET /api/engine/actions": { path: Record<string, never>; query: { user?: string; cursor?: string; limit?: number }; body: undefined; result: ActionPage };
  "GET /api/engine/tokens": { path: Record<string, never>; query: Record<string, never>; body: undefined; result: Tokens };
  "POST /api/engine/tokens": { path: Record<string, never>; query: Record<string, never>; body: NewTokenRequest; result: CreatedToken };
  "DELETE /api/engine/tokens/{number}": { path: { number: string }; query: Record<string, never>; body: undefined; result: Token };
  "GET /api/engine/deadletters": { path: Record<string, never>; query: { cursor?: string; limit?: number }; body: undefined; result: DeadLetterPage };
  "GET /api/engine/deadletters/{letterId}": { path: { letterId: string }; query: Record<string, never>; body: undefined; result: DeadLetter };
  "DELETE /api/engine/deadletters/{letterId}": { path: { letterId: string }; query: Record<string, never>; body: undefined; result: DeadLetter };
  "POST /api/engine/deadletters/{letterId}/republish": { path: { letterId: string }; query: Record<string, never>; body: undefined; result: DeadLetter };
  "GET /api/engine/settings": { path: Record<string, never>; query: Record<string, never>; body: undefined; result: EngineSettings };
  "POST /api/offices": { path: Record<string, never>; query: Record<string, never>; body: OfficeBody; result: Office };
  "GET /api/offices": { path: Record<string, never>; query: { cursor?: string; limit?: number }; body: undefined; result: OfficePage };
  "GET /api/offices/{id}": { path: { id: string }; query: Record<string, never>; body: undefined; result: Office };
  "PATCH /api/offices/{id}": { path: { id: string }; query: Record<string, never>; body: OfficeChange; result: Office };
  "DELETE /api/offices/{id}": { path: { id: string }; query: { cancel?: boolean }; body: undefined; result: undefined };
  "GET /api/offices/{id}/scheduler/stats": { path: { id: string }; query: Record<string, never>; body: undefined; result: JobQueueStats };
  "GET /api/offices/{id}/scheduler/config": { path: { id: string }; query: Record<string, never>; body: undefined; result: JobSchedulerConfig };
  "PATCH /api/offices/{id}/scheduler/config": { path: { id: string }; query: Record<string, never>; body: ConfigChange; result: JobSchedulerConfig };
  "POST /api/offices/{id}/scheduler/process": { path: { id: string }; query: Record<string, never>; body: undefined; result: Processed };
  "POST /api/offices/{id}/scheduler/simulate": { path: { id: string }; query: Record<string, never>; body: SimulationLimits; result: Simulation };
  "POST /api/offices/{id}/jobs": { path: { id: string }; query: Record<string, never>; body: JobBatch; result: JobsCreated };
  "GET /api/offices/{id}/jobs": { path: { id: string }; query: { status?: Array<"cancelled" | "done" | "failed" | "pending" | "processing" | "ready" | "timeout">; role?: string; task_id?: string; cursor?: string; limit?: number }; body: undefined; result: JobPage };
  "POST /api/offices/{id}/jobs/cancel-all": { path: { id: string }; query: Record<string, never>; body: CancelAll; result: CancelledAll };
  "GET /api/offices/{id}/jobs/{jobId}": { path: { id: string; jobId: string }; query: Record<string, never>; body: undefined; result: JobDetail };
  "GET /api/offices/{id}/jobs/{jobId}/log": { path: { id: string; jobId: string }; query: { attempt?: number; after?: string; limit?: number }; body: undefined; result: Log };
  "GET /api/offices/{id}/jobs/{jobId}/explain": { path: { id: string; jobId: string }; query: Record<string, never>; body: undefined; result: Explanation };
  "POST /api/offices/{id}/jobs/{jobId}/retry": { path: { id: string; jobId: string }; query: Record<string, never>; body: JobRetry; result: Job };
  "POST /api/offices/{id}/jobs/{jobId}/cancel": { path: { id: string; jobId: string }; query: Record<string, never>; body: undefined; result: Job };
  "POST /api/offices/{id}/jobs/{jobId}/mark-done": { path: { id: string; jobId: string }; query: Record<string, never>; body: JobMarkDone; result: Job };
  "PATCH /api/offices/{id}/jobs/{jobId}/priority": { path: { id: string; jobId: string }; query: Record<string, never>; body: Priority; result: Job };
  "GET /api/offices/{id}/graph": { path: { id: string }; query: { task_id?: string; cursor?: string; limit?: number }; body: undefined; result: Graph };
  "GET /api/offices/{id}/webhooks/{webhookId}": { path: { id: string; webhookId: string }; query: Record<string, never>; body: undefined; result: Webhook };
  "POST /api/offices/{id}/webhooks/{webhookId}/enable": { path: { id: string; webhookId: string }; query: Record<string, never>; body: undefined; result: Webhook };
  "POST /api/offices/{id}/webhooks/{webhookId}/test": { path: { id: string; webhookId: string }; query: Record<string, never>; body: undefined; result: Delivery };
  "GET /api/offices/{id}/webhooks/{webhookId}/deliveries": { path: { id: string; webhookId: string }; query: { cursor?: string; limit?: number }; body: undefined; result: DeliveryPage };
  "GET /api/offices/{id}/webhooks/{webhookId}/deliveries/{deliveryId}": { path: { id: string; webhookId: string; deliveryId: string }; query: Record<string, never>; body: undefined; result: Delivery };
  "GET /api/tasks": { path: Record<string, never>; query: { cursor?: string; limit?: number }; body: undefined; result: TaskPage };
  "GET /api/tasks/{task_id}": { path: { task_id: string }; query: Record<string, never>; body: undefined; result: Task };
  "POST /api/tasks/{task_id}/executions": { path: { task_id: string }; query: Record<string, never>; body: ManualRun; result: SchedulesExecution };
  "GET /api/executions": { path: Record<string, never>; query: { task_id?: string; status?: Array<"FAILED" | "PENDING" | "RUNNING" | "SUCCESS">; type?: "MANUAL" | "SCHEDULE"; schedule_id?: string; cursor?: string; limit?: number }; body: undefined; result: ExecutionPage };
  "GET /api/executions/{id}": { path: { id: string }; query: Record<string, never>; body: undefined; result: SchedulesExecution };
  "GET /api/executions/{id}/explain": { path: { id: string }; query: Record<string, never>; body: undefined; result: Explanation };
  "POST /api/executions/{id}/cancel": { path: { id: string }; query: Record<string, never>; body: undefined; result: SchedulesExecution };
  "POST /api/schedules": { path: Record<string, never>; query: Record<string, never>; body: NewSchedule; result: Schedule };
  "GET /api/schedules": { path: Record<string, never>; query: { task_id?: string; paused?: boolean; name?: string; cursor?: string; limit?: number }; body: undefined; result: SchedulePage };
  "POST /api/schedules/preview": { path: Record<string, never>; query: Record<string, never>; body: PreviewRequest; result: Preview };
  "GET /api/schedules/{id}": { path: { id: string }; query: Record<string, never>; body: undefined; result: Schedule };
  "PATCH /api/schedules/{id}": { path: { id: string }; query: Record<string, never>; body: ScheduleChange; result: Schedule };
  "DELETE /api/schedules/{id}": { path: { id: string }; query: Record<string, never>; body: undefined; result: undefined };
  "POST /api/schedules/{id}/pause": { path: { id: string }; query: Record<string, never>; body: undefined; result: Schedule };
  "POST /api/schedules/{id}/resume": { path: { id: string }; query: Record<string, never>; body: undefined; result: Schedule };
  "GET /api/schedules/{id}/preview": { path: { id: string }; query: { n?: number }; body: undefined; result: Preview };
  "GET /api/schedules/{id}/fires": { path: { id: string }; query: { outcome?: "coalesced" | "created" | "missed" | "skipped"; cursor?: string; limit?: number }; body: undefined; result: FirePage };
  "POST /api/chains": { path: Record<string, never>; query: Record<string, never>; body: NewChain; result: Chain };
  "GET /api/chains": { path: Record<string, never>; query: { state?: "BLOCKED" | "EMPTY" | "READY" | "RUNNING"; cursor?: string; limit?: number }; body: undefined; result: ChainPage };
  "GET /api/chains/{queue_id}": { path: { queue_id: string }; query: Record<string, never>; body: undefined; result: Chain };
  "DELETE /api/chains/{queue_id}": { path: { queue_id: string }; query: Record<string, never>; body: undefined; result: undefined };
  "POST /api/chains/{queue_id}/jobs": { path: { queue_id: string }; query: Record<string, never>; body: NewChainJob; result: ChainJob };
  "POST /api/chains/{queue_id}/run": { path: { queue_id: string }; query: { wait?: number }; body: NewRun; result: Chain };
  "POST /api/chains/{queue_id}/resume": { path: { queue_id: string }; query: { wait?: number }; body: undefined; result: Chain };
  "POST /api/chains/{queue_id}/skip": { path: { queue_id: string }; query: { wait?: number }; body: undefined; result: Chain };
  "POST /api/chains/{queue_id}/abort": { path: { queue_id: string }; query: { wait?: number }; body: undefined; result: Chain };
  "GET /api/chains/{queue_id}/runs": { path: { queue_id: string }; query: { cursor?: string; limit?: number }; body: undefined; result: RunPage };
  "GET /api/chains/{queue_id}/runs/{n}": { path: { queue_id: string; n: string }; query: Record<string, never>; body: undefined; result: Run };
  "GET /api/chains/{queue_id}/explain": { path: { queue_id: string }; query: Record<string, never>; body: undefined; result: Explanation };
  "POST /api/workflows": { path: Record<string, never>; query: { wait?: number }; body: NewWorkflow; result: Workflow };
  "GET /api/workflows": { path: Record<string, never>; query: { status?: "active" | "draft" | "paused"; cursor?: string; limit?: number }; body: undefined; result: WorkflowPage };
  "GET /api/workflows/{id}": { path: { id: string }; query: Record<string, never>; body: undefined; result: Workflow };
  "PATCH /api/workflows/{id}": { path: { id: string }; query: Record<string, never>; body: WorkflowChanges; result: Workflow };
  "DELETE /api/workflows/{id}": { path: { id: string }; query: Record<string, never>; body: undefined; result: undefined };
  "POST /api/workflows/{id}/activate": { path: { id: string }; query: { wait?: number }; body: undefined; result: Workflow };
  "POST /api/workflows/{id}/pause": { path: { id: string }; query: Record<string, never>; body: undefined; result: Workflow };
  "POST /api/workflows/{id}/dry-run": { path: { id: string }; query: Record<string, never>; body: DryRun; result: DryRunResult };
  "GET /api/workflows/{id}/runs": { path: { id: string }; query: { cursor?: string; limit?: number }; body: undefined; result: WorkflowRunPage };
  "GET /api/workflows/{id}/runs/{run_id}": { path: { id: string; run_id: string }; query: Record<string, never>; body: undefined; result: WorkflowRun };
  "POST /api/workflows/{id}/runs/{run_id}/cancel": { path: { id: string; run_id: string }; query: Record<string, never>; body: undefined; result: WorkflowRun };
  "POST /api/workflows/{id}/runs/{run_id}/retry": { path: { id: string; run_id: string }; query: Record<string, never>; body: undefined; result: WorkflowRun };
  "GET /api/workflows/{id}/runs/{run_id}/explain": { path: { id: string; run_id: string }; query: Record<string, never>; body: undefined; result: Explanation };
  "POST /api/workflow/execute": { path: Record<string, never>; query: Record<string, never>; body: NewExecution; result: WorkflowsExecution };
  "POST /api/scheduler/cron": { path: Record<string, never>; query: Record<string, never>; body: undefined; result: Registered };
  "GET /api/scheduler/cron": { path: Record<string, never>; query: Record<string, never>; body: undefined; result: Registered };
  "GET /api/scheduler/execute": { path: Record<string, never>; query: Record<string, never>; body: undefined; result: Executed };
  "GET /api/scheduler/monitor": { path: Record<string, never>; query: Record<string, never>; body: undefined; result: Monitor };
  "GET /api/replays": { path: Record<string, never>; query: { page?: number; size?: number }; body: undefined; result: ReplayPage };
  "GET /api/replays/{replayId}": { path: { replayId: string }; query: Record<string, never>; body: undefined; result: Replay };
  "DELETE /api/replays/{replayId}": { path: { replayId: string }; query: Record<string, never>; body: undefined; result: undefined };
  "POST /api/replays/{replayId}/exports/mp4": { path: { replayId: string }; query: Record<string, never>; body: NewVideo; result: ExportCreated };
  "POST /api/replays/{replayId}/exports/thumbnail": { path: { replayId: string }; query: Record<string, never>; body: NewThumbnail; result: ExportCreated };
  "GET /api/jobs": { path: Record<string, never>; query: { jobType?: "MP4" | "THUMBNAIL"; status?: "CANCELLED" | "FAILED" | "QUEUED" | "RUNNING" | "SUCCEEDED"; page?: number; size?: number }; body: undefined; result: ExportPage };
  "GET /api/jobs/{jobId}": { path: { jobId: string }; query: Record<string, never>; body: undefined; result: Export };
  "POST /api/jobs/{jobId}/cancel": { path: { jobId: string }; query: Record<string, never>; body: undefined; result: Export };
  "GET /api/jobs/{jobId}/explain": { path: { jobId: string }; query: Record<string, never>; body: undefined; result: Explanation };
}

export interface Streams {
  "/ws/engine/events": { path: Record<string, never>; query: Record<string, never>; body: undefined; result: EngineEvent };
  "/ws/engine/changes": { path: Record<string, never>; query: Record<string, never>; body: undefined; result: EngineChange };
  "/ws/offices/{id}/events": { path: { id: string }; query: Record<string, never>; body: undefined; result: SchedulerEvent };
  "/ws/chains/{queue_id}/events": { path: { queue_id: string }; query: Record<string, never>; body: undefined; result: ChainEvent };
  "/ws/jobs": { path: Record<string, never>; query: Record<string, never>; body: undefined; result: ExportEvent };
}
