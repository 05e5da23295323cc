package sluice

// Pipelines.
var (
	CodePipelineInvalid = Code{"pipeline-invalid", Invalid, "The source has a mistake; `line` and `column` say where."}
	CodePipelineUnknown = Code{"pipeline-unknown", NotFound, "There is no such pipeline."}
	CodePipelineGone    = Code{
		"pipeline-gone", Gone, "The pipeline was deleted, or listens to other events by now.",
	}
	CodePipelineChanged = Code{
		"pipeline-changed", Conflict, "Someone else changed the pipeline at the same moment.",
	}
	CodePipelineReadOnly     = Code{"pipeline-read-only", Conflict, "The pipeline comes from the operator's folder."}
	CodePipelineNotListening = Code{"pipeline-not-listening", Conflict, "The pipeline does not listen to that event."}
	CodePipelineNotPermitted = Code{
		"pipeline-not-permitted", Unprocessable, "The pipeline would lack a permission; `errors` says which.",
	}
	CodeVersionUnknown  = Code{"version-unknown", NotFound, "The pipeline has no such version any more."}
	CodeNotPermitted    = Code{"not-permitted", Unprocessable, "A finding: a step would lack a permission."}
	CodeUserUnknown     = Code{"user-unknown", Unprocessable, "A finding: a step names a user who does not exist."}
	CodeEventKeyUnknown = Code{"event-key-unknown", Unprocessable, "A warning: no webhook has the event key."}
	CodePayloadIsBase64 = Code{
		"payload-is-base64", Unprocessable,
		"A warning: the pipeline reads members of a payload that its webhook passes on as base64.",
	}
	CodeNameUnset = Code{
		"name-unset", Unprocessable, "A warning: nothing sets the variable or header that the pipeline reads.",
	}
	CodeRightsLent = Code{
		"rights-lent", Unprocessable, "A warning: the pipeline may do more because of who saves it.",
	}
	CodeListensAnew = Code{
		"listens-anew", Unprocessable, "A warning: events that waited for the pipeline as it was are not run.",
	}
	CodeLetterUnknown    = Code{"letter-unknown", NotFound, "There is no such dead letter."}
	CodeLetterUnreadable = Code{"letter-unreadable", Internal, "The event of the dead letter can't be read."}
	CodeSourceTooLong    = Code{
		"source-too-long", TooLarge, "The source of a pipeline that is not stored is too long beside a body.",
	}
	CodeTooManyTests     = Code{"too-many-tests", Throttled, "The user runs as many tests of pipelines as one may."}
	CodeTooManyVariables = Code{"too-many-variables", TooLarge, "More variables were given than a run takes."}
	CodeNotInAPipeline   = Code{
		"not-in-a-pipeline", Invalid, "The command does something only as a step of a pipeline.",
	}
)

// Runs and steps.
var (
	CodeAssertionFailed  = Code{"assertion-failed", Invalid, "What an `assert` step demands is not true."}
	CodeFailed           = Code{"failed", Invalid, "A `fail` step ended the run."}
	CodeExpressionFailed = Code{"expression-failed", Invalid, "An expression could not be computed."}
	CodeArgumentsInvalid = Code{"arguments-invalid", Invalid, "A function was called with the wrong arguments."}
	CodeForeachInvalid   = Code{"foreach-invalid", Invalid, "`in` of `foreach` is no list."}
	CodeTooManySteps     = Code{"too-many-steps", Invalid, "The run has done as many steps as a run may."}
	CodeTooManyItems     = Code{"too-many-items", TooLarge, "A list or object has too many items."}
	CodeTooMuchMemory    = Code{
		"too-much-memory", TooLarge, "Body, variables and headers take more memory than a run may.",
	}
	CodeResultTooLarge = Code{"result-too-large", TooLarge, "The final body is too large."}
	CodeRunTooLong     = Code{"run-too-long", Internal, "The run took too long and was stopped."}
	CodeTooManyRuns    = Code{"too-many-runs", Unavailable, "As many pipelines run as the server allows."}
	CodeNoRunMemory    = Code{
		"no-run-memory", Unavailable, "All runs together take as much memory as the server allows.",
	}
	CodeInterrupted  = Code{"interrupted", Unavailable, "The step was interrupted before it was done."}
	CodeStepPanicked = Code{"step-panicked", Internal, "The step failed inside; the server's log has the cause."}
	CodeStubbed      = Code{"stubbed", Internal, "The stub of a command says that it fails."}
	CodeStubMissing  = Code{"stub-missing", Internal, "A test calls an outside command that has no stub."}
	CodeNotRecorded  = Code{"not-recorded", Unavailable, "What an outside command answered was not recorded."}
	CodeNoEvent      = Code{"no-event", Invalid, "There is no call to send on."}
	CodeHTTPStatus   = Code{
		"http-status", Invalid, "An outside call was answered with a status that is not expected.",
	}
	CodeHTTPFailed     = Code{"http-failed", Unavailable, "An outside call failed."}
	CodeHTTPTimeout    = Code{"http-timeout", Unavailable, "An outside call took too long."}
	CodeMailFailed     = Code{"mail-failed", Unavailable, "A mail could not be sent now."}
	CodeMailRefused    = Code{"mail-refused", Unprocessable, "The mail server refuses the mail for good."}
	CodeMailUnset      = Code{"mail-unset", Unprocessable, "The server has no settings for mail."}
	CodeAddressRefused = Code{
		"address-refused", Forbidden, "The address of an outside call is in a network that is not allowed.",
	}
	CodeHeaderInvalid = Code{"header-invalid", Invalid, "A header of an outside call is no text."}
	CodeSecretUnknown = Code{"secret-unknown", NotFound, "There is no such secret."}
	CodeSecretInUse   = Code{"secret-in-use", Conflict, "The secret is in use."}
)

