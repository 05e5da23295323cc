package sluice

// Calls of webhooks.
var (
	CodeTokenMissing     = Code{"token-missing", Unauthenticated, "The call carries no token."}
	CodeTokenInvalid     = Code{"token-invalid", Unauthenticated, "No webhook has this token."}
	CodeTokenAmbiguous   = Code{"token-ambiguous", Invalid, "The call carries more than one token."}
	CodeTooManyBadTokens = Code{
		"too-many-bad-tokens", Throttled, "Too many calls without a valid token came from this address.",
	}
	CodeMessageTooLarge = Code{
		"message-too-large", TooLarge, "What would be stored is larger than the engine takes.",
	}
	CodePayloadTooLarge = Code{
		"payload-too-large", TooLarge, "The body is longer than the webhook, or any webhook, takes.",
	}
	CodePayloadInvalid = Code{
		"payload-invalid", Unprocessable, "The payload does not meet the webhook's schema; `errors` says where.",
	}
	CodeMultipartMalformed = Code{
		"multipart-malformed", Invalid, "The multipart body is cut off, or not built as it must be.",
	}
	CodeTooManyParts    = Code{"too-many-parts", TooLarge, "The multipart body has too many parts."}
	CodeWebhookDisabled = Code{"webhook-disabled", Forbidden, "The webhook is disabled."}
	CodeSenderRefuses   = Code{
		"sender-refuses", Unavailable,
		"The API of a webhook's sender does not answer, or refuses; see its apiUrl and apiSecret.",
	}
	CodeSenderLimits = Code{
		"sender-limits", Throttled, "The API of a webhook's sender takes no more requests for now.",
	}
	CodeWebhookUnavailable = Code{
		"webhook-unavailable", Unavailable, "Calls of this webhook can't be checked now; its operator can see why.",
	}
	CodeSignatureMissing = Code{
		"signature-missing", Unauthenticated, "The webhook takes signed calls only, and this one is not signed.",
	}
	CodeSignatureInvalid = Code{"signature-invalid", Unauthenticated, "The signature does not match."}
	CodeSignatureExpired = Code{
		"signature-expired", Unauthenticated, "The signature is right, but too old or from the future.",
	}
	CodeAddressNotAllowed = Code{
		"address-not-allowed", Forbidden, "The call comes from a network that the webhook does not allow.",
	}
	CodeCertificateMissing = Code{
		"certificate-missing", Unauthenticated,
		"The webhook takes calls with a client certificate only, and this one has none.",
	}
	CodeCertificateInvalid = Code{
		"certificate-invalid", Unauthenticated, "The client certificate is not one that the webhook takes.",
	}
	CodeSenderKeysUnavailable = Code{
		"sender-keys-unavailable", Unavailable, "The sender's public keys can't be fetched now.",
	}
	CodeDeliveryIDInvalid = Code{
		"delivery-id-invalid", Invalid, "The sender's delivery id is empty, came twice, is too long, or no text.",
	}
	CodeDuplicateDiffers = Code{
		"duplicate-differs", Conflict, "The delivery id was accepted before with another body.",
	}
	CodeDeliveryPending = Code{
		"delivery-pending", Unavailable, "The first call with this delivery id is not stored yet.",
	}
	CodeVerifyTokenInvalid = Code{
		"verify-token-invalid", Forbidden, "The handshake's verify token is not the webhook's.",
	}
	CodeHandshake       = Code{"handshake", Invalid, "The call is a handshake, which makes no event."}
	CodeHandshakeFailed = Code{"handshake-failed", Unavailable, "The sender's subscription could not be confirmed."}
	CodeTooManyRefused  = Code{
		"too-many-refused", Throttled, "Calls were rejected faster than each can be recorded; this entry counts them.",
	}
)

// Requests.
var (
	CodeQueryMalformed         = Code{"query-malformed", Invalid, "The query of the URL is malformed."}
	CodeBodyMalformed          = Code{"body-malformed", Invalid, "The body is not what its content type says."}
	CodeBodyMissing            = Code{"body-missing", Invalid, "The request needs a body."}
	CodeBodyTimeout            = Code{"body-timeout", Timeout, "The body did not arrive in time."}
	CodeContentTypeUnsupported = Code{
		"content-type-unsupported", Unsupported, "The body has a content type that is not accepted here.",
	}
	CodeHeaderMalformed  = Code{"header-malformed", Invalid, "A line of the headers is not written as `name: value`."}
	CodeTooManyHeaders   = Code{"too-many-headers", HeadTooLarge, "The request has too many header fields."}
	CodeMethodNotAllowed = Code{
		"method-not-allowed", MethodNotAllowed, "The method does not apply here; `Allow` lists those that do.",
	}
	CodeNotFound          = Code{"not-found", NotFound, "There is nothing at this path."}
	CodeBatchRefused      = Code{"batch-refused", Invalid, "An agent sent several messages in one request."}
	CodeCrossOrigin       = Code{"cross-origin", Forbidden, "The request came from a page of another site."}
	CodeParameterInvalid  = Code{"parameter-invalid", Invalid, "A parameter has a value that is not allowed."}
	CodeParameterMissing  = Code{"parameter-missing", Invalid, "A parameter that is required is not there."}
	CodeParameterUnknown  = Code{"parameter-unknown", Invalid, "The command has no such parameter."}
	CodeParameterConflict = Code{"parameter-conflict", Invalid, "A parameter was given twice with different values."}
	CodeCommandUnknown    = Code{"command-unknown", NotFound, "There is no such command."}
	CodeFormMalformed     = Code{"form-malformed", Invalid, "A form of the portal could not be read, or is too large."}
	CodeNothingSelected   = Code{"nothing-selected", Invalid, "Nothing was selected, or too much."}
)

