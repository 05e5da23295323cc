package sluice

// Calls of webhooks.
var (
	CodeTokenMissing          = Code{"token-missing", Unauthenticated, "The call carries no token."}
	CodeTokenInvalid          = Code{"token-invalid", Unauthenticated, "No webhook has this token."}
	CodeTokenAmbiguous        = Code{"token-ambiguous", Invalid, "The call carries more than one token."}
	CodeTooManyBadTokens      = Code{"too-many-bad-tokens", Throttled, "Too many calls without a valid token came from this address."}
	CodeMessageTooLarge       = Code{"message-too-large", TooLarge, "What would be stored is larger than the engine takes."}
	CodePayloadTooLarge       = Code{"payload-too-large", TooLarge, "The body is longer than the webhook, or any webhook, takes."}
	CodePayloadInvalid        = Code{"payload-invalid", Unprocessable, "The payload does not meet the webhook's schema; `errors` says where."}
	CodeMultipartMalformed    = Code{"multipart-malformed", Invalid, "The multipart body is cut off, or not built as it must be."}
	CodeTooManyParts          = Code{"too-many-parts", TooLarge, "The multipart body has too many parts."}
	CodeWebhookDisabled       = Code{"webhook-disabled", Forbidden, "The webhook is disabled."}
	CodeSenderRefuses         = Code{"sender-refuses", Unavailable, "The API of a webhook's sender does not answer, or refuses; see its apiUrl and apiSecret."}
	CodeSenderLimits          = Code{"sender-limits", Throttled, "The API of a webhook's sender takes no more requests for now."}
	CodeWebhookUnavailable    = Code{"webhook-unavailable", Unavailable, "Calls of this webhook can't be checked now; its operator can see why."}
	CodeSignatureMissing      = Code{"signature-missing", Unauthenticated, "The webhook takes signed calls only, and this one is not signed."}
	CodeSignatureInvalid      = Code{"signature-invalid", Unauthenticated, "The signature does not match."}
	CodeSignatureExpired      = Code{"signature-expired", Unauthenticated, "The signature is right, but too old or from the future."}
	CodeAddressNotAllowed     = Code{"address-not-allowed", Forbidden, "The call comes from a network that the webhook does not allow."}
	CodeCertificateMissing    = Code{"certificate-missing", Unauthenticated, "The webhook takes calls with a client certificate only, and this one has none."}
	CodeCertificateInvalid    = Code{"certificate-invalid", Unauthenticated, "The client certificate is not one that the webhook takes."}
	CodeSenderKeysUnavailable = Code{"sender-keys-unavailable", Unavailable, "The sender's public keys can't be fetched now."}
	CodeDeliveryIDInvalid     = Code{"delivery-id-invalid", Invalid, "The sender's delivery id is empty, came twice, is too long, or no text."}
	CodeDuplicateDiffers      = Code{"duplicate-differs", Conflict, "The delivery id was accepted before with another body."}
	CodeDeliveryPending       = Code{"delivery-pending", Unavailable, "The first call with this delivery id is not stored yet."}
	CodeVerifyTokenInvalid    = Code{"verify-token-invalid", Forbidden, "The handshake's verify token is not the webhook's."}
	CodeHandshake             = Code{"handshake", Invalid, "The call is a handshake, which makes no event."}
	CodeHandshakeFailed       = Code{"handshake-failed", Unavailable, "The sender's subscription could not be confirmed."}
	CodeTooManyRefused        = Code{"too-many-refused", Throttled, "Calls were rejected faster than each can be recorded; this entry counts them."}
)

