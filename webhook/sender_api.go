package webhook

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"sluice"
)

// Bounds on how often a sender is asked what was missed.
const (
	leastMissed = time.Minute
	mostMissed  = 168 * time.Hour
	maxAPIURL   = 2000
)

func parseMissed(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	every, err := time.ParseDuration(text)
	if err != nil || every < leastMissed || every > mostMissed {
		return 0, sluice.InvalidParameter("missedEvery", "The parameter missedEvery must be a duration from 1m to 168h, such as 1h.")
	}
	return every, nil
}

// checkAPI refuses what can be no address of a sender's API, and no credential.
func (p *putParams) checkAPI() error {
	if p.MissedEvery != nil {
		if _, err := parseMissed(*p.MissedEvery); err != nil {
			return err
		}
	}
	if p.APISecret != nil && (len(*p.APISecret) > maxSecret || !utf8.ValidString(*p.APISecret) || strings.ContainsAny(*p.APISecret, "\r\n")) {
		return sluice.InvalidParameter("apiSecret", "The parameter apiSecret must be a line of text of at most 16 KiB.")
	}
	if p.APIURL == nil || *p.APIURL == "" {
		return nil
	}
	address, err := url.Parse(*p.APIURL)
	if err != nil || len(*p.APIURL) > maxAPIURL || address.Scheme != "https" && address.Scheme != "http" || address.Host == "" || address.User != nil || address.RawQuery != "" || address.Fragment != "" {
		return sluice.InvalidParameter("apiUrl", "The parameter apiUrl must be the address of the hook at the sender's API, such as https://api.github.com/repos/o/r/hooks/123, without a query.")
	}
	return nil
}

// applyAPI sets how the sender is asked. A credential that is stored goes to the server it was
// entered for, and to no other.
func (p *putParams) applyAPI(ctx context.Context, hook *sluice.Webhook) error {
	before := hook.APIURL
	set(&hook.APIURL, p.APIURL)
	set(&hook.APISecret, p.APISecret)
	if p.MissedEvery != nil {
		hook.MissedEvery, _ = parseMissed(*p.MissedEvery) // it was checked
	}
	name, stored := storedName(hook.APISecret)
	provider := trustOf(hook).Provider
	switch {
	case p.APISecret != nil && stored && (!sluice.UserFrom(ctx).May(sluice.MayUseSecrets) || !sluice.UserFrom(ctx).Cover(sluice.MayUseSecrets).Name(name)):
		return sluice.NotPermitted(sluice.MayUseSecrets).About("apiSecret")
	case p.APISecret == nil && hook.APISecret != "" && before != "" && hook.APIURL != "" && serverOf(before) != serverOf(hook.APIURL):
		return sluice.InvalidParameter("apiSecret", "Another server would get the stored apiSecret; give it again.")
	case hook.MissedEvery > 0 && hook.APIURL == "":
		return sluice.InvalidParameter("apiUrl", "With missedEvery the sender is asked what was missed: that needs apiUrl, the address of the hook at its API.")
	case hook.MissedEvery > 0 && hook.APISecret == "":
		return sluice.InvalidParameter("apiSecret", "With missedEvery the sender is asked what was missed: that needs apiSecret, the credential for its API.")
	case hook.MissedEvery > 0 && !slices.Contains(sluice.MissedProviders, provider):
		return sluice.InvalidParameter("missedEvery", "These senders can be asked what was missed: %s.", strings.Join(sluice.MissedProviders, ", "))
	}
	return nil
}

// Asked returns the webhooks whose senders are asked by themselves what was missed.
func (s *Store) Asked() []*sluice.Webhook {
	hooks, _ := s.pick(func(h *sluice.Webhook) bool { return h.MissedEvery != 0 }, "", 0)
	return hooks
}

// serverOf returns the scheme and host of an address.
func serverOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + strings.ToLower(u.Host)
}
