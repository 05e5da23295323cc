package webhook

import (
	"mime"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"sluice"
)

// Bounds on texts.
const (
	maxDescription = 1000
	maxVerifyToken = 1000
	maxSecret      = 16 << 10
	maxAnswerType  = 200
)

func checkEventKey(key string) error {
	if sluice.ValidKey(key) {
		return nil
	}
	return sluice.InvalidParameter("eventKey", "The parameter eventKey must be %s, such as webhook.lead.created.",
		sluice.KeyRule)
}

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

// checkDescription refuses what is no text for people.
func checkDescription(text string) error {
	if utf8.RuneCountInString(text) <= maxDescription && utf8.ValidString(text) &&
		!strings.ContainsFunc(text, isUnprintable) {
		return nil
	}
	return sluice.InvalidParameter("description", "The parameter description must be text of at most %d characters.",
		maxDescription)
}

func isUnprintable(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }

func checkSigning(text string) error {
	if len(text) <= maxSecret && utf8.ValidString(text) {
		return nil
	}
	return sluice.InvalidParameter("signingSecret", "The parameter signingSecret must be text of at most 16 KiB.")
}

func checkVerifyToken(text string) error {
	if len(text) <= maxVerifyToken && !strings.ContainsFunc(text, unicode.IsControl) && utf8.ValidString(text) {
		return nil
	}
	return sluice.InvalidParameter("verifyToken", "The parameter verifyToken must be text of at most 1000 characters.")
}

// atMost returns the rule for a text of so many bytes.
func atMost(name string, length int, inWords string) func(string) error {
	return func(text string) error {
		if len(text) <= length {
			return nil
		}
		return sluice.InvalidParameter(name, "The parameter %s must be text of at most %s.", name, inWords)
	}
}

// methodsGiven returns methods as they are stored: nil for those that all webhooks have.
func methodsGiven(given []string) ([]string, error) {
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

func checkAnswer(form string) error {
	switch sluice.AnswerForm(form) {
	case "", sluice.AnswerResult, sluice.AnswerValue, sluice.AnswerEmpty:
		return nil
	}
	return sluice.InvalidParameter("answer", "The parameter answer must be result, value or empty.")
}

func checkAnswerType(text string) error {
	media, _, err := mime.ParseMediaType(text)
	odd := func(c rune) bool { return c > unicode.MaxASCII || unicode.IsControl(c) }
	if text == "" ||
		err == nil && strings.Contains(media, "/") && len(text) <= maxAnswerType && !strings.ContainsFunc(text, odd) {
		return nil
	}
	return sluice.InvalidParameter("answerType",
		"The parameter answerType must be a content type, such as text/xml; charset=utf-8.")
}

// presetType returns the content type of a sender's own answers.
func presetType(of sluice.ProviderView, answer string) string {
	if answer != "" && answer != string(of.Answer) {
		return ""
	}
	return of.AnswerType
}