// Requests.
var (
	CodeQueryMalformed         = Code{"query-malformed", Invalid, "The query of the URL is malformed."}
	CodeBodyMalformed          = Code{"body-malformed", Invalid, "The body is not what its content type says."}
	CodeBodyMissing            = Code{"body-missing", Invalid, "The request needs a body."}
	CodeBodyTimeout            = Code{"body-timeout", Timeout, "The body did not arrive in time."}
	CodeContentTypeUnsupported = Code{"content-type-unsupported", Unsupported, "The body has a content type that is not accepted here."}
	CodeHeaderMalformed        = Code{"header-malformed", Invalid, "A line of the headers is not written as `name: value`."}
	CodeTooManyHeaders         = Code{"too-many-headers", HeadTooLarge, "The request has too many header fields."}
	CodeMethodNotAllowed       = Code{"method-not-allowed", MethodNotAllowed, "The method does not apply here; `Allow` lists those that do."}
	CodeNotFound               = Code{"not-found", NotFound, "There is nothing at this path."}
	CodeCrossOrigin            = Code{"cross-origin", Forbidden, "The request came from a page of another site."}
	CodeParameterInvalid       = Code{"parameter-invalid", Invalid, "A parameter has a value that is not allowed."}
	CodeParameterMissing       = Code{"parameter-missing", Invalid, "A parameter that is required is not there."}
	CodeParameterUnknown       = Code{"parameter-unknown", Invalid, "The command has no such parameter."}
	CodeParameterConflict      = Code{"parameter-conflict", Invalid, "A parameter was given twice with different values."}
	CodeCommandUnknown         = Code{"command-unknown", NotFound, "There is no such command."}
	CodeFormMalformed          = Code{"form-malformed", Invalid, "A form of the portal could not be read, or is too large."}
	CodeNothingSelected        = Code{"nothing-selected", Invalid, "Nothing was selected, or too much."}
)

// Who is calling, and what they may do.
var (
	CodeAuthorizationMissing     = Code{"authorization-missing", Unauthenticated, "The request needs an Authorization header."}
	CodeAuthorizationInvalid     = Code{"authorization-invalid", Unauthenticated, "The credentials are not valid."}
	CodeAuthorizationAmbiguous   = Code{"authorization-ambiguous", Invalid, "The request has more than one Authorization header."}
	CodeAuthorizationUnsupported = Code{"authorization-unsupported", Unauthenticated, "The identity provider does not take such credentials."}
	CodeSignedOut                = Code{"signed-out", Unauthenticated, "Nobody is signed in."}
	CodeUserGone                 = Code{"user-gone", Unauthenticated, "The user was deleted or disabled."}
	CodeOwnerGone                = Code{"owner-gone", Unauthenticated, "The owner of the pipeline was deleted or disabled."}
	CodeForbidden                = Code{"forbidden", Forbidden, "The user lacks a permission, which the message names."}
	CodePasswordWrong            = Code{"password-wrong", Forbidden, "The current password is not right."}
	CodeTooManyLogins            = Code{"too-many-logins", Throttled, "Too many wrong credentials came from this address."}
	CodeLoginBusy                = Code{"login-busy", Unavailable, "Too many passwords are being checked."}
	CodeProviderThrottled        = Code{"provider-throttled", Throttled, "The identity provider is asked too often."}
	CodeProviderUnavailable      = Code{"provider-unavailable", Unavailable, "The identity provider can't be asked."}
	CodeExternalUsers            = Code{"external-users", Conflict, "Users, clients and passwords are those of the external identity provider."}
	CodeUsernameTaken            = Code{"username-taken", Conflict, "Another user has this name, apart from upper and lower case."}
	CodeLastAdmin                = Code{"last-admin", Conflict, "This is the last administrator who can log in."}
	CodeBuiltIn                  = Code{"built-in", Conflict, "It is built in and can't be changed."}
	CodeUserNotFound             = Code{"user-not-found", NotFound, "There is no such user."}
	CodeRoleNotFound             = Code{"role-not-found", NotFound, "There is no such role."}
	CodeClientNotFound           = Code{"client-not-found", NotFound, "There is no such client."}
)

