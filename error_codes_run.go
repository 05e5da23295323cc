package sluice

// Pipelines.
var (
	// The source has a mistake; `line` and `column` say where.
	CodePipelineInvalid = Code{"pipeline-invalid", Invalid}
	// There is no such pipeline.
	CodePipelineUnknown = Code{"pipeline-unknown", NotFound}
	// The pipeline was deleted, or listens to other events by now.
	CodePipelineGone = Code{"pipeline-gone", Gone}
	// Someone else changed the pipeline at the same moment.
	CodePipelineChanged = Code{"pipeline-changed", Conflict}
	// The pipeline comes from the operator's folder.
	CodePipelineReadOnly = Code{"pipeline-read-only", Conflict}
	// The pipeline does not listen to that event.
	CodePipelineNotListening = Code{"pipeline-not-listening", Conflict}
	// The pipeline would lack a permission; `errors` says which.
	CodePipelineNotPermitted = Code{"pipeline-not-permitted", Unprocessable}
	// The pipeline has no such version any more.
	CodeVersionUnknown = Code{"version-unknown", NotFound}
	// A finding: a step would lack a permission.
	CodeNotPermitted = Code{"not-permitted", Unprocessable}
	// A finding: a step names a user who does not exist.
	CodeUserUnknown = Code{"user-unknown", Unprocessable}
	// A warning: no webhook has the event key, and no pipeline sends it.
	CodeEventKeyUnknown = Code{"event-key-unknown", Unprocessable}
	// A warning: the pipeline reads members of a payload that its webhook passes on as base64.
	CodePayloadIsBase64 = Code{"payload-is-base64", Unprocessable}
	// A warning: nothing sets the variable or header that the pipeline reads.
	CodeNameUnset = Code{"name-unset", Unprocessable}
	// A warning: the pipeline takes the length of what is text if an element of XML occurs once.
	CodeLengthOfText = Code{"length-of-text", Unprocessable}
	// A warning: {{ }} is text, since expressions stand in #{ }.
	CodeBracesAreText = Code{"braces-are-text", Unprocessable}
	// A warning: the pipeline forwards calls and has no retry.
	CodeRetryMissing = Code{"retry-missing", Unprocessable}
	// A warning: the pipeline may do more because of who saves it.
	CodeRightsLent = Code{"rights-lent", Unprocessable}
	// A warning: events that waited for the pipeline as it was are not run.
	CodeListensAnew = Code{"listens-anew", Unprocessable}
	// There is no such dead letter.
	CodeLetterUnknown = Code{"letter-unknown", NotFound}
	// The event of the dead letter can't be read.
	CodeLetterUnreadable = Code{"letter-unreadable", Internal}
	// The source of a pipeline that is not stored is too long beside a body.
	CodeSourceTooLong = Code{"source-too-long", TooLarge}
	// The user runs as many tests of pipelines as one may.
	CodeTooManyTests = Code{"too-many-tests", Throttled}
	// More variables were given than a run takes.
	CodeTooManyVariables = Code{"too-many-variables", TooLarge}
	// The command does something only as a step of a pipeline.
	CodeNotInAPipeline = Code{"not-in-a-pipeline", Invalid}
)

