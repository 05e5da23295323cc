package portal

import (
	"cmp"
	"fmt"
	"net/http"

	"sluice"
	"sluice/command"
	"sluice/wording"
)

// A quarantined is a rejected call that is kept.
type quarantined struct{ sluice.QuarantineView }

// ShownHeaders returns the headers, sorted by name.
func (q quarantined) ShownHeaders() []sluice.Header { return shownHeaders(q.Headers) }

// Text returns the body, formatted.
func (q quarantined) Text() string {
	if q.BodyEncoding == sluice.EncodingBase64 {
		return wording.Bytes(q.Size) + " that are no text"
	}
	return pretty(q.Body)
}

// Findings returns why it was rejected: the failed checks of the schema, or the
// diagnosis.
func (q quarantined) Findings() []string {
	failed, _ := q.Errors.([]any)
	if len(failed) == 0 || len(q.Diagnosis) >= len(failed) {
		return q.Diagnosis
	}
	var findings []string
	for _, one := range failed {
		if check, ok := one.(map[string]any); ok {
			findings = append(findings, fmt.Sprintf("At %s: %s", cmp.Or(fmt.Sprint(check["pointer"]), "its top"), check["message"]))
		}
	}
	return findings
}

// Advice says what to do next.
func (q quarantined) Advice() string {
	switch q.Code {
	case sluice.CodeSignatureMissing.Word:
		return "Let the sender sign its calls, or let the webhook take unsigned ones; then check again."
	case sluice.CodeSignatureInvalid.Word:
		return "If the sender made the call, enter the secret that it signs with in the webhook; then check again. Otherwise the call is forged: delete it."
	case sluice.CodeSignatureExpired.Word:
		return "The clocks differ, or the call was on its way for long. Admit it without checking if you know the sender."
	case sluice.CodePayloadInvalid.Word:
		return "If the payload is as it should be, change the schema of the webhook; then check again."
	case sluice.CodeWebhookDisabled.Word:
		return "Enable the webhook; then check again."
	case sluice.CodeDuplicateDiffers.Word:
		return "Compare it with the call that came first. Admit it without checking if it is another event."
	}
	return "Admit it without checking if it is as it should be."
}

// rejectedCalls returns calls without their payloads.
func (p *Portal) rejectedCalls(r *http.Request, given command.Args) (sluice.List[sluice.QuarantineView], error) {
	return ask[sluice.List[sluice.QuarantineView]](p, r, "quarantine.get", append(given, argument("brief", true)))
}

// kept returns a rejected call.
func (p *Portal) kept(r *http.Request, id string) (*quarantined, error) {
	found, err := ask[sluice.List[sluice.QuarantineView]](p, r, "quarantine.get", args("id", id))
	if err != nil {
		return nil, err
	}
	if len(found.Items) == 0 {
		return nil, sluice.Errorf(sluice.CodeQuarantineUnknown, "There is no such call in the quarantine: it was admitted or deleted, or is too old.")
	}
	return &quarantined{found.Items[0]}, nil
}