// Values.
var (
	CodeNotJSON       = Code{"not-json", Invalid, "The text is not JSON."}
	CodeJSONInvalid   = Code{"json-invalid", Invalid, "The text is not JSON."}
	CodeYAMLInvalid   = Code{"yaml-invalid", Invalid, "The text is not YAML."}
	CodeXMLInvalid    = Code{"xml-invalid", Invalid, "The text is not XML, or XML of a kind that is not taken."}
	CodeCSVInvalid    = Code{"csv-invalid", Invalid, "The text is not CSV."}
	CodeFormInvalid   = Code{"form-invalid", Invalid, "The text is not a form."}
	CodeGzipInvalid   = Code{"gzip-invalid", Invalid, "The bytes are not gzip."}
	CodeBase64Invalid = Code{"base64-invalid", Invalid, "The text is not base64."}
	CodeBase64Given   = Code{"base64-given", Invalid, "The text is base64, where something else is wanted."}
	CodeNotText       = Code{"not-text", Invalid, "The bytes are no text in that charset."}
	CodeValueTooDeep  = Code{"value-too-deep", TooLarge, "Lists and objects are nested too deep."}
	CodeValueTooLarge = Code{"value-too-large", TooLarge, "A value is too large."}
)

// The server and its engine.
var (
	CodeInternal          = Code{"internal", Internal, "The server failed; its log has the cause."}
	CodeStarting          = Code{"starting", Unavailable, "The server is starting."}
	CodeDraining          = Code{"draining", Unavailable, "The server is stopping."}
	CodeOverloaded        = Code{"overloaded", Unavailable, "The server holds as much as its memory allows."}
	CodeTooManyCalls      = Code{"too-many-calls", Throttled, "The user has as many calls in flight as one may."}
	CodeTooManyUnfinished = Code{"too-many-unfinished", Throttled, "Too many unfinished calls come from this address."}
	CodeTooManyTails      = Code{
		"too-many-tails", Throttled,
		"The user, or all users together, have as many live tails open as the server allows.",
	}
	CodeAnswerTooLarge    = Code{"answer-too-large", TooLarge, "The answer would be too large; ask for less."}
	CodeEngineUnavailable = Code{"engine-unavailable", Unavailable, "The storage engine does not answer."}
	CodeEngineFailed      = Code{"engine-failed", Unavailable, "The storage engine failed and is about to restart."}
	CodeEngineLimit       = Code{
		"engine-limit", Unavailable, "A limit of the external engine is reached; its operator can raise it.",
	}
	CodeEngineTooOld   = Code{"engine-too-old", Unavailable, "The external engine is too old for this."}
	CodeEngineNewer    = Code{"engine-newer", Invalid, "A newer version has begun to use the engine."}
	CodeEngineOlder    = Code{"engine-older", Invalid, "What version 0.1 stored on the engine can't be read."}
	CodeEngineNotEmpty = Code{
		"engine-not-empty", Conflict, "The engine that a backup should be restored to is not empty.",
	}
	CodeTooManyRecords = Code{
		"too-many-records", Full,
		"Webhooks, pipelines, users, roles, clients and secrets take as much memory as they may.",
	}
	CodeDiskFull = Code{
		"disk-full", Unavailable,
		"Free disk space is below the configured minimum, or the disk can take hardly any more files.",
	}
	CodeDiskSlow    = Code{"disk-slow", Unavailable, "The disk takes longer than calls wait for."}
	CodeStorageFull = Code{
		"storage-full", Unavailable, "The storage is full of events that pipelines have not finished.",
	}
	CodeSpoolFull         = Code{"spool-full", Unavailable, "The engine is away, and the node's own folder is full."}
	CodeDamaged           = Code{"damaged", Internal, "The store is damaged."}
	CodeBackupRunning     = Code{"backup-running", Conflict, "Another backup is being made."}
	CodeBackupFailed      = Code{"backup-failed", Unavailable, "The backup ended early."}
	CodeBackupDamaged     = Code{"backup-damaged", Invalid, "The backup is damaged or cut off."}
	CodeBackupForeign     = Code{"backup-foreign", Invalid, "The backup has something that is not sluice's."}
	CodeBackupNewer       = Code{"backup-newer", Invalid, "A newer version made the backup."}
	CodePassphraseMissing = Code{"passphrase-missing", Invalid, "The key in the backup is sealed with a passphrase."}
	CodePassphraseWrong   = Code{
		"passphrase-wrong", Invalid, "The key in the backup was sealed with another passphrase.",
	}
	CodeSecretKeyInvalid = Code{"secret-key-invalid", Invalid, "The secret key is malformed."}
	CodeSecretKeyMissing = Code{"secret-key-missing", Invalid, "The secret key is not there."}
	CodeSecretKeyOther   = Code{"secret-key-other", Invalid, "The secret key is not the one that was used."}
)

