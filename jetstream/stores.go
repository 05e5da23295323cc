package jetstream

import "sluice"

// Webhooks gives the store of webhooks.
func (e *Engine) Webhooks() *Webhooks { return e.hooks }

// Events gives the store of events.
func (e *Engine) Events() *Events { return e.events }

// Queue gives the queue that hands events to pipelines.
func (e *Engine) Queue() *Queue { return e.queue }

// DeadLetters gives the events that pipelines failed on.
func (e *Engine) DeadLetters() *Letters { return e.letters }

// Pipelines gives the store of pipelines, by name.
func (e *Engine) Pipelines() sluice.Pipelines { return records[sluice.Pipeline]{e.pipelines} }

// Secrets gives the store of secrets, by name.
func (e *Engine) Secrets() sluice.Records[sluice.Secret] { return records[sluice.Secret]{e.secrets} }

// Journal gives the journal of calls.
func (e *Engine) Journal() *Journal { return e.journal }

// Audit gives the audit log.
func (e *Engine) Audit() *Audit { return e.audit }

// Accounts gives the store of accounts, by username.
func (e *Engine) Accounts() sluice.Records[sluice.Account] {
	return records[sluice.Account]{e.accounts}
}

// Roles gives the store of roles, by name.
func (e *Engine) Roles() sluice.Records[sluice.Role] { return records[sluice.Role]{e.roles} }

// Clients gives the store of clients, by id.
func (e *Engine) Clients() sluice.Records[sluice.Client] { return records[sluice.Client]{e.clients} }

// Sessions gives the store of sessions, by id.
func (e *Engine) Sessions() sluice.Records[sluice.Session] {
	return records[sluice.Session]{e.sessions}
}

// SigningKeys gives the store of the keys that sign tokens, by id.
func (e *Engine) SigningKeys() sluice.Records[sluice.SigningKey] {
	return records[sluice.SigningKey]{e.signing}
}

// PortalSessions gives the store of who is signed in to the portal, by id.
func (e *Engine) PortalSessions() sluice.Records[sluice.PortalSession] {
	return records[sluice.PortalSession]{e.portal}
}

// Minutes gives the store of what the minutes of the last day were like.
func (e *Engine) Minutes() sluice.Records[sluice.Minute] { return records[sluice.Minute]{e.minutes} }
