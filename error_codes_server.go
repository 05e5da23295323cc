package sluice

// The server and its engine.
var (
	// The server failed; its log has the cause.
	CodeInternal = Code{"internal", Internal}
	// The server is starting.
	CodeStarting = Code{"starting", Unavailable}
	// The server is stopping.
	CodeDraining = Code{"draining", Unavailable}
	// The server holds as much as its memory allows.
	CodeOverloaded = Code{"overloaded", Unavailable}
	// The user has as many calls in flight as one may, or the webhook takes no more at its rate.
	CodeTooManyCalls = Code{"too-many-calls", Throttled}
	// Too many unfinished calls come from this address.
	CodeTooManyUnfinished = Code{"too-many-unfinished", Throttled}
	// The user, or all users together, have as many live tails open as the server allows.
	CodeTooManyTails = Code{"too-many-tails", Throttled}
	// The answer would be too large; ask for less.
	CodeAnswerTooLarge = Code{"answer-too-large", TooLarge}
	// The storage engine does not answer.
	CodeEngineUnavailable = Code{"engine-unavailable", Unavailable}
	// The storage engine failed and is about to restart.
	CodeEngineFailed = Code{"engine-failed", Unavailable}
	// A limit of the external engine is reached; its operator can raise it.
	CodeEngineLimit = Code{"engine-limit", Unavailable}
	// The external engine is too old for this.
	CodeEngineTooOld = Code{"engine-too-old", Unavailable}
	// A newer version has begun to use the engine.
	CodeEngineNewer = Code{"engine-newer", Invalid}
	// What version 0.1 stored on the engine can't be read.
	CodeEngineOlder = Code{"engine-older", Invalid}
	// The engine that a backup should be restored to is not empty.
	CodeEngineNotEmpty = Code{"engine-not-empty", Conflict}
	// Webhooks, pipelines, users, roles, clients and secrets take as much memory as they may.
	CodeTooManyRecords = Code{"too-many-records", Full}
	// Free disk space is below the configured minimum, or the disk can take hardly any more files.
	CodeDiskFull = Code{"disk-full", Unavailable}
	// The disk takes longer than calls wait for.
	CodeDiskSlow = Code{"disk-slow", Unavailable}
	// The storage is full of events that pipelines have not finished.
	CodeStorageFull = Code{"storage-full", Unavailable}
	// The engine is away, and the node's own folder is full.
	CodeSpoolFull = Code{"spool-full", Unavailable}
	// The store is damaged.
	CodeDamaged = Code{"damaged", Internal}
	// Another backup is being made.
	CodeBackupRunning = Code{"backup-running", Conflict}
	// The backup ended early.
	CodeBackupFailed = Code{"backup-failed", Unavailable}
	// The backup is damaged or cut off.
	CodeBackupDamaged = Code{"backup-damaged", Invalid}
	// The backup has something that is not sluice's.
	CodeBackupForeign = Code{"backup-foreign", Invalid}
	// A newer version made the backup.
	CodeBackupNewer = Code{"backup-newer", Invalid}
	// The key in the backup is sealed with a passphrase.
	CodePassphraseMissing = Code{"passphrase-missing", Invalid}
	// The key in the backup was sealed with another passphrase.
	CodePassphraseWrong = Code{"passphrase-wrong", Invalid}
	// The secret key is malformed.
	CodeSecretKeyInvalid = Code{"secret-key-invalid", Invalid}
	// The secret key is not there.
	CodeSecretKeyMissing = Code{"secret-key-missing", Invalid}
	// The secret key is not the one that was used.
	CodeSecretKeyOther = Code{"secret-key-other", Invalid}
)

