package sender

import (
	"context"
	"crypto/subtle"
	"time"

	"sluice/value"
)

func newGraph(secret string, _ Keys) (checker, error) { return graphCheck{secret}, nil }

type graphCheck struct{ clientState string }

// check decodes only what it looks for: a stranger may have sent the rest.
func (g graphCheck) check(_ context.Context, c *Call, _ time.Time) error {
	none := true
	for item := range elements(lookup(c.Body, []string{"value"})) {
		none = false
		state := lookup(item, []string{"clientState"})
		if len(state) == 0 || state[0] != '"' {
			return missing("A notification has no clientState.")
		}
		if subtle.ConstantTimeCompare([]byte(scalar(state)), []byte(g.clientState)) != 1 {
			return invalid("The clientState of a notification is another one.")
		}
	}
	if none {
		return missing("The body has no notification with a clientState.")
	}
	return nil
}

func (g graphCheck) sign(c *Call, _ time.Time) (err error) {
	decoded, _ := value.Decode(c.Body) // nil: it has no notifications
	whole, _ := decoded.(map[string]any)
	each, _ := whole["value"].([]any)
	if len(each) == 0 {
		return notAnObject()
	}
	for _, item := range each {
		if n, ok := item.(map[string]any); ok {
			n["clientState"] = g.clientState
		}
	}
	c.Body, err = value.Marshal(whole)
	return err
}
