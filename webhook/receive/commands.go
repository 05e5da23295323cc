// Package receive makes events of the calls that outside systems send to webhooks
// (webhook.receive): a request comes in, an event goes out. It also lets calls of the
// quarantine in after all.
//
// Package webhook stores webhooks, package trust checks what they demand of their calls,
// package form reads tokens and bodies, and package api writes errors.
package receive

import (
	"sluice"
	"sluice/command"
)

// Commands returns the command that outside systems call.
func Commands(rc *Receiver) []command.Command {
	return []command.Command{
		command.NewEndpoint[receiveParams]("webhook.receive", "Call a webhook: its token is the authorization, the "+
			"body is the payload.", rc.serve, command.Nameless, command.Answers(sluice.Result{})),
	}
}

type receiveParams struct {
	Token                  string `json:"token" alias:"uuid" required:"true" doc:"Token of the webhook: as a header (best), in the query, or in the body of a POST."`
	PollingRedirectEnabled bool   `json:"pollingRedirectEnabled" doc:"Answer with a redirect to the result endpoint, which redirects until the result is ready."`
}
