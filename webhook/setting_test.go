package webhook

import (
	"reflect"
	"strings"
	"testing"

	"sluice"
)

// TestSettingsHaveFields: every row belongs to a field of the record and of the view, and every
// rule to a row.
func TestSettingsHaveFields(t *testing.T) {
	names := make(map[string]bool)
	for _, s := range settings() {
		if s.kind == nil || s.viewed == nil || s.Doc == "" || s.Form.Label == "" || names[s.Name] {
			t.Errorf("the row %q is not complete, or stands there twice", s.Name)
		}
		if s.Wants == "" && (s.Length > 0 || texts[s.Name] != nil) {
			t.Errorf("the row %q does not say what it wants", s.Name)
		}
		names[s.Name] = true
	}
	for name := range texts {
		if !names[name] {
			t.Errorf("there is a rule for %q, and no row", name)
		}
	}
	for name := range lists {
		if !names[name] {
			t.Errorf("there is a rule for %q, and no row", name)
		}
	}
}

// TestSettingsAgreeWithTheVocabulary: what the rows say in numbers and words is what the root
// package says.
func TestSettingsAgreeWithTheVocabulary(t *testing.T) {
	rows := make(map[string]*Setting)
	for _, s := range settings() {
		rows[s.Name] = s
	}
	length, methods := rows["maxPayloadLength"], make([]string, 0, len(sluice.DefaultMethods))
	for _, method := range rows["methods"].Default.([]any) {
		methods = append(methods, method.(string))
	}
	for what, agrees := range map[string]bool{
		"the largest payload": *length.Max == sluice.MaxPayloadLength && length.Usual == sluice.DefaultPayloadLength,
		"the rule of keys":    strings.HasPrefix(rows["eventKey"].Wants, sluice.KeyRule) && strings.Contains(rows["eventKey"].Form.Help, sluice.KeyRule),
		"the window":          rows["dedupeWindow"].Default == sluice.ShortDuration(sluice.DefaultDedupeWindow),
		"the methods":         reflect.DeepEqual(methods, sluice.DefaultMethods),
		"the rule of rates":   rows["rate"].Wants == sluice.RateRule,
		"the payload type":    rows["payloadType"].Default == string(sluice.Base64),
		"the multipart":       rows["multipart"].Default == string(sluice.MultipartFiles),
		"the answer":          rows["answer"].Usual == string(sluice.AnswerResult),
	} {
		if !agrees {
			t.Errorf("settings.yaml and the root package differ in %s", what)
		}
	}
}