// The command line.
var (
	// The command line is wrong.
	CodeUsage = Code{"usage", Invalid}
	// A file of a folder for `apply` has a mistake.
	CodeFileInvalid = Code{"file-invalid", Invalid}
	// The server refused one of many things without a reason.
	CodeRefused = Code{"refused", Conflict}
	// Nobody is logged in at that server.
	CodeNotLoggedIn = Code{"not-logged-in", Unauthenticated}
	// The server gave the browser no code.
	CodeLoginFailed = Code{"login-failed", Unauthenticated}
	// The login was refused in the browser.
	CodeLoginRefused = Code{"login-refused", Forbidden}
	// The login has ended.
	CodeLoginEnded = Code{"login-ended", Unauthenticated}
	// Nobody has signed in within the time.
	CodeNotSignedIn = Code{"not-signed-in", Timeout}
	// The server has no page to sign in on.
	CodeNoSignInPage = Code{"no-sign-in-page", NotFound}
	// The server gives no tokens.
	CodeNoIssuer = Code{"no-issuer", Unauthenticated}
	// The issuer does not say where it gives tokens.
	CodeIssuerMalformed = Code{"issuer-malformed", Unavailable}
	// There is no such profile.
	CodeProfileUnknown = Code{"profile-unknown", NotFound}
	// The profile can't be read.
	CodeProfileUnreadable = Code{"profile-unreadable", Internal}
	// Another program has been renewing the login for too long.
	CodeProfileLocked = Code{"profile-locked", Unavailable}
	// The server can't be reached.
	CodeServerUnreachable = Code{"server-unreachable", Unavailable}
	// What answers at the URL is not sluice.
	CodeNotAServer = Code{"not-a-server", Unavailable}
	// The server leads elsewhere.
	CodeRedirected = Code{"redirected", Invalid}
	// The live tail has ended.
	CodeTailEnded = Code{"tail-ended", Unavailable}
	// The server's answer is not what was asked for.
	CodeAnswerMalformed = Code{"answer-malformed", Internal}
	// The server's answer is no call.
	CodeCallMalformed = Code{"call-malformed", Internal}
	// The server's answer is no list of events.
	CodeEventsMalformed = Code{"events-malformed", Internal}
	// The server leads elsewhere than to the result.
	CodeRedirectMalformed = Code{"redirect-malformed", Internal}
	// The server's answer is no result.
	CodeResultMalformed = Code{"result-malformed", Internal}
	// The server's answer is no token.
	CodeTokenMalformed = Code{"token-malformed", Internal}
	// The server's answer is no webhook.
	CodeWebhookMalformed = Code{"webhook-malformed", Internal}
)

// OAuth 2.0, in the words of its RFCs.
var (
	// The request is malformed.
	CodeInvalidRequest = Code{"invalid_request", Invalid}
	// Nobody is signed in, and the program wants no page.
	CodeLoginRequired = Code{"login_required", Invalid}
	// The client is not known, or its secret is wrong.
	CodeInvalidClient = Code{"invalid_client", Unauthenticated}
	// The password, code or refresh token is wrong or used up.
	CodeInvalidGrant = Code{"invalid_grant", Invalid}
	// The scope is not allowed.
	CodeInvalidScope = Code{"invalid_scope", Invalid}
	// The access token is not valid.
	CodeInvalidToken = Code{"invalid_token", Unauthenticated}
	// The token lacks a scope.
	CodeInsufficientScope = Code{"insufficient_scope", Forbidden}
	// The client may not use this grant type.
	CodeUnauthorizedClient = Code{"unauthorized_client", Invalid}
	// There is no such grant type here.
	CodeUnsupportedGrantType = Code{"unsupported_grant_type", Invalid}
	// There is no such response type here.
	CodeUnsupportedResponseType = Code{"unsupported_response_type", Invalid}
	// Such a token can't be revoked.
	CodeUnsupportedTokenType = Code{"unsupported_token_type", Invalid}
	// The parameter `request` is not supported.
	CodeRequestNotSupported = Code{"request_not_supported", Invalid}
	// The parameter `request_uri` is not supported.
	CodeRequestURINotSupported = Code{"request_uri_not_supported", Invalid}
	// There is nothing at this path.
	CodeOAuthNotFound = Code{"not_found", NotFound}
)