// The command line.
var (
	CodeUsage             = Code{"usage", Invalid, "The command line is wrong."}
	CodeFileInvalid       = Code{"file-invalid", Invalid, "A file of a folder for `apply` has a mistake."}
	CodeRefused           = Code{"refused", Conflict, "The server refused one of many things without a reason."}
	CodeNotLoggedIn       = Code{"not-logged-in", Unauthenticated, "Nobody is logged in at that server."}
	CodeLoginFailed       = Code{"login-failed", Unauthenticated, "The server gave the browser no code."}
	CodeLoginRefused      = Code{"login-refused", Forbidden, "The login was refused in the browser."}
	CodeLoginEnded        = Code{"login-ended", Unauthenticated, "The login has ended."}
	CodeNotSignedIn       = Code{"not-signed-in", Timeout, "Nobody has signed in within the time."}
	CodeNoSignInPage      = Code{"no-sign-in-page", NotFound, "The server has no page to sign in on."}
	CodeNoIssuer          = Code{"no-issuer", Unauthenticated, "The server gives no tokens."}
	CodeIssuerMalformed   = Code{"issuer-malformed", Unavailable, "The issuer does not say where it gives tokens."}
	CodeProfileUnknown    = Code{"profile-unknown", NotFound, "There is no such profile."}
	CodeProfileUnreadable = Code{"profile-unreadable", Internal, "The profile can't be read."}
	CodeProfileLocked     = Code{
		"profile-locked", Unavailable, "Another program has been renewing the login for too long.",
	}
	CodeServerUnreachable = Code{"server-unreachable", Unavailable, "The server can't be reached."}
	CodeNotAServer        = Code{"not-a-server", Unavailable, "What answers at the URL is not sluice."}
	CodeRedirected        = Code{"redirected", Invalid, "The server leads elsewhere."}
	CodeTailEnded         = Code{"tail-ended", Unavailable, "The live tail has ended."}
	CodeAnswerMalformed   = Code{"answer-malformed", Internal, "The server's answer is not what was asked for."}
	CodeCallMalformed     = Code{"call-malformed", Internal, "The server's answer is no call."}
	CodeEventsMalformed   = Code{"events-malformed", Internal, "The server's answer is no list of events."}
	CodeRedirectMalformed = Code{"redirect-malformed", Internal, "The server leads elsewhere than to the result."}
	CodeResultMalformed   = Code{"result-malformed", Internal, "The server's answer is no result."}
	CodeTokenMalformed    = Code{"token-malformed", Internal, "The server's answer is no token."}
	CodeWebhookMalformed  = Code{"webhook-malformed", Internal, "The server's answer is no webhook."}
)

// OAuth 2.0, in the words of its RFCs.
var (
	CodeInvalidRequest = Code{"invalid_request", Invalid, "The request is malformed."}
	CodeInvalidClient  = Code{
		"invalid_client", Unauthenticated, "The client is not known, or its secret is wrong.",
	}
	CodeInvalidGrant = Code{
		"invalid_grant", Invalid, "The password, code or refresh token is wrong or used up.",
	}
	CodeInvalidScope            = Code{"invalid_scope", Invalid, "The scope is not allowed."}
	CodeInvalidToken            = Code{"invalid_token", Unauthenticated, "The access token is not valid."}
	CodeInsufficientScope       = Code{"insufficient_scope", Forbidden, "The token lacks a scope."}
	CodeUnauthorizedClient      = Code{"unauthorized_client", Invalid, "The client may not use this grant type."}
	CodeUnsupportedGrantType    = Code{"unsupported_grant_type", Invalid, "There is no such grant type here."}
	CodeUnsupportedResponseType = Code{"unsupported_response_type", Invalid, "There is no such response type here."}
	CodeUnsupportedTokenType    = Code{"unsupported_token_type", Invalid, "Such a token can't be revoked."}
	CodeRequestNotSupported     = Code{"request_not_supported", Invalid, "The parameter `request` is not supported."}
	CodeRequestURINotSupported  = Code{
		"request_uri_not_supported", Invalid, "The parameter `request_uri` is not supported.",
	}
	CodeOAuthNotFound = Code{"not_found", NotFound, "There is nothing at this path."}
)
