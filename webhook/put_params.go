package webhook

import (
	"time"

	"sluice"
	"sluice/command"
)

// putParams are the settings that are given, and how they are stored.
type putParams struct {
	command.Given

	UUID      string    `json:"uuid" after:"maxPayloadLength" audit:"last6" names:"webhook" doc:"Token of the webhook to edit. Without it a new webhook is created."`
	Token     string    `json:"token" after:"uuid" audit:"last6" doc:"Token of a new webhook, to move one with its URL from another server: a UUID that nobody uses. Needs the permission webhook.token. Without it one is made."`
	DryRun    bool      `json:"dryRun" doc:"Only check: the answer is the webhook as it would be, and nothing is stored."`
	IfMatch   string    `json:"ifMatch" doc:"The etag that webhook.get or webhook.put showed: the edit is refused with 412 changed-meanwhile if the webhook was changed since."`
	IfUpdated time.Time `json:"ifUpdated" doc:"The same with the value of updated in place of the etag."`
}

// Rows declares the settings as parameters.
func (*putParams) Rows() (params []command.Param) {
	for _, s := range settings() {
		params = append(params, s.Param)
	}
	return params
}

// gives reports whether a setting is given.
func (p *putParams) gives(name string) bool {
	_, ok := p.Given[name]
	return ok
}

// checkTarget refuses parameters for an edit without a webhook, and the other way around.
func (p *putParams) checkTarget() error {
	switch {
	case p.UUID == "" && !p.gives("eventKey"):
		return sluice.CodeParameterMissing.Errorf(
			"The parameter eventKey is required to create a webhook; to edit one, give its uuid.").About("eventKey")
	case p.UUID == "" && !p.IfUpdated.IsZero():
		return sluice.InvalidParameter("ifUpdated", "The parameter ifUpdated is for an edit: give the uuid as well.")
	case p.UUID == "" && p.IfMatch != "":
		return sluice.InvalidParameter("ifMatch", "The parameter ifMatch is for an edit: give the uuid as well.")
	case p.UUID != "" && p.Token != "":
		return sluice.InvalidParameter("token", "The parameter token is for a new webhook; webhook.token.add gives "+
			"another one to a webhook that is there.")
	case p.Token != "" && !sluice.IsToken(p.Token):
		return notAToken()
	}
	return nil
}

// checkMatch refuses to edit a webhook that was changed since the caller read it.
func (p *putParams) checkMatch(hook *sluice.Webhook) error {
	var parameter string
	switch {
	case p.IfMatch != "" && !sluice.TagMatches(p.IfMatch, tagOf(hook)):
		parameter = "ifMatch"
	case !p.IfUpdated.IsZero() && !hook.Updated.Equal(p.IfUpdated):
		parameter = "ifUpdated"
	default:
		return nil
	}
	return sluice.CodeChangedMeanwhile.Errorf(
		"The webhook was changed since it was read; read it again, and then change it.").About(parameter)
}

// tagOf returns the entity tag of a version of a webhook.
func tagOf(hook *sluice.Webhook) string { return sluice.EntityTag(1, hook.Updated) }
