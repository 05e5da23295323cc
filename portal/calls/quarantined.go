package calls

import (
	"cmp"
	"fmt"

	"sluice"
	"sluice/portal/page"
	"sluice/wording"
)

// A quarantined is a rejected call that is kept.
type quarantined struct{ sluice.QuarantineView }

// keptCall returns a rejected call, nil if it is not kept any more.
func keptCall(v *page.Visit, id string) *quarantined {
	found := page.Ask[sluice.List[sluice.QuarantineView]](v, "quarantine.get", "id", id)
	if len(found.Items) == 0 {
		return nil
	}
	return &quarantined{found.Items[0]}
}

func quarantinedPage(v *page.Visit) error {
	item := keptCall(v, v.Named("id"))
	if item == nil {
		return sluice.CodeQuarantineUnknown.Errorf(
			"There is no such call in the quarantine: it was admitted or deleted, or is too old.")
	}
	return v.Show("quarantined", "Rejected call "+item.ID, item)
}

// Text returns the body, formatted.
func (q quarantined) Text() string {
	if q.BodyEncoding == sluice.EncodingBase64 {
		return wording.Bytes(q.Size) + " that are no text"
	}
	return page.Pretty(q.Body)
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
			findings = append(findings,
				fmt.Sprintf("At %s: %s", cmp.Or(fmt.Sprint(check["pointer"]), "its top"), check["message"]))
		}
	}
	return findings
}
