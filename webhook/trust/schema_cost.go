package trust

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"regexp/syntax"
	"slices"
	"strings"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"sluice/limit"
	"sluice/stretch"
)

// What checking one payload may cost. A step takes less than a microsecond: a text or a name
// that is compared or looked up.
const (
	maxSteps       = 1_600_000
	stepsPerSchema = 8    // schemas within the schema that are tried
	stepsPerNumber = 8    // numbers are compared exactly
	patternBytes   = 32   // that one part of a pattern reads in a step
	lookEvery      = 8192 // steps between two looks at memory and time
	stepsOfOthers  = 4    // that a step takes as long as, see limit.Work
	bytesPerSchema = 256  // in memory, if the schema is not met
	checkTime      = 2 * time.Second
)

// A countingSchema ends a check that costs too much. It serves one payload at a time.
type countingSchema struct {
	*jsonschema.Schema

	ctx   context.Context        //nolint:containedctx // of the check
	take  func(more int64) error // memory
	work  *limit.Work
	until time.Time
	steps int
	tried int
}

// errSteps ends a check that takes too many steps.
var errSteps = errors.New("too many steps")

// ended is the panic that ends a check.
type ended struct{ err error }

// spend counts a schema that is tried, with the steps that it takes.
func (c *countingSchema) spend(steps int) {
	c.tried++
	before := c.steps
	if c.steps += stepsPerSchema + steps; c.steps > maxSteps {
		panic(ended{errSteps})
	}
	if before/lookEvery == c.steps/lookEvery {
		return
	}
	if err := c.look(); err != nil {
		panic(ended{err})
	}
}

// look ends a check that takes too long, or too much memory, and lets others have their turns: that time
// does not count.
func (c *countingSchema) look() error {
	now := time.Now()
	if now.After(c.until) {
		return errSteps
	}
	c.work.Pause()
	if err := cmp.Or(c.ctx.Err(), c.take(int64(c.tried)*bytesPerSchema)); err != nil {
		return err
	}
	err := c.work.Spend(stepsOfOthers * lookEvery)
	c.until = c.until.Add(time.Since(now))
	return err
}

// findings checks a payload. An error means that it was not checked to the end.
func (c *countingSchema) findings(
	ctx context.Context, work *limit.Work, document any, take func(more int64) error,
) (found []finding, err error) {
	defer func() {
		v := recover()
		end, ours := v.(ended)
		switch {
		case v == nil:
		case !ours:
			panic(v)
		case errors.Is(end.err, errSteps):
			found = []finding{{"", "The payload takes too many steps to check."}}
		default:
			err = end.err
		}
	}()
	c.ctx, c.work, c.take, c.until = ctx, work, take, time.Now().Add(stretch.Of(checkTime))
	c.steps, c.tried = 0, 0
	failed := c.Validate(document)
	if failed == nil {
		return nil, nil
	}
	if e, ok := errors.AsType[*jsonschema.ValidationError](failed); ok {
		return findingsOf(e, nil), nil
	}
	return []finding{{"", "The schema can't be applied to this payload: " + clipped(failed.Error()) + "."}}, nil
}

// count makes every schema within a schema count a step when it is tried.
func (c *countingSchema) count(v reflect.Value, seen map[*jsonschema.Schema]bool) error {
	switch v.Kind() {
	case reflect.Interface:
		return c.count(v.Elem(), seen)
	case reflect.Slice, reflect.Map:
		for _, item := range v.Seq2() {
			if err := c.count(item, seen); err != nil {
				return err
			}
		}
	case reflect.Pointer:
		return c.countWithin(v, seen)
	}
	return nil
}

// anchors are the fields by which references find a schema.
var anchors = []string{"DraftVersion", "Location", "ID", "Anchor", "RecursiveAnchor", "DynamicAnchor"}

