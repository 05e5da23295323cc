package sluice

import "time"

// A Call is one call of a webhook, accepted or refused, as those who count and
// look for calls see it.
type Call struct {
	Time          time.Time     `json:"time"`
	TraceID       string        `json:"traceId"`
	CorrelationID string        `json:"correlationId,omitempty"` // of an accepted one
	EventKey      string        `json:"eventKey,omitempty"`      // where the webhook is known
	Status        int           `json:"status"`                  // of the HTTP answer
	Code          string        `json:"code,omitempty"`          // of the refusal
	Size          int           `json:"size"`                    // of the body, as far as it was read or announced
	Duration      time.Duration `json:"duration"`                // in nanoseconds
	RemoteAddr    string        `json:"remoteAddr"`
}