// Who is calling, and what they may do.
var (
	CodeAuthorizationMissing = Code{
		"authorization-missing", Unauthenticated, "The request needs an Authorization header.",
	}
	CodeAuthorizationInvalid   = Code{"authorization-invalid", Unauthenticated, "The credentials are not valid."}
	CodeAuthorizationAmbiguous = Code{
		"authorization-ambiguous", Invalid, "The request has more than one Authorization header.",
	}
	CodeAuthorizationUnsupported = Code{
		"authorization-unsupported", Unauthenticated, "The identity provider does not take such credentials.",
	}
	CodeSignedOut           = Code{"signed-out", Unauthenticated, "Nobody is signed in."}
	CodeUserGone            = Code{"user-gone", Unauthenticated, "The user was deleted or disabled."}
	CodeOwnerGone           = Code{"owner-gone", Unauthenticated, "The owner of the pipeline was deleted or disabled."}
	CodeForbidden           = Code{"forbidden", Forbidden, "The user lacks a permission, which the message names."}
	CodePasswordWrong       = Code{"password-wrong", Forbidden, "The current password is not right."}
	CodeTooManyLogins       = Code{"too-many-logins", Throttled, "Too many wrong credentials came from this address."}
	CodeLoginBusy           = Code{"login-busy", Unavailable, "Too many passwords are being checked."}
	CodeProviderThrottled   = Code{"provider-throttled", Throttled, "The identity provider is asked too often."}
	CodeProviderUnavailable = Code{"provider-unavailable", Unavailable, "The identity provider can't be asked."}
	CodeExternalUsers       = Code{
		"external-users", Conflict, "Users, clients and passwords are those of the external identity provider.",
	}
	CodeUsernameTaken = Code{
		"username-taken", Conflict, "Another user has this name, apart from upper and lower case.",
	}
	CodeLastAdmin      = Code{"last-admin", Conflict, "This is the last administrator who can log in."}
	CodeBuiltIn        = Code{"built-in", Conflict, "It is built in and can't be changed."}
	CodeUserNotFound   = Code{"user-not-found", NotFound, "There is no such user."}
	CodeRoleNotFound   = Code{"role-not-found", NotFound, "There is no such role."}
	CodeClientNotFound = Code{"client-not-found", NotFound, "There is no such client."}
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
	CodeCallNotEditable    = Code{
		"call-not-editable", Invalid, "What the call has sent is not kept, no text, or not to be seen by this user.",
	}
	CodeEventUnknown = Code{"event-unknown", NotFound, "No stored event matches."}
	CodeEventWaits   = Code{
		"event-waits", Conflict, "The event waits for its next attempt; event.retry makes that now.",
	}
	CodeEventGone       = Code{"event-gone", Gone, "The event is no longer kept."}
	CodeEventDamaged    = Code{"event-damaged", Internal, "The disk has lost this event."}
	CodeEventUnreadable = Code{
		"event-unreadable", Invalid, "Another program has published an event that is no JSON object within the limits.",
	}
	CodePayloadUnknown   = Code{"payload-unknown", Invalid, "The payload is in no form that can be sent on."}
	CodeTooManyEvents    = Code{"too-many-events", Invalid, "More events were chosen than one request replays."}
	CodeReplayIncomplete = Code{"replay-incomplete", Unavailable, "Only some of the events were sent again."}
	CodeTooManyHops      = Code{"too-many-hops", Invalid, "Events and pipelines seem to start each other in a loop."}
	CodeCursorGone       = Code{"cursor-gone", Gone, "The cursor is no longer one of the stored events."}
	CodePositionInvalid  = Code{"position-invalid", Invalid, "There is no such position in the stream."}
	CodeAlertUnknown     = Code{"alert-unknown", NotFound, "There is no such alert."}
	CodeCallRedacted     = Code{
		"call-redacted", Conflict, "Members of the call were never stored, so it can't be checked again.",
	}
	CodeQuarantineUnknown = Code{"quarantine-unknown", NotFound, "There is no such call in the quarantine."}
)

// Results.
var (
	CodeResultGone      = Code{"result-gone", Gone, "There is no such result, or it has expired."}
	CodePollingTooOften = Code{
		"polling-too-often", Throttled, "The result is not ready, and polls for it come too often.",
	}
	CodeTooManyBadIDs = Code{
		"too-many-bad-ids", Throttled, "Too many polls for results that don't exist came from this address.",
	}
	CodePipelineFailed = Code{"pipeline-failed", Internal, "A pipeline failed; its trace has the cause."}
)