// Webhooks, calls and events.
var (
	CodeWebhookNotFound    = Code{"webhook-not-found", NotFound, "There is no such webhook."}
	CodeEventKeyTaken      = Code{"event-key-taken", Conflict, "Another webhook has this event key."}
	CodeTokenTaken         = Code{"token-taken", Conflict, "A webhook has this token already."}
	CodeTokenUnknown       = Code{"token-unknown", NotFound, "The webhook has no such token."}
	CodeLastToken          = Code{"last-token", Conflict, "It is the last open token of the webhook."}
	CodeTooManyTokens      = Code{"too-many-tokens", Conflict, "The webhook has as many open tokens as it may have."}
	CodeChangedMeanwhile   = Code{"changed-meanwhile", Outdated, "It was changed since it was read."}
	CodeSigningSecretKnown = Code{"signing-secret-known", Conflict, "The webhook has a signing secret already."}
	CodeNotSignable        = Code{"not-signable", Invalid, "Calls of this sender can't be signed here."}
	CodeCallUnknown        = Code{"call-unknown", NotFound, "There is no such call."}
	CodeCallNotEditable    = Code{"call-not-editable", Invalid, "What the call has sent is not kept, no text, or not to be seen by this user."}
	CodeEventUnknown       = Code{"event-unknown", NotFound, "No stored event matches."}
	CodeEventWaits         = Code{"event-waits", Conflict, "The event waits for its next attempt; event.retry makes that now."}
	CodeEventGone          = Code{"event-gone", Gone, "The event is no longer kept."}
	CodeEventDamaged       = Code{"event-damaged", Internal, "The disk has lost this event."}
	CodeEventUnreadable    = Code{"event-unreadable", Invalid, "Another program has published an event that is no JSON object within the limits."}
	CodePayloadUnknown     = Code{"payload-unknown", Invalid, "The payload is in no form that can be sent on."}
	CodeTooManyEvents      = Code{"too-many-events", Invalid, "More events were chosen than one request replays."}
	CodeReplayIncomplete   = Code{"replay-incomplete", Unavailable, "Only some of the events were sent again."}
	CodeTooManyHops        = Code{"too-many-hops", Invalid, "Events and pipelines seem to start each other in a loop."}
	CodeCursorGone         = Code{"cursor-gone", Gone, "The cursor is no longer one of the stored events."}
	CodePositionInvalid    = Code{"position-invalid", Invalid, "There is no such position in the stream."}
	CodeAlertUnknown       = Code{"alert-unknown", NotFound, "There is no such alert."}
	CodeCallRedacted       = Code{"call-redacted", Conflict, "Members of the call were never stored, so it can't be checked again."}
	CodeQuarantineUnknown  = Code{"quarantine-unknown", NotFound, "There is no such call in the quarantine."}
)

// Results.
var (
	CodeResultGone      = Code{"result-gone", Gone, "There is no such result, or it has expired."}
	CodePollingTooOften = Code{"polling-too-often", Throttled, "The result is not ready, and polls for it come too often."}
	CodeTooManyBadIDs   = Code{"too-many-bad-ids", Throttled, "Too many polls for results that don't exist came from this address."}
	CodePipelineFailed  = Code{"pipeline-failed", Internal, "A pipeline failed; its trace has the cause."}
)

