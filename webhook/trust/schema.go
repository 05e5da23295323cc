package trust

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"sluice"
	"sluice/limit"
	"sluice/value"
)

// Bounds of a schema and of what checking costs.
const (
	MaxSchema = 64 << 10 // bytes

	maxSchemaDepth = 64

	maxFindings   = 20
	maxFinding    = 300 // bytes of a message, and of where it belongs
	schemasKept   = 16  // compiled ones that wait for payloads
	schemaBase    = "https://schema.invalid/"
	schemaAddress = schemaBase + "schema"
)

// A schema is what payloads of a webhook must meet. A compiled schema counts its steps,
// so it serves one payload at a time.
type schema struct {
	source   []byte
	compiled chan *countingSchema
}

// A finding is what is wrong with a payload, and where.
type finding struct {
	Pointer string `json:"pointer"`
	Message string `json:"message"`
}

// Findings returns what is wrong with a payload in sentences, from the details of the error.
func Findings(details any) []string {
	found, _ := details.([]finding)
	sentences := make([]string, len(found))
	for i, f := range found {
		sentences[i] = "At " + cmp.Or(f.Pointer, top) + ": " + f.Message
	}
	return sentences
}

// Hide returns the details of an error without what a payload has at places that are not stored:
// a name there may be as private as a value. For a pointer, hidden returns the part that is shown.
func Hide(details any, hidden func(pointer string) (outer string, ok bool)) any {
	found, _ := details.([]finding)
	if found == nil {
		return details
	}
	found = slices.Clone(found)
	for i, f := range found {
		if outer, ok := hidden(f.Pointer); ok {
			found[i] = finding{Pointer: outer, Message: "what is here is not stored, and does not meet the schema"}
		}
	}
	return found
}

// newSchema compiles a schema. Errors say what is wrong and where.
func newSchema(source []byte) (*schema, error) {
	if len(source) > MaxSchema {
		return nil, badSchema(fmt.Sprintf("has more than %d KiB", MaxSchema>>10))
	}
	first, err := compileSchema(source)
	if err != nil {
		return nil, err
	}
	s := &schema{source: source, compiled: make(chan *countingSchema, schemasKept)}
	s.compiled <- first
	return s, nil
}

func badSchema(fault string) error {
	return sluice.InvalidParameter("schema", "The schema %s.", strings.TrimSuffix(fault, "."))
}

