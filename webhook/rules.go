package webhook

import (
	"mime"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"sluice"
	"sluice/sender"
)

// texts has further rules on texts, by the names of their settings.
var texts = map[string]func(text string) bool{
	"eventKey":      func(text string) bool { return sluice.ValidKey(text) && !sluice.IsInternalKey(text) },
	"signingSecret": utf8.ValidString,
	"description":   isDescription,
	"answerType":    isAnswerType,
	"eventType":     sender.IsEventType,
	"split":         sender.IsSplit,
	"apiUrl":        func(text string) bool { return text == "" || sluice.IsServerURL(text) },
	"apiSecret": func(text string) bool {
		return utf8.ValidString(text) && (!strings.ContainsAny(text, "\r\n") || strings.Contains(text, ":-----BEGIN"))
	},
	"rate": func(text string) bool {
		_, ok := sluice.ParseRate(text)
		return ok || text == ""
	},
	"verifyToken": func(text string) bool {
		return utf8.ValidString(text) && !strings.ContainsFunc(text, unicode.IsControl)
	},
}

// lists has the rules on lists. They return a list as it is stored.
var lists = map[string]func(items []string) (any, error){"methods": methodsGiven, "redact": redactionsOf}

// unconventional returns warnings about an event key.
func unconventional(key string) (warnings []string) {
	if key != strings.ToLower(key) {
		warnings = append(warnings, "By convention an eventKey is in lower case.")
	}
	if !strings.HasPrefix(key, sluice.WebhookPrefix) {
		warnings = append(warnings, "By convention an eventKey starts with webhook. and a dot-separated name.")
	}
	return warnings
}

// isDescription reports whether a text is for people, and not too long.
func isDescription(text string) bool {
	const longest = 1000 // characters
	unprintable := func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }
	return utf8.RuneCountInString(text) <= longest && utf8.ValidString(text) &&
		!strings.ContainsFunc(text, unprintable)
}

// isAnswerType reports whether a text is a content type, or empty.
func isAnswerType(text string) bool {
	media, _, err := mime.ParseMediaType(text)
	odd := func(c rune) bool { return c > unicode.MaxASCII || unicode.IsControl(c) }
	return text == "" || err == nil && strings.Contains(media, "/") && !strings.ContainsFunc(text, odd)
}

// methodsGiven returns methods as they are stored: nil for those that all webhooks have.
func methodsGiven(given []string) (any, error) {
	for _, method := range given {
		if !slices.Contains(sluice.DefaultMethods, method) && !slices.Contains(sluice.FurtherMethods, method) {
			return nil, sluice.InvalidParameter("methods",
				"The parameter methods must be of GET, POST, PUT, PATCH and DELETE.")
		}
	}
	methods := slices.Compact(slices.Sorted(slices.Values(given)))
	if slices.Equal(methods, sluice.DefaultMethods) {
		return nil, nil
	}
	return methods, nil
}
