package webhook

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"sluice"
)

const (
	maxRedacted     = 100
	maxRedactedPath = 200
)

var validRedaction = regexp.MustCompile(
	`^(payload(\[\*\])*(\.[^.\[\]]+(\[\*\])*)+|payload(\[\*\])+|(headers|query)\.[^.\[\]]+)$`)

// redactionsOf returns the paths of a put as they are stored.
func redactionsOf(given []string) (any, error) {
	if len(given) > maxRedacted {
		return nil, sluice.InvalidParameter("redact", "The parameter redact has at most %d paths.", maxRedacted)
	}
	var paths []string
	for _, path := range given {
		if len(path) > maxRedactedPath || !utf8.ValidString(path) || !validRedaction.MatchString(path) {
			return nil, sluice.InvalidParameter("redact", "A path of the parameter redact is payload., headers. or "+
				"query. and a name, such as payload.card.number, payload.items[*].email or headers.x-customer.")
		}
		if strings.HasPrefix(path, "headers.") {
			path = strings.ToLower(path)
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// checkRedact refuses paths into a payload that is carried as bytes.
func checkRedact(hook *sluice.Webhook) error {
	inPayload := func(path string) bool { return strings.HasPrefix(path, "payload") }
	if hook.PayloadType == sluice.Base64 && slices.ContainsFunc(hook.Redact, inPayload) {
		return sluice.InvalidParameter("redact",
			"A payload in base64 has no members to redact; set payloadType to raw, or to ignore.")
	}
	return nil
}
