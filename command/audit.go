package command

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"sluice"
)

// record enters a call in the audit log.
func (s Set) record(ctx context.Context, c Command, target string, err error) {
	user := sluice.UserFrom(ctx)
	entry := sluice.AuditEntry{
		Username: user.Name,
		Address:  user.Address,
		Command:  c.Name,
		Target:   target,
		Outcome:  sluice.AuditAllowed,
	}
	if err != nil {
		e := sluice.AsError(err)
		entry.Code = e.Code
		entry.Outcome = sluice.AuditFailed
		if e.Kind == sluice.Forbidden || e.Kind == sluice.Unauthenticated {
			entry.Outcome = sluice.AuditRefused
		}
	}
	s.audit(ctx, entry)
}

// target returns the values of the parameters that say what a call is about, in
// the order of their declaration. A webhook is named by its event key.
func (s Set) target(ctx context.Context, c Command, args Args) string {
	var values []string
	for _, p := range c.Params {
		for _, arg := range args {
			if p.Audit == "" || !p.answersTo(arg.Name) {
				continue
			}
			value := p.audited(arg.Value)
			if token, err := p.parse(arg.Value); err == nil && p.Names == namesWebhook {
				value = cmp.Or(s.keyOf(ctx, fmt.Sprint(token)), value)
			}
			if value != "" && !slices.Contains(values, value) {
				values = append(values, value)
			}
		}
	}
	return strings.Join(values, " ")
}

// maxNames is how many names of a list the audit log has.
const maxNames = 100

// audited returns an argument as the audit log has it.
func (p Param) audited(arg any) string {
	value, err := p.parse(arg)
	if err != nil {
		return ""
	}
	switch v := value.(type) {
	case time.Time:
		return v.Format(time.RFC3339Nano)
	case []string:
		var names []string
		for _, name := range v[:min(len(v), maxNames)] {
			names = append(names, asName(name))
		}
		if more := len(v) - maxNames; more > 0 {
			names = append(names, fmt.Sprintf("(%d more)", more))
		}
		return strings.Join(names, ",")
	case bool:
		if v {
			return p.Name
		}
	case string:
		if p.Audit == "last6" {
			return sluice.Last6(v)
		}
		return asName(v)
	}
	return ""
}

var plainName = regexp.MustCompile(`^[\w.:@+*#/-]{0,200}$`)

// asName returns a name unchanged. Other texts stay out of the audit log:
// people put passwords into the wrong field.
func asName(text string) string {
	if !plainName.MatchString(text) {
		return "(invalid)"
	}
	return text
}