func compileSchema(source []byte) (*countingSchema, error) {
	if levels, _ := value.Inspect(source); levels > maxSchemaDepth {
		return nil, badSchema(fmt.Sprintf("is nested more than %d levels deep", maxSchemaDepth))
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(source))
	if err != nil {
		return nil, badSchema("is no JSON")
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.UseLoader(noLoader{})
	if err := compiler.AddResource(schemaAddress, document); err != nil {
		return nil, badSchema("can't be read: " + schemaFault(err))
	}
	compiled, err := compiler.Compile(schemaAddress)
	if err != nil {
		return nil, badSchema("is not valid: " + schemaFault(err))
	}
	c := &countingSchema{Schema: compiled}
	all := make(map[*jsonschema.Schema]bool)
	if err := c.count(reflect.ValueOf(compiled), all); err != nil {
		return nil, err
	}
	done := make(map[*jsonschema.Schema]bool)
	for s := range all {
		if found := endless(s, nil, done); found != nil {
			return nil, badSchema("is not valid: at " + locationOf(found) + ": it leads back to itself without end")
		}
	}
	return c, nil
}

// noLoader refuses references to other documents.
type noLoader struct{}

func (noLoader) Load(string) (any, error) {
	return nil, errors.New("references lead within the schema only")
}

// schemaFault says what the compiler found wrong, and where.
func schemaFault(err error) string {
	if invalid, ok := errors.AsType[*jsonschema.SchemaValidationError](err); ok {
		if e, ok := errors.AsType[*jsonschema.ValidationError](invalid.Err); ok {
			found := findingsOf(e, nil)
			return "at " + cmp.Or(found[0].Pointer, top) + ": " + found[0].Message
		}
	}
	return strings.NewReplacer(schemaAddress, "", schemaBase, "").Replace(err.Error())
}

// footprint estimates the memory for checking a payload, beyond what a call takes
// anyway: for its decoded values.
func (s *schema) footprint(body []byte) int64 {
	return limit.Copies*int64(len(body)) + int64(value.Footprint(body))
}

// check refuses a payload that does not meet the schema. It ends early if ctx does, if it
// takes too long, or if there is no memory for what is found wrong: take is told how much.
func (s *schema) check(ctx context.Context, work *limit.Work, body []byte, take func(more int64) error) error {
	document, err := value.Decode(body)
	if _, tooDeep := errors.AsType[*value.Error](err); tooDeep {
		return payloadInvalid([]finding{{"", "The payload is nested too deeply."}})
	}
	if err != nil {
		return payloadInvalid([]finding{{"", "The payload is no JSON."}})
	}
	if path, vast := vastNumber(document); vast {
		return payloadInvalid([]finding{{pointer(path), "The number is too long to be checked."}})
	}
	defer work.Rest()
	compiled, err := s.pick(work)
	if err != nil {
		return err
	}
	found, err := compiled.findings(ctx, work, document, take)
	select {
	case s.compiled <- compiled:
	default: // there are enough
	}
	if err != nil || len(found) == 0 {
		return err
	}
	return payloadInvalid(found)
}

// vastNumber finds a number that would take long to compare: numbers are compared
// exactly, with all their digits.
func vastNumber(v any) (path []string, found bool) {
	const longest = 400 // characters, and the largest exponent: more than a float64 has
	switch v := v.(type) {
	case json.Number:
		_, exponent, _ := strings.Cut(strings.ToLower(string(v)), "e")
		n, err := strconv.Atoi(cmp.Or(exponent, "0"))
		return nil, len(v) > longest || err != nil || n > longest || n < -longest
	case []any:
		for i, item := range v {
			if path, found := vastNumber(item); found {
				return append([]string{strconv.Itoa(i)}, path...), true
			}
		}
	case map[string]any:
		for name, item := range v {
			if path, found := vastNumber(item); found {
				return append([]string{name}, path...), true
			}
		}
	}
	return nil, false
}

// pick returns a compiled schema that nobody else uses. To compile one more takes long: meanwhile
// somebody may be done with theirs.
func (s *schema) pick(work *limit.Work) (*countingSchema, error) {
	select {
	case compiled := <-s.compiled:
		return compiled, nil
	default:
	}
	if _, err := work.Begin(true); err != nil {
		return nil, err
	}
	select {
	case compiled := <-s.compiled:
		return compiled, nil
	default:
		return compileSchema(s.source)
	}
}

func payloadInvalid(found []finding) error {
	return sluice.CodePayloadInvalid.Errorf(
		"The payload does not meet the schema of this webhook; errors says where.").
		Detailed(found)
}

// findingsOf returns the causes of a refusal that have no further causes.
func findingsOf(e *jsonschema.ValidationError, found []finding) []finding {
	if len(found) == maxFindings {
		return found
	}
	if len(e.Causes) == 0 {
		return append(found, finding{pointer(e.InstanceLocation), clipped(reason(e.ErrorKind))})
	}
	for _, cause := range e.Causes {
		found = findingsOf(cause, found)
	}
	return found
}

// reason says why a value is wrong, without showing it: people who may not see payloads
// read this, and it is stored in clear.
func reason(why jsonschema.ErrorKind) string {
	switch why := why.(type) {
	case *kind.Pattern:
		return "does not match the pattern " + why.Want
	case *kind.Format:
		return "is not valid as " + why.Want
	case *kind.Minimum:
		return "must be at least " + ratText(why.Want)
	case *kind.Maximum:
		return "must be at most " + ratText(why.Want)
	case *kind.ExclusiveMinimum:
		return "must be more than " + ratText(why.Want)
	case *kind.ExclusiveMaximum:
		return "must be less than " + ratText(why.Want)
	case *kind.MultipleOf:
		return "must be a multiple of " + ratText(why.Want)
	}
	return why.LocalizedString(message.NewPrinter(language.English))
}

func ratText(r *big.Rat) string {
	n, _ := r.Float64()
	return strconv.FormatFloat(n, 'g', -1, 64)
}

// clipped returns the beginning of a text, as long as a finding may be.
func clipped(text string) string {
	if len(text) <= maxFinding {
		return text
	}
	return strings.ToValidUTF8(text[:maxFinding], "") + "…"
}

// top is what a pointer to a whole value is called.
const top = "its top"

var pointerEscape = strings.NewReplacer("~", "~0", "/", "~1")

// pointer writes a path as a JSON pointer (RFC 6901), or its beginning.
func pointer(path []string) string {
	var b strings.Builder
	for _, name := range path {
		if b.Len() > maxFinding {
			break
		}
		b.WriteByte('/')
		b.WriteString(pointerEscape.Replace(name[:min(len(name), maxFinding)]))
	}
	return clipped(b.String())
}

// endless returns a schema that leads back to itself without going deeper into the
// payload, such as one that refers to itself; nil if there is none. Checking it would
// never end. A schema may lead back to itself for a member or an item, since payloads
// end.
func endless(s *jsonschema.Schema, way []*jsonschema.Schema, done map[*jsonschema.Schema]bool) *jsonschema.Schema {
	if slices.Contains(way, s) {
		return s
	}
	if done[s] {
		return nil
	}
	for _, next := range sameValue(s) {
		if found := endless(next, append(way, s), done); found != nil {
			return found
		}
	}
	done[s] = true
	return nil
}

// sameValue returns the schemas that a schema applies to the same value as itself.
func sameValue(s *jsonschema.Schema) []*jsonschema.Schema {
	all := slices.Concat([]*jsonschema.Schema{
		s.Ref, s.RecursiveRef, s.Not, s.If, s.Then, s.Else,
	}, s.AllOf, s.AnyOf, s.OneOf)
	if s.DynamicRef != nil {
		all = append(all, s.DynamicRef.Ref)
	}
	for _, dependent := range s.DependentSchemas {
		all = append(all, dependent)
	}
	for _, dependency := range s.Dependencies {
		if dependent, ok := dependency.(*jsonschema.Schema); ok {
			all = append(all, dependent)
		}
	}
	return slices.DeleteFunc(all, func(s *jsonschema.Schema) bool { return s == nil })
}

// locationOf returns where a schema stands within the whole.
func locationOf(s *jsonschema.Schema) string {
	_, pointer, _ := strings.Cut(s.Location, "#")
	return cmp.Or(pointer, top)
}