// countWithin moves all that a schema demands into another one, and counts before that is
// tried. It uses the format, the only keyword that can have a function.
func (c *countingSchema) countWithin(v reflect.Value, seen map[*jsonschema.Schema]bool) error {
	if dynamic, ok := reflect.TypeAssert[*jsonschema.DynamicRef](v); ok && dynamic != nil {
		return c.count(reflect.ValueOf(dynamic.Ref), seen)
	}
	s, ok := reflect.TypeAssert[*jsonschema.Schema](v)
	if !ok || s == nil || seen[s] {
		return nil
	}
	seen[s] = true
	if !strings.HasPrefix(s.Location, schemaAddress) {
		return badSchema("refers to " + s.Location + ", but references lead within the schema only")
	}
	demands := new(jsonschema.Schema)
	*demands = *s
	seen[demands] = true
	within := reflect.ValueOf(demands).Elem()
	for field, gate := range v.Elem().Fields() {
		if !field.IsExported() || slices.Contains(anchors, field.Name) {
			continue
		}
		gate.SetZero()
		if err := c.count(within.FieldByIndex(field.Index), seen); err != nil {
			return err
		}
	}
	price := priceOf(demands)
	s.Format = &jsonschema.Format{Validate: func(v any) error {
		c.spend(price.of(v))
		return nil
	}}
	s.AllOf = []*jsonschema.Schema{demands}
	return nil
}

// A price says how many steps a schema takes for a value of each type.
type price struct {
	numbers, others int // of the values that it is compared with
	names           int // of members that are looked up
	pattern, keys   int // parts of patterns for texts, and for names of members
	unique          bool
}

func priceOf(s *jsonschema.Schema) (p price) {
	if s.Enum != nil {
		p.compare(s.Enum.Values)
	}
	if s.Const != nil {
		p.compare(*s.Const)
	}
	p.names = len(s.Required) + len(s.Properties) +
		len(s.DependentRequired) + len(s.Dependencies) + len(s.DependentSchemas)
	if s.Pattern != nil {
		p.pattern = parts(s.Pattern)
	}
	for pattern := range s.PatternProperties {
		p.keys += parts(pattern)
	}
	if s.Format != nil {
		p.pattern++
	}
	p.unique = s.UniqueItems
	return p
}

// compare adds the price of comparing with a value.
func (p *price) compare(v any) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			p.compare(item)
		}
	case map[string]any:
		for _, field := range v {
			p.compare(field)
		}
	case json.Number:
		p.numbers++
	}
	p.others++
}

// parts returns how many states a pattern has.
func parts(pattern jsonschema.Regexp) int {
	if parsed, err := syntax.Parse(pattern.String(), syntax.Perl); err == nil {
		if program, err := syntax.Compile(parsed.Simplify()); err == nil {
			return len(program.Inst)
		}
	}
	return len(pattern.String())
}

// of returns the steps for a value.
func (p *price) of(v any) int {
	switch v := v.(type) {
	case json.Number:
		return p.numbers * stepsPerNumber
	case string:
		return p.others + len(v)*p.pattern/patternBytes
	case map[string]any:
		steps := p.others + p.numbers*stepsPerNumber + p.names
		if p.keys > 0 {
			for name := range v {
				steps += 1 + len(name)*p.keys/patternBytes
			}
		}
		return steps
	case []any:
		steps := p.others + p.numbers*stepsPerNumber
		if p.unique {
			steps += uniqueSteps(v)
		}
		return steps
	}
	return p.others
}

// uniqueSteps returns the steps for finding two items that are the same. Lists and objects
// can be made so that each must be compared with each other.
func uniqueSteps(items []any) int {
	const few = 20 // are compared with each other, too
	within := slices.ContainsFunc(items, func(item any) bool {
		switch item.(type) {
		case []any, map[string]any:
			return true
		}
		return false
	})
	if within || len(items) <= few {
		return min(len(items), maxSteps) * min(len(items), maxSteps) / 2 * stepsPerNumber
	}
	return len(items) * stepsPerNumber
}
