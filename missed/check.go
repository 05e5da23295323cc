package missed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"sluice"
	"sluice/value"
)

// A shape says where the reply about a webhook has what, by the paths of members.
type shape struct {
	Query   string // behind the address of the webhook
	URL     string
	Types   string // a list of texts, or of objects with names; *_events: members that are true
	Active  string // has the value When while the sender calls
	When    string
	Expires string
}

// shape returns that of a webhook, which its path tells from others of the sender.
func (a *api) shape() shape {
	if special, ok := a.Hooks[a.path]; ok {
		return special
	}
	return a.Hooks[""]
}

// checkTime bounds how long a sender is asked about a webhook.
const checkTime = time.Minute

type checkParams struct {
	EventKey string `json:"eventKey" required:"true" audit:"yes" names:"event" doc:"Event key of the webhook."`
}

func (f *Finder) subscription(ctx context.Context, p checkParams) (found sluice.Subscription, _ error) {
	hook, leave, err := f.enter(p.EventKey)
	if err != nil {
		return found, err
	}
	defer leave()
	return f.Check(ctx, hook)
}

// Check asks the sender of a webhook whether it still calls it, and notes what it says.
func (f *Finder) Check(ctx context.Context, hook sluice.Webhook) (found sluice.Subscription, _ error) {
	a, err := f.api(ctx, hook)
	if err != nil {
		return found, err
	}
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	known, err := f.Runs.Get(ctx, hook.UUID)
	if err != nil {
		return found, err
	}
	if found, err = f.look(ctx, a); err != nil {
		return found, err
	}
	lasts := cmp.Or(known, new(sluice.MissedRun)).Lasts
	left, renew := time.Until(found.Expires), renewals[a.sender]
	if renew != nil && found.State == sluice.SubscriptionActive && (left < 24*time.Hour || left < lasts/2) {
		if found.Expires, err = renew(ctx, a, lasts); err != nil {
			found.Message += " It can't be renewed: " + sluice.AsError(err).Message
		} else {
			found.Renewed, lasts = true, time.Until(found.Expires)
		}
	}
	_, err = sluice.Replace(ctx, f.Runs, hook.UUID, func(before *sluice.MissedRun) (*sluice.MissedRun, error) {
		run := runOf(before, &hook)
		run.Checked, run.State, run.Message, run.Lasts = time.Now().UTC(), found.State, found.Message, lasts
		return run, nil
	})
	return found, err
}

// look asks the sender about a webhook.
func (f *Finder) look(ctx context.Context, a *api) (found sluice.Subscription, err error) {
	err = a.logIn(ctx)
	s := a.shape()
	var reply []byte
	if err == nil {
		reply, _, err = a.ask(ctx, http.MethodGet, a.hook+s.Query, nil)
	}
	address, active := text(reply, s.URL), strings.Trim(string(member(reply, s.Active)), `"`)
	found.Types = typesOf(reply, s.Types)
	found.Expires, _ = time.Parse(time.RFC3339, text(reply, s.Expires)) // zero: it does not say
	found.URL = sluice.ServerOf(address)
	e := sluice.AsError(err)
	switch {
	case errors.Is(err, errGone):
		found.State, found.Message = sluice.SubscriptionGone, a.title+" has no such webhook any more."
	case err != nil && e.Kind == sluice.Invalid: // it is ours to be set right
		return found, err
	case err != nil:
		found.State, found.Message = sluice.SubscriptionUnknown, e.Message
	case address == "":
		found.State, found.Message = sluice.SubscriptionUnknown, a.title+" does not say where it calls."
	case !f.isOurs(&a.webhook, address):
		found.State = sluice.SubscriptionElsewhere
		found.Message = fmt.Sprintf("%s calls %s with another address than those of this webhook.", a.title, found.URL)
	case s.Active != "" && active != "" && active != "null" && active != s.When:
		found.State, found.Message = sluice.SubscriptionDisabled, a.title+" has turned the webhook off."
	default:
		found.State, found.Message = sluice.SubscriptionActive, a.title+" calls this webhook."
	}
	return found, nil
}

// isOurs reports whether an address leads to a webhook of this server, by a token that is open.
func (f *Finder) isOurs(hook *sluice.Webhook, address string) bool {
	return strings.HasPrefix(address, f.BaseURL+"/") &&
		slices.ContainsFunc(hook.AllTokens(), func(t sluice.Token) bool {
			return t.IsOpen(time.Now()) && strings.Contains(strings.ToLower(address), t.Token)
		})
}

// typesOf returns the types of events that a webhook gets.
func typesOf(reply []byte, path string) (types []string) {
	if ending, each := strings.CutPrefix(path, "*"); each {
		for p := range value.Parts(reply) {
			if p.Name != nil && string(p.Value) == "true" && strings.HasSuffix(p.Text(), ending) {
				types = append(types, p.Text())
			}
		}
		slices.Sort(types)
		return types
	}
	given := member(reply, path)
	if list := value.Scalar(given); list != "" {
		return strings.Split(list, ",")
	}
	for item := range value.Elements(given) {
		types = append(types, cmp.Or(value.Scalar(item), text(item, "name")))
	}
	return types
}
