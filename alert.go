package sluice

import "time"

// An AlertKind is the condition that an alert is about.
type AlertKind string

// The kinds of alerts.
const (
	AlertPipelineFailing AlertKind = "pipeline-failing" // the latest run of a pipeline failed
	AlertDeadLetters     AlertKind = "dead-letters"     // a pipeline has dead letters
	AlertBacklog         AlertKind = "backlog"          // an event not begun has waited for over a minute
	AlertSilence         AlertKind = "silence"          // no call was accepted for as long as the webhook says
	AlertQuarantine      AlertKind = "quarantine"       // calls of a webhook were quarantined in the last minutes
	AlertSubscription    AlertKind = "subscription"     // the sender of a webhook calls it no longer
	AlertDisk            AlertKind = "disk"             // little space is free
	AlertCertificate     AlertKind = "certificate"      // it expires soon
	AlertClosed          AlertKind = "closed"           // no calls were taken for a while
	AlertDamage          AlertKind = "damage"           // the disk has lost or spoiled something
	AlertEngine          AlertKind = "engine"           // the engine takes no calls, or is not well
)

// AboutPipeline reports whether the subject of alerts of this kind is a pipeline.
func (k AlertKind) AboutPipeline() bool { return k.words().About == "pipeline" }

// AboutWebhook reports whether the subject of alerts of this kind is the event key of a
// webhook.
func (k AlertKind) AboutWebhook() bool { return k.words().About == "webhook" }

// Severities of alerts.
const (
	SeverityCritical = "critical" // calls are refused, or something is lost
	SeverityWarning  = "warning"
)

// AlertPrefix and the kind of an alert make the key of the events that tell of it.
const AlertPrefix = "sluice.alert."

// The states that these events tell of.
const (
	AlertRaised   = "raised"
	AlertResolved = "resolved"
)

// An Alert tells people of a condition, while it holds and afterwards. At most one alert is open
// for a kind and subject.
type Alert struct {
	ID         string    `json:"id" doc:"For alert.mute."`
	Kind       AlertKind `json:"kind" doc:"What sort of condition it is."`
	Subject    string    `json:"subject,omitempty" doc:"The pipeline's name or the webhook's event key; of a server among several, its host name."`
	Severity   string    `json:"severity" enum:"critical,warning" doc:"How bad it is."`
	Since      time.Time `json:"since" doc:"Since when the condition holds."`
	Until      time.Time `json:"until,omitzero" doc:"When it no longer held; an open alert has none."`
	Count      int       `json:"count" doc:"How often it was raised, as far as the history goes back."`
	Title      string    `json:"title" doc:"What is wrong, in one line."`
	Cause      string    `json:"cause,omitempty" doc:"Why: the latest failure, or what was found."`
	Message    string    `json:"message" doc:"Title, cause, how many, and since when, as a sentence."`
	URL        string    `json:"url,omitempty" doc:"The page to look at, if the server knows its public URL."`
	MutedUntil time.Time `json:"mutedUntil,omitzero" doc:"Nothing is sent of it before."`
}

// Open reports whether the condition still holds.
func (a *Alert) Open() bool { return a.Until.IsZero() }

// An AlertRecord is an alert as it is stored.
type AlertRecord struct {
	Alert

	Told string    `json:"told,omitempty"` // the state that pipelines were told of last
	Seen time.Time `json:"seen,omitzero"`  // when its server, one among several, found that it holds
}
