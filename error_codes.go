package sluice

// Calls of webhooks.
var (
	// The call carries no token.
	CodeTokenMissing = Code{"token-missing", Unauthenticated}
	// No webhook has this token.
	CodeTokenInvalid = Code{"token-invalid", Unauthenticated}
	// The call carries more than one token.
	CodeTokenAmbiguous = Code{"token-ambiguous", Invalid}
	// Too many calls without a valid token came from this address.
	CodeTooManyBadTokens = Code{"too-many-bad-tokens", Throttled}
	// What would be stored is larger than the engine takes.
	CodeMessageTooLarge = Code{"message-too-large", TooLarge}
	// The body is longer than the webhook, or any webhook, takes.
	CodePayloadTooLarge = Code{"payload-too-large", TooLarge}
	// The payload does not meet the webhook's schema; `errors` says where.
	CodePayloadInvalid = Code{"payload-invalid", Unprocessable}
	// The multipart body is cut off, or not built as it must be.
	CodeMultipartMalformed = Code{"multipart-malformed", Invalid}
	// The multipart body has too many parts.
	CodeTooManyParts = Code{"too-many-parts", TooLarge}
	// The webhook is disabled.
	CodeWebhookDisabled = Code{"webhook-disabled", Forbidden}
	// The API of a webhook's sender does not answer, or refuses; see its apiUrl and apiSecret.
	CodeSenderRefuses = Code{"sender-refuses", Unavailable}
	// The API of a webhook's sender takes no more requests for now.
	CodeSenderLimits = Code{"sender-limits", Throttled}
	// Calls of this webhook can't be checked now; its operator can see why.
	CodeWebhookUnavailable = Code{"webhook-unavailable", Unavailable}
	// The webhook takes signed calls only, and this one is not signed.
	CodeSignatureMissing = Code{"signature-missing", Unauthenticated}
	// The signature does not match.
	CodeSignatureInvalid = Code{"signature-invalid", Unauthenticated}
	// The signature is right, but too old or from the future.
	CodeSignatureExpired = Code{"signature-expired", Unauthenticated}
	// The call comes from a network that the webhook does not allow.
	CodeAddressNotAllowed = Code{"address-not-allowed", Forbidden}
	// The webhook takes calls with a client certificate only, and this one has none.
	CodeCertificateMissing = Code{"certificate-missing", Unauthenticated}
	// The client certificate is not one that the webhook takes.
	CodeCertificateInvalid = Code{"certificate-invalid", Unauthenticated}
	// The sender's public keys can't be fetched now.
	CodeSenderKeysUnavailable = Code{"sender-keys-unavailable", Unavailable}
	// The sender's delivery id is empty, came twice, is too long, or no text.
	CodeDeliveryIDInvalid = Code{"delivery-id-invalid", Invalid}
	// The delivery id was accepted before with another body.
	CodeDuplicateDiffers = Code{"duplicate-differs", Conflict}
	// The first call with this delivery id is not stored yet.
	CodeDeliveryPending = Code{"delivery-pending", Unavailable}
	// The handshake's verify token is not the webhook's.
	CodeVerifyTokenInvalid = Code{"verify-token-invalid", Forbidden}
	// The call is a handshake, which makes no event.
	CodeHandshake = Code{"handshake", Invalid}
	// The sender's subscription could not be confirmed.
	CodeHandshakeFailed = Code{"handshake-failed", Unavailable}
	// Calls were rejected faster than each can be recorded; this entry counts them.
	CodeTooManyRefused = Code{"too-many-refused", Throttled}
)

// Requests.
var (
	// The query of the URL is malformed.
	CodeQueryMalformed = Code{"query-malformed", Invalid}
	// The body is not what its content type says.
	CodeBodyMalformed = Code{"body-malformed", Invalid}
	// The request needs a body.
	CodeBodyMissing = Code{"body-missing", Invalid}
	// The body did not arrive in time.
	CodeBodyTimeout = Code{"body-timeout", Timeout}
	// The body has a content type that is not accepted here.
	CodeContentTypeUnsupported = Code{"content-type-unsupported", Unsupported}
	// A line of the headers is not written as `name: value`.
	CodeHeaderMalformed = Code{"header-malformed", Invalid}
	// The request has too many header fields.
	CodeTooManyHeaders = Code{"too-many-headers", HeadTooLarge}
	// The method does not apply here; `Allow` lists those that do.
	CodeMethodNotAllowed = Code{"method-not-allowed", MethodNotAllowed}
	// There is nothing at this path.
	CodeNotFound = Code{"not-found", NotFound}
	// An agent sent several messages in one request.
	CodeBatchRefused = Code{"batch-refused", Invalid}
	// The request came from a page of another site.
	CodeCrossOrigin = Code{"cross-origin", Forbidden}
	// A parameter has a value that is not allowed.
	CodeParameterInvalid = Code{"parameter-invalid", Invalid}
	// A parameter that is required is not there.
	CodeParameterMissing = Code{"parameter-missing", Invalid}
	// The command has no such parameter.
	CodeParameterUnknown = Code{"parameter-unknown", Invalid}
	// A parameter was given twice with different values.
	CodeParameterConflict = Code{"parameter-conflict", Invalid}
	// There is no such command.
	CodeCommandUnknown = Code{"command-unknown", NotFound}
	// A form of the portal could not be read, or is too large.
	CodeFormMalformed = Code{"form-malformed", Invalid}
	// Nothing was selected, or too much.
	CodeNothingSelected = Code{"nothing-selected", Invalid}
)