// Pipelines.
var (
	CodePipelineInvalid      = Code{"pipeline-invalid", Invalid, "The source has a mistake; `line` and `column` say where."}
	CodePipelineUnknown      = Code{"pipeline-unknown", NotFound, "There is no such pipeline."}
	CodePipelineGone         = Code{"pipeline-gone", Gone, "The pipeline was deleted, or listens to other events by now."}
	CodePipelineChanged      = Code{"pipeline-changed", Conflict, "Someone else changed the pipeline at the same moment."}
	CodePipelineReadOnly     = Code{"pipeline-read-only", Conflict, "The pipeline comes from the operator's folder."}
	CodePipelineNotListening = Code{"pipeline-not-listening", Conflict, "The pipeline does not listen to that event."}
	CodePipelineNotPermitted = Code{"pipeline-not-permitted", Unprocessable, "The pipeline would lack a permission; `errors` says which."}
	CodeVersionUnknown       = Code{"version-unknown", NotFound, "The pipeline has no such version any more."}
	CodeNotPermitted         = Code{"not-permitted", Unprocessable, "A finding: a step would lack a permission."}
	CodeUserUnknown          = Code{"user-unknown", Unprocessable, "A finding: a step names a user who does not exist."}
	CodeEventKeyUnknown      = Code{"event-key-unknown", Unprocessable, "A warning: no webhook has the event key."}
	CodePayloadIsBase64      = Code{"payload-is-base64", Unprocessable, "A warning: the pipeline reads members of a payload that its webhook passes on as base64."}
	CodeNameUnset            = Code{"name-unset", Unprocessable, "A warning: nothing sets the variable or header that the pipeline reads."}
	CodeRightsLent           = Code{"rights-lent", Unprocessable, "A warning: the pipeline may do more because of who saves it."}
	CodeListensAnew          = Code{"listens-anew", Unprocessable, "A warning: events that waited for the pipeline as it was are not run."}
	CodeLetterUnknown        = Code{"letter-unknown", NotFound, "There is no such dead letter."}
	CodeLetterUnreadable     = Code{"letter-unreadable", Internal, "The event of the dead letter can't be read."}
	CodeSourceTooLong        = Code{"source-too-long", TooLarge, "The source of a pipeline that is not stored is too long beside a body."}
	CodeTooManyTests         = Code{"too-many-tests", Throttled, "The user runs as many tests of pipelines as one may."}
	CodeTooManyVariables     = Code{"too-many-variables", TooLarge, "More variables were given than a run takes."}
	CodeNotInAPipeline       = Code{"not-in-a-pipeline", Invalid, "The command does something only as a step of a pipeline."}
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
	CodeTooMuchMemory    = Code{"too-much-memory", TooLarge, "Body, variables and headers take more memory than a run may."}
	CodeResultTooLarge   = Code{"result-too-large", TooLarge, "The final body is too large."}
	CodeRunTooLong       = Code{"run-too-long", Internal, "The run took too long and was stopped."}
	CodeTooManyRuns      = Code{"too-many-runs", Unavailable, "As many pipelines run as the server allows."}
	CodeNoRunMemory      = Code{"no-run-memory", Unavailable, "All runs together take as much memory as the server allows."}
	CodeInterrupted      = Code{"interrupted", Unavailable, "The step was interrupted before it was done."}
	CodeStepPanicked     = Code{"step-panicked", Internal, "The step failed inside; the server's log has the cause."}
	CodeStubbed          = Code{"stubbed", Internal, "The stub of a command says that it fails."}
	CodeStubMissing      = Code{"stub-missing", Internal, "A test calls an outside command that has no stub."}
	CodeNotRecorded      = Code{"not-recorded", Unavailable, "What an outside command answered was not recorded."}
	CodeNoEvent          = Code{"no-event", Invalid, "There is no call to send on."}
	CodeHTTPStatus       = Code{"http-status", Invalid, "An outside call was answered with a status that is not expected."}
	CodeHTTPFailed       = Code{"http-failed", Unavailable, "An outside call failed."}
	CodeHTTPTimeout      = Code{"http-timeout", Unavailable, "An outside call took too long."}
	CodeMailFailed       = Code{"mail-failed", Unavailable, "A mail could not be sent now."}
	CodeMailRefused      = Code{"mail-refused", Unprocessable, "The mail server refuses the mail for good."}
	CodeMailUnset        = Code{"mail-unset", Unprocessable, "The server has no settings for mail."}
	CodeAddressRefused   = Code{"address-refused", Forbidden, "The address of an outside call is in a network that is not allowed."}
	CodeHeaderInvalid    = Code{"header-invalid", Invalid, "A header of an outside call is no text."}
	CodeSecretUnknown    = Code{"secret-unknown", NotFound, "There is no such secret."}
	CodeSecretInUse      = Code{"secret-in-use", Conflict, "The secret is in use."}
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
	CodeTooManyTails      = Code{"too-many-tails", Throttled, "The user, or all users together, have as many live tails open as the server allows."}
	CodeAnswerTooLarge    = Code{"answer-too-large", TooLarge, "The answer would be too large; ask for less."}
	CodeEngineUnavailable = Code{"engine-unavailable", Unavailable, "The storage engine does not answer."}
	CodeEngineFailed      = Code{"engine-failed", Unavailable, "The storage engine failed and is about to restart."}
	CodeEngineLimit       = Code{"engine-limit", Unavailable, "A limit of the external engine is reached; its operator can raise it."}
	CodeEngineTooOld      = Code{"engine-too-old", Unavailable, "The external engine is too old for this."}
	CodeEngineNewer       = Code{"engine-newer", Invalid, "A newer version has begun to use the engine."}
	CodeEngineNotEmpty    = Code{"engine-not-empty", Conflict, "The engine that a backup should be restored to is not empty."}
	CodeTooManyRecords    = Code{"too-many-records", Full, "Webhooks, pipelines, users, roles, clients and secrets take as much memory as they may."}
	CodeDiskFull          = Code{"disk-full", Unavailable, "Free disk space is below the configured minimum, or the disk can take hardly any more files."}
	CodeDiskSlow          = Code{"disk-slow", Unavailable, "The disk takes longer than calls wait for."}
	CodeStorageFull       = Code{"storage-full", Unavailable, "The storage is full of events that pipelines have not finished."}
	CodeSpoolFull         = Code{"spool-full", Unavailable, "The engine is away, and the node's own folder is full."}
	CodeDamaged           = Code{"damaged", Internal, "The store is damaged."}
	CodeBackupRunning     = Code{"backup-running", Conflict, "Another backup is being made."}
	CodeBackupFailed      = Code{"backup-failed", Unavailable, "The backup ended early."}
	CodeBackupDamaged     = Code{"backup-damaged", Invalid, "The backup is damaged or cut off."}
	CodeBackupForeign     = Code{"backup-foreign", Invalid, "The backup has something that is not sluice's."}
	CodeBackupNewer       = Code{"backup-newer", Invalid, "A newer version made the backup."}
	CodePassphraseMissing = Code{"passphrase-missing", Invalid, "The key in the backup is sealed with a passphrase."}
	CodePassphraseWrong   = Code{"passphrase-wrong", Invalid, "The key in the backup was sealed with another passphrase."}
	CodeSecretKeyInvalid  = Code{"secret-key-invalid", Invalid, "The secret key is malformed."}
	CodeSecretKeyMissing  = Code{"secret-key-missing", Invalid, "The secret key is not there."}
	CodeSecretKeyOther    = Code{"secret-key-other", Invalid, "The secret key is not the one that was used."}
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
	CodeProfileLocked     = Code{"profile-locked", Unavailable, "Another program has been renewing the login for too long."}
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
	CodeInvalidRequest          = Code{"invalid_request", Invalid, "The request is malformed."}
	CodeInvalidClient           = Code{"invalid_client", Unauthenticated, "The client is not known, or its secret is wrong."}
	CodeInvalidGrant            = Code{"invalid_grant", Invalid, "The password, code or refresh token is wrong or used up."}
	CodeInvalidScope            = Code{"invalid_scope", Invalid, "The scope is not allowed."}
	CodeInvalidToken            = Code{"invalid_token", Unauthenticated, "The access token is not valid."}
	CodeInsufficientScope       = Code{"insufficient_scope", Forbidden, "The token lacks a scope."}
	CodeUnauthorizedClient      = Code{"unauthorized_client", Invalid, "The client may not use this grant type."}
	CodeUnsupportedGrantType    = Code{"unsupported_grant_type", Invalid, "There is no such grant type here."}
	CodeUnsupportedResponseType = Code{"unsupported_response_type", Invalid, "There is no such response type here."}
	CodeUnsupportedTokenType    = Code{"unsupported_token_type", Invalid, "Such a token can't be revoked."}
	CodeRequestNotSupported     = Code{"request_not_supported", Invalid, "The parameter `request` is not supported."}
	CodeRequestURINotSupported  = Code{"request_uri_not_supported", Invalid, "The parameter `request_uri` is not supported."}
	CodeOAuthNotFound           = Code{"not_found", NotFound, "There is nothing at this path."}
)