// Runs and steps.
var (
	// What an `assert` step demands is not true.
	CodeAssertionFailed = Code{"assertion-failed", Invalid}
	// A `fail` step ended the run.
	CodeFailed = Code{"failed", Invalid}
	// An expression could not be computed.
	CodeExpressionFailed = Code{"expression-failed", Invalid}
	// A function was called with the wrong arguments.
	CodeArgumentsInvalid = Code{"arguments-invalid", Invalid}
	// `in` of `foreach` is no list.
	CodeForeachInvalid = Code{"foreach-invalid", Invalid}
	// The run has done as many steps as a run may.
	CodeTooManySteps = Code{"too-many-steps", Invalid}
	// A list or object has too many items.
	CodeTooManyItems = Code{"too-many-items", TooLarge}
	// Body, variables and headers take more memory than a run may.
	CodeTooMuchMemory = Code{"too-much-memory", TooLarge}
	// The final body, or the output of a step that is done once, is too large.
	CodeResultTooLarge = Code{"result-too-large", TooLarge}
	// Nobody has done the work of a step within its time.
	CodeWorkExpired = Code{"work-expired", Gone}
	// Whoever took the work of a step says that it can't be done.
	CodeWorkFailed = Code{"work-failed", Invalid}
	// The lease is over: the work is offered to others, or was done by them.
	CodeLeaseOver = Code{"lease-over", Gone}
	// The run took too long and was stopped.
	CodeRunTooLong = Code{"run-too-long", Internal}
	// As many pipelines run as the server allows.
	CodeTooManyRuns = Code{"too-many-runs", Unavailable}
	// All runs together take as much memory as the server allows.
	CodeNoRunMemory = Code{"no-run-memory", Unavailable}
	// The step was interrupted before it was done.
	CodeInterrupted = Code{"interrupted", Unavailable}
	// The step failed inside; the server's log has the cause.
	CodeStepPanicked = Code{"step-panicked", Internal}
	// The stub of a command says that it fails.
	CodeStubbed = Code{"stubbed", Internal}
	// A test calls an outside command that has no stub.
	CodeStubMissing = Code{"stub-missing", Internal}
	// What an outside command answered was not recorded.
	CodeNotRecorded = Code{"not-recorded", Unavailable}
	// There is no call to send on.
	CodeNoEvent = Code{"no-event", Invalid}
	// An outside call was answered with a status that is not expected.
	CodeHTTPStatus = Code{"http-status", Invalid}
	// An outside call failed.
	CodeHTTPFailed = Code{"http-failed", Unavailable}
	// An outside call got no credential: its token endpoint refuses, or is away.
	CodeAuthFailed = Code{"auth-failed", Unavailable}
	// An outside call took too long.
	CodeHTTPTimeout = Code{"http-timeout", Unavailable}
	// A database or cluster gave no answer, or said to try again.
	CodeTargetAway = Code{"target-away", Unavailable}
	// A database refuses a statement; `sqlState` says why.
	CodeSQLFailed = Code{"sql-failed", Invalid}
	// A cluster of Kafka refuses a record for good.
	CodeKafkaFailed = Code{"kafka-failed", Invalid}
	// A mail could not be sent now.
	CodeMailFailed = Code{"mail-failed", Unavailable}
	// The mail server refuses the mail for good.
	CodeMailRefused = Code{"mail-refused", Unprocessable}
	// The server has no settings for mail.
	CodeMailUnset = Code{"mail-unset", Unprocessable}
	// The address of an outside call is in a network that is not allowed.
	CodeAddressRefused = Code{"address-refused", Forbidden}
	// A header of an outside call is no text.
	CodeHeaderInvalid = Code{"header-invalid", Invalid}
	// There is no such secret.
	CodeSecretUnknown = Code{"secret-unknown", NotFound}
	// The secret is in use.
	CodeSecretInUse = Code{"secret-in-use", Conflict}
)

// Values.
var (
	// The text is not JSON.
	CodeNotJSON = Code{"not-json", Invalid}
	// The text is not JSON.
	CodeJSONInvalid = Code{"json-invalid", Invalid}
	// The text is not YAML.
	CodeYAMLInvalid = Code{"yaml-invalid", Invalid}
	// The text is not XML, or XML of a kind that is not taken.
	CodeXMLInvalid = Code{"xml-invalid", Invalid}
	// The text is not CSV.
	CodeCSVInvalid = Code{"csv-invalid", Invalid}
	// The text is not a form.
	CodeFormInvalid = Code{"form-invalid", Invalid}
	// The bytes are not gzip.
	CodeGzipInvalid = Code{"gzip-invalid", Invalid}
	// The text is not base64.
	CodeBase64Invalid = Code{"base64-invalid", Invalid}
	// The text is base64, where something else is wanted.
	CodeBase64Given = Code{"base64-given", Invalid}
	// The bytes are no text in that charset.
	CodeNotText = Code{"not-text", Invalid}
	// Lists and objects are nested too deep.
	CodeValueTooDeep = Code{"value-too-deep", TooLarge}
	// A value is too large.
	CodeValueTooLarge = Code{"value-too-large", TooLarge}
)