// Who is calling, and what they may do.
var (
	// The request needs an Authorization header.
	CodeAuthorizationMissing = Code{"authorization-missing", Unauthenticated}
	// The credentials are not valid.
	CodeAuthorizationInvalid = Code{"authorization-invalid", Unauthenticated}
	// The request has more than one Authorization header.
	CodeAuthorizationAmbiguous = Code{"authorization-ambiguous", Invalid}
	// The identity provider does not take such credentials.
	CodeAuthorizationUnsupported = Code{"authorization-unsupported", Unauthenticated}
	// Nobody is signed in.
	CodeSignedOut = Code{"signed-out", Unauthenticated}
	// The user was deleted or disabled.
	CodeUserGone = Code{"user-gone", Unauthenticated}
	// The owner of the pipeline was deleted or disabled.
	CodeOwnerGone = Code{"owner-gone", Unauthenticated}
	// The user lacks a permission, which the message names.
	CodeForbidden = Code{"forbidden", Forbidden}
	// The current password is not right.
	CodePasswordWrong = Code{"password-wrong", Forbidden}
	// Too many wrong credentials came from this address.
	CodeTooManyLogins = Code{"too-many-logins", Throttled}
	// Too many passwords are being checked.
	CodeLoginBusy = Code{"login-busy", Unavailable}
	// The identity provider is asked too often.
	CodeProviderThrottled = Code{"provider-throttled", Throttled}
	// The identity provider can't be asked.
	CodeProviderUnavailable = Code{"provider-unavailable", Unavailable}
	// Users, clients and passwords are those of the external identity provider.
	CodeExternalUsers = Code{"external-users", Conflict}
	// Another user has this name, apart from upper and lower case.
	CodeUsernameTaken = Code{"username-taken", Conflict}
	// This is the last administrator who can log in.
	CodeLastAdmin = Code{"last-admin", Conflict}
	// It is built in and can't be changed.
	CodeBuiltIn = Code{"built-in", Conflict}
	// There is no such user.
	CodeUserNotFound = Code{"user-not-found", NotFound}
	// There is no such role.
	CodeRoleNotFound = Code{"role-not-found", NotFound}
	// There is no such client.
	CodeClientNotFound = Code{"client-not-found", NotFound}
)

// Webhooks, calls and events.
var (
	// There is no such webhook.
	CodeWebhookNotFound = Code{"webhook-not-found", NotFound}
	// Another webhook has this event key.
	CodeEventKeyTaken = Code{"event-key-taken", Conflict}
	// A webhook has this token already.
	CodeTokenTaken = Code{"token-taken", Conflict}
	// The webhook has no such token.
	CodeTokenUnknown = Code{"token-unknown", NotFound}
	// It is the last open token of the webhook.
	CodeLastToken = Code{"last-token", Conflict}
	// The webhook has as many open tokens as it may have.
	CodeTooManyTokens = Code{"too-many-tokens", Conflict}
	// It was changed since it was read.
	CodeChangedMeanwhile = Code{"changed-meanwhile", Outdated}
	// The webhook has a signing secret already.
	CodeSigningSecretKnown = Code{"signing-secret-known", Conflict}
	// Calls of this sender can't be signed here.
	CodeNotSignable = Code{"not-signable", Invalid}
	// There is no such call.
	CodeCallUnknown = Code{"call-unknown", NotFound}
	// What the call has sent is not kept, no text, or not to be seen by this user.
	CodeCallNotEditable = Code{"call-not-editable", Invalid}
	// No stored event matches.
	CodeEventUnknown = Code{"event-unknown", NotFound}
	// The event waits for its next attempt; event.retry makes that now.
	CodeEventWaits = Code{"event-waits", Conflict}
	// The event is no longer kept.
	CodeEventGone = Code{"event-gone", Gone}
	// The disk has lost this event.
	CodeEventDamaged = Code{"event-damaged", Internal}
	// Another program has published an event that is no JSON object within the limits.
	CodeEventUnreadable = Code{"event-unreadable", Invalid}
	// The payload is in no form that can be sent on.
	CodePayloadUnknown = Code{"payload-unknown", Invalid}
	// More events were chosen than one request replays.
	CodeTooManyEvents = Code{"too-many-events", Invalid}
	// Only some of the events were sent again.
	CodeReplayIncomplete = Code{"replay-incomplete", Unavailable}
	// Events and pipelines seem to start each other in a loop.
	CodeTooManyHops = Code{"too-many-hops", Invalid}
	// The cursor is no longer one of the stored events.
	CodeCursorGone = Code{"cursor-gone", Gone}
	// There is no such position in the stream.
	CodePositionInvalid = Code{"position-invalid", Invalid}
	// There is no such alert.
	CodeAlertUnknown = Code{"alert-unknown", NotFound}
	// Members of the call were never stored, so it can't be checked again.
	CodeCallRedacted = Code{"call-redacted", Conflict}
	// The call was kept without its body, so it can't be let in.
	CodeNotAdmissible = Code{"not-admissible", Conflict}
	// There is no such call in the quarantine.
	CodeQuarantineUnknown = Code{"quarantine-unknown", NotFound}
)

// Results.
var (
	// There is no such result, or it has expired.
	CodeResultGone = Code{"result-gone", Gone}
	// The result is not ready, and polls for it come too often.
	CodePollingTooOften = Code{"polling-too-often", Throttled}
	// Too many polls for results that don't exist came from this address.
	CodeTooManyBadIDs = Code{"too-many-bad-ids", Throttled}
	// A pipeline failed; its trace has the cause.
	CodePipelineFailed = Code{"pipeline-failed", Internal}
)
